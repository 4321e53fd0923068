"""A transaction continues one chain, and hands out what the ledger stored."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from chains import OPENED, reserved

from dpql.errors import LedgerFault
from dpql.ledger.account import Account
from dpql.ledger.checked import Checked
from dpql.ledger.entry import CapRaised, Drawing, Head, Released
from dpql.ledger.sqlite import SqliteStore
from dpql.ledger.transaction import (
    Transaction,
    check_files,
    heads_of,
    sealed_file,
    sealed_run,
)

REPORT = b"a report"
DIGEST = sha256(REPORT).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """Return an empty ledger."""
    made = SqliteStore(tmp_path / "ledger.sqlite")
    made.create()
    return made


def test_events_continue_the_chain(store: SqliteStore) -> None:
    """What a transaction knows is what the next one reads; a refusal writes nothing."""
    with store.session(write=True) as session:
        transaction = Transaction(session, Account(dataset="d"))
        transaction.add(OPENED)
        seen = transaction.add(CapRaised(cap=Fraction(5)))
        seen = replace(seen, ledger=session.ledger_id())
    with store.session(write=False) as session:
        assert seen == Checked().account(session, "d")
        assert (2, Fraction(5)) == (seen.seq, seen.cap)
        assert 0 == Checked().account(session, "other").seq


def test_a_sealed_report_comes_back(store: SqliteStore) -> None:
    """A run leads to the bytes of its report, and to no others."""
    with store.session(write=True) as session:
        transaction = Transaction(session, Account(dataset="d"))
        for event in (OPENED, reserved("0"), Drawing(run=2)):
            transaction.add(event)
        session.store_file(DIGEST, REPORT)
        account = transaction.add(Released(run=2, envelope=DIGEST))
        (run,) = account.runs
        assert REPORT == sealed_run(session, "d", run).envelope
        check_files(session, account)
        lost = replace(account, runs=(replace(run, envelope="0" * 64),))
        with pytest.raises(LedgerFault, match="DPQL711"):
            check_files(session, lost)


def test_a_file_is_its_digest(store: SqliteStore) -> None:
    """A file under the digest of another, or of none, is refused."""
    with store.session(write=True) as session:
        session.store_file(DIGEST, REPORT + b"!")
        for digest in (DIGEST, "0" * 64):
            with pytest.raises(LedgerFault, match="DPQL711"):
                sealed_file(session, digest)


def test_heads_are_those_of_the_dataset() -> None:
    """Heads of other datasets say nothing of this one."""
    heads = [Head(dataset=name, seq=1, digest="0" * 64) for name in "aba"]
    assert [heads[0], heads[2]] == heads_of("a", heads)
