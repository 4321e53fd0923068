"""A request holds rows and shows none."""

from __future__ import annotations

import polars as pl
from api.office import CANARY, DATASET, Office
from reports.sample_releases import (
    DAY,
    STEWARD,
)

from dpql.api.run_request import RunRequest


def test_a_request_shows_no_rows(office: Office) -> None:
    """Whoever prints or logs a request learns nothing about the data."""
    frame = pl.read_parquet(office.data)
    request = RunRequest(
        plan=office.plan,
        frames={"rows": frame},
        ledger=None,
        dataset=DATASET,
        signers=(STEWARD,),
        day=DAY,
    )
    assert CANARY not in repr(request)
