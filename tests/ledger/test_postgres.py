"""The ledger on a server: how it refuses, and what it never tells."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ledger.ledger_stores import DATASET, Stores, count_plan

from dpql.errors import LedgerFault
from dpql.ledger import Ledger, Reservation, open_ledger, postgres


def _code(ledger: Ledger) -> str:
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve(DATASET, count_plan())
    assert refusal.value.__cause__ is None
    return refusal.value.diagnostics[0].code


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    """Give stores on the private server."""
    return Stores(folder=tmp_path, server=request.getfixturevalue("postgres_server"))


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg the hint says what to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerFault) as refusal:
        open_ledger("postgresql://nobody@127.0.0.1:1/none").datasets()
    (fault,) = refusal.value.diagnostics
    assert fault.code == "DPQL713"
    assert fault.hint == "pip install 'dpql[postgres]'"


def test_unreachable_server_tells_no_password() -> None:
    """Neither the fault nor the ledger's repr quotes the address."""
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    ledger = open_ledger("postgresql://me:hunter2@127.0.0.1:1/none")
    with pytest.raises(LedgerFault) as refusal:
        ledger.datasets()
    assert refusal.value.diagnostics[0].code == "DPQL708"
    shown = f"{refusal.value!r} {refusal.value.diagnostics} {ledger!r}"
    assert "hunter2" not in shown
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__


def test_locked_table_is_refused_after_a_bounded_wait(
    server: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that never ends does not hang us."""
    import psycopg

    monkeypatch.setattr(postgres, "_SETTINGS", ("SET lock_timeout = '50ms'",))
    location, ledger = server.make()
    with psycopg.connect(location) as other:
        other.execute("LOCK TABLE dpql_entry IN EXCLUSIVE MODE")
        assert _code(ledger) == "DPQL707"
    assert isinstance(ledger.reserve(DATASET, count_plan()), Reservation)


def test_commits_are_synchronous(server: Stores) -> None:
    """The session asks for a synced commit whatever the server's default is."""
    _, ledger = server.make()
    with ledger.store.session(write=False) as session:
        assert isinstance(session, postgres.PostgresSession)
        row = session.connection.execute("SHOW synchronous_commit").fetchone()
    assert row == ("on",)


def test_server_that_does_not_sync_is_refused(
    server: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A debit that a crash of the server may undo is none."""
    _, ledger = server.make()
    monkeypatch.setattr(
        postgres, "_SYNCED", "SELECT NOT current_setting('fsync')::bool"
    )
    assert _code(ledger) == "DPQL708"
    assert ledger.account(DATASET).seq == 1


def test_failed_transaction_leaves_nothing(server: Stores) -> None:
    """A transaction that ends in a fault adds no row."""
    _, ledger = server.make()
    before = ledger.account(DATASET)

    def fails() -> None:
        with ledger.store.session(write=True) as session:
            session.store_file("a" * 64, b"data")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert ledger.account(DATASET) == before
    with ledger.store.session(write=False) as session:
        assert session.file("a" * 64) is None
