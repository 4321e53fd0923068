"""Whatever is done to the rows of a ledger behind its back is noticed."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ledger.ledger_stores import DATASET, EDITS, Stores, count_plan, tampering

from dpql.errors import LedgerFault
from dpql.ledger import Head, Ledger, Reservation, open_ledger
from dpql.ledger.entry import GENESIS, Row, read_chain

pytestmark = pytest.mark.heavy


def _filled(stores: Stores) -> tuple[str, Ledger, Head]:
    """Make a ledger with one release: opened, reserved, drawing, released."""
    location, ledger = stores.make()
    reservation = ledger.reserve(DATASET, count_plan())
    assert isinstance(reservation, Reservation)
    receipt = ledger.begin_draw(reservation)
    ledger.seal(receipt, b"the report", {})
    return location, ledger, receipt.head


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edited_rows_are_noticed(stores: Stores, edit: str) -> None:
    """Verification and every run refuse a ledger whose rows were edited."""
    location, ledger, _ = _filled(stores)
    with tampering(location) as execute:
        for statement in edit.split(";"):
            execute(statement)
    later = open_ledger(location, witness=stores.witness())
    for attempt in (
        lambda: ledger.verify(DATASET),
        lambda: ledger.reserve(DATASET, count_plan(), again=True),
        lambda: later.reserve(DATASET, count_plan(), again=True),
    ):
        with pytest.raises(LedgerFault) as refusal:
            attempt()
        assert refusal.value.diagnostics[0].code in {"DPQL701", "DPQL705", "DPQL706"}


def test_rows_cannot_be_changed_while_triggers_stand(stores: Stores) -> None:
    """The store itself refuses to change, replace or take out rows."""
    location, ledger, _ = _filled(stores)
    before = ledger.account(DATASET)
    statements = [
        "UPDATE dpql_entry SET body = 'x'",
        "DELETE FROM dpql_entry",
        "UPDATE dpql_kept SET data = NULL",
        "DELETE FROM dpql_kept",
    ]
    if stores.server is None:
        statements += ["INSERT OR REPLACE INTO dpql_entry SELECT * FROM dpql_entry"]
        with closing(sqlite3.connect(location)) as file:
            replaced = "INSERT OR REPLACE INTO kept SELECT digest, x'00' FROM kept"
            assert file.execute(replaced).rowcount == 0
        for statement in statements:
            with (
                closing(sqlite3.connect(location)) as file,
                pytest.raises(sqlite3.IntegrityError, match="append-only"),
            ):
                file.execute(statement.replace("dpql_", ""))
    else:
        import psycopg

        for statement in [*statements, "TRUNCATE dpql_entry"]:
            with (
                psycopg.connect(location) as connection,
                pytest.raises(psycopg.errors.RaiseException, match="append-only"),
            ):
                connection.execute(statement)  # type: ignore[call-overload]
    assert ledger.account(DATASET) == before


def test_rewritten_chain_is_noticed_by_witness_and_report(stores: Stores) -> None:
    """A chain that was rewritten with sound hashes is not the one that was seen."""
    location, ledger, head = _filled(stores)
    none = str(stores.folder / "none")
    other_location, other = stores.make("40", witness=none)
    reservation = other.reserve(DATASET, count_plan())
    assert isinstance(reservation, Reservation)
    other.begin_draw(reservation)
    blind = open_ledger(other_location, witness=none)
    assert blind.verify(DATASET).cap == 40
    with pytest.raises(LedgerFault) as refusal:
        blind.verify(DATASET, [head])
    assert refusal.value.diagnostics[0].code == "DPQL706"
    swapped = open_ledger(other_location, witness=stores.witness())
    with pytest.raises(LedgerFault) as refusal:
        swapped.verify(DATASET)
    assert refusal.value.diagnostics[0].code == "DPQL706"
    assert ledger.verify(DATASET, [head]).cap == 4
    assert location != other_location


def test_restored_backup_is_noticed(tmp_path: Path) -> None:
    """An old copy of the file is sound in itself, and refused all the same."""
    stores = Stores(folder=tmp_path)
    location, ledger = stores.make()
    backup = tmp_path / "backup.db"
    shutil.copy(location, backup)
    reservation = ledger.reserve(DATASET, count_plan())
    assert isinstance(reservation, Reservation)
    head = ledger.begin_draw(reservation).head
    Path(location).unlink()
    shutil.copy(backup, location)
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve(DATASET, count_plan())
    assert refusal.value.diagnostics[0].code == "DPQL706"
    Path(stores.witness()).unlink()
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve(DATASET, count_plan(), known=[head])
    assert refusal.value.diagnostics[0].code == "DPQL706"
    assert ledger.verify(DATASET).spent == 0


def test_altered_stored_report_is_refused(stores: Stores) -> None:
    """The stored report must have the digest that the chain names."""
    location, ledger, _ = _filled(stores)
    on_server = "UPDATE dpql_kept SET data = '\\x00'::bytea"
    in_file = "UPDATE dpql_kept SET data = x'00'"
    with tampering(location) as execute:
        execute(on_server if stores.server else in_file)
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve(DATASET, count_plan())
    assert refusal.value.diagnostics[0].code == "DPQL711"
    with pytest.raises(LedgerFault) as refusal:
        ledger.file(hashlib.sha256(b"never kept").hexdigest())
    assert refusal.value.diagnostics[0].code == "DPQL711"


def test_ledger_verify_looks_at_stored_reports(stores: Stores) -> None:
    """A report altered, emptied or taken out is found before it is asked for."""
    altered = (
        "UPDATE dpql_kept SET data = '\\x00'::bytea"
        if stores.server
        else "UPDATE dpql_kept SET data = x'00'"
    )
    for edit in (
        altered,
        "UPDATE dpql_kept SET digest = 'a'",
        "DELETE FROM dpql_kept",
    ):
        location, ledger, head = _filled(stores)
        Path(stores.witness()).unlink()
        assert ledger.verify(DATASET, [head]).seq == 4
        with tampering(location) as execute:
            execute(edit)
        with pytest.raises(LedgerFault) as refusal:
            ledger.verify(DATASET, [head])
        assert refusal.value.diagnostics[0].code == "DPQL711"


def test_hollow_trigger_is_noticed(request: pytest.FixtureRequest) -> None:
    """On a server the function behind the triggers must still refuse."""
    import psycopg

    server = request.getfixturevalue("postgres_server")
    stores = Stores(folder=request.getfixturevalue("tmp_path"), server=server)
    location, ledger, _ = _filled(stores)
    with psycopg.connect(location) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION dpql_refuse() RETURNS trigger LANGUAGE plpgsql"
            " AS $$ BEGIN RETURN NEW; END $$"
        )
    with pytest.raises(LedgerFault) as refusal:
        ledger.verify(DATASET)
    assert refusal.value.diagnostics[0].code == "DPQL712"


def test_missing_triggers_are_noticed(stores: Stores) -> None:
    """A ledger without its triggers is refused before anything is read."""
    location, ledger, _ = _filled(stores)
    if stores.server is None:
        with closing(sqlite3.connect(location)) as file:
            file.execute("DROP TRIGGER entry_update")
    else:
        import psycopg

        with psycopg.connect(location) as connection:
            connection.execute("DROP TRIGGER dpql_kept_append_only ON dpql_kept")
    with pytest.raises(LedgerFault) as refusal:
        ledger.verify(DATASET)
    assert refusal.value.diagnostics[0].code == "DPQL712"


def test_every_flipped_bit_of_an_entry_breaks_the_chain(tmp_path: Path) -> None:
    """No bit of body or digest of any entry can change unnoticed."""
    _, ledger, _ = _filled(Stores(folder=tmp_path))
    with ledger.store.session(write=False) as session:
        rows = session.rows(DATASET)
    assert read_chain(DATASET, rows)[0].previous == GENESIS
    survived = 0
    tried = 0
    for index, row in enumerate(rows):
        for name in ("body", "digest"):
            data = str(getattr(row, name)).encode()
            for position in range(len(data)):
                for bit in range(8):
                    flipped = bytearray(data)
                    flipped[position] ^= 1 << bit
                    text = flipped.decode("utf-8", errors="surrogateescape")
                    changed = Row(
                        row.seq,
                        text if name == "body" else row.body,
                        text if name == "digest" else row.digest,
                    )
                    tried += 1
                    try:
                        read_chain(
                            DATASET, [*rows[:index], changed, *rows[index + 1 :]]
                        )
                    except LedgerFault:
                        continue
                    survived += 1
    assert survived == 0
    assert tried > 5_000
