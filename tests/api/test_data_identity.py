"""The place of data in a ledger, however they are named."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from ledger.ledger_stores import count_plan

from dpql.api.data_identity import data_identity
from dpql.errors import LedgerFault, RunFault
from dpql.ledger import open_ledger
from dpql.model.spec import Neighbours


def test_files_and_frames_are_their_own_places() -> None:
    """Nobody is asked about them."""
    frame = {"x": [1]}
    assert frame is data_identity(frame, "t")
    for location in ("a.parquet", Path("a"), "duckdb:a#b", "s3://b/c"):
        assert location == data_identity(location, "t")


def test_a_table_has_one_budget(postgres_server: str, tmp_path: Path) -> None:
    """Whatever it is called, and no secret is kept."""
    address = f"{postgres_server}postgres"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE budgeted (x int); CREATE TABLE free (x int)")
    ledger = open_ledger(str(tmp_path / "ledger.db"), create=True)
    spellings = (
        f"{address}#budgeted",
        f"{address}?application_name=hunter2#public.budgeted",
    )
    first, second = (data_identity(one, "t") for one in spellings)
    opening = {
        "cap": Fraction(1),
        "unit": None,
        "neighbours": Neighbours.ADD_REMOVE,
    }
    account = ledger.open_account("one", location=str(first), **opening)  # type: ignore[arg-type]
    assert "hunter2" not in str(account.locations)
    with pytest.raises(LedgerFault) as refusal:
        ledger.open_account("two", location=str(second), **opening)  # type: ignore[arg-type]
    assert "DPQL716" == refusal.value.diagnostics[0].code
    ledger.reserve("one", count_plan(), data=second)
    other = data_identity(f"{address}#free", "t")
    with pytest.raises(LedgerFault):
        ledger.reserve("one", count_plan(), data=other)


def test_a_server_that_is_not_there_is_told() -> None:
    """Before anything is reserved, and without the address."""
    with pytest.raises(RunFault, match="DPQL501") as caught:
        data_identity("postgresql://secret@127.0.0.1:1/x?connect_timeout=1#t", "t")
    assert "secret" not in str(caught.value)
