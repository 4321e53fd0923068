"""Whole runs on every kind of store, and releases that pin its chain."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from ledger.ledger_stores import DATASET, EDITS, Stores, count_plan, tampering
from reports.sample_releases import DAY, STEWARD, TRUST

from dpql.api.execute import execute
from dpql.api.ledger_heads import known_heads
from dpql.api.run_request import RunRequest
from dpql.api.verification import verify_release
from dpql.errors import DpqlError, LedgerFault
from dpql.ledger import Ledger, open_ledger

ROWS = pl.DataFrame({"region": ["a"] * 30 + ["b"] * 20})


def _run(ledger: Ledger, folder: Path, **options: bool) -> bool:
    done = execute(
        RunRequest(
            plan=count_plan(),
            frames={"rows": ROWS},
            ledger=ledger,
            dataset=DATASET,
            signers=(STEWARD,),
            day=DAY,
            folder=folder,
            **options,  # type: ignore[arg-type]
        )
    )
    return done.fresh


def test_release_verifies_against_its_store(stores: Stores) -> None:
    """A run, the same again for nothing, a new draw: three folders that verify."""
    _, ledger = stores.make()
    out = stores.folder / "releases"
    assert _run(ledger, out / "one")
    assert not _run(ledger, out / "two")
    assert _run(ledger, out / "three", again=True)
    for name in ("one", "two", "three"):
        names = {
            check.name
            for check in verify_release(out / name, TRUST, ledger=ledger).checks
        }
        assert "ledger" in names
    assert ledger.account(DATASET).spent == 2


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_published_release_shows_every_edit(stores: Stores, edit: str) -> None:
    """With witness and memory gone, the release itself convicts the ledger."""
    location, ledger = stores.make()
    folder = stores.folder / "releases" / "one"
    _run(ledger, folder)
    with tampering(location) as execute_sql:
        for statement in edit.split(";"):
            execute_sql(statement)
    forgetful = open_ledger(location, witness=str(stores.folder / "none"))
    with pytest.raises(DpqlError) as refusal:
        verify_release(folder, TRUST, ledger=forgetful)
    assert refusal.value.diagnostics[0].code in {"DPQL612", "DPQL705"}
    heads = known_heads([folder.parent], [STEWARD], None)
    with pytest.raises(LedgerFault) as fault:
        forgetful.verify(DATASET, heads)
    assert fault.value.diagnostics[0].code in {"DPQL701", "DPQL705", "DPQL706"}
    with pytest.raises(LedgerFault):
        _run(forgetful, folder.with_name("two"), again=True)


def test_sound_ledger_holds_against_its_release(stores: Stores) -> None:
    """The checks above can say yes."""
    location, ledger = stores.make()
    folder = stores.folder / "releases" / "one"
    _run(ledger, folder)
    forgetful = open_ledger(location, witness=str(stores.folder / "none"))
    assert verify_release(folder, TRUST, ledger=forgetful).digest
    heads = known_heads([folder.parent], [STEWARD], None)
    assert forgetful.verify(DATASET, heads).seq == 4
    assert _run(forgetful, folder.with_name("two"), again=True)
