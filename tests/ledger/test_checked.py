"""A process reads each chain once, and notices what is added, cut off or rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from ledger.ledger_stores import (
    DATASET,
    EDITS,
    Stores,
    count_plan,
    restore,
    snapshot,
    tampering,
)

from dpql.errors import LedgerFault
from dpql.ledger import Ledger, Reservation, open_ledger
from dpql.ledger.checked import Checked
from dpql.ledger.entry import Row
from dpql.ledger.store import Session, Store

pytestmark = pytest.mark.heavy


@dataclass(frozen=True)
class Watched:
    """A store that notes from which entry on its rows were read."""

    store: Store
    firsts: list[int]

    def create(self) -> None:
        """Make an empty ledger."""
        self.store.create()

    @contextmanager
    def session(self, *, write: bool) -> Iterator[Session]:
        """Open a transaction."""
        with self.store.session(write=write) as session:
            yield _WatchedSession(session, self.firsts)  # type: ignore[abstract]


class _WatchedSession:
    def __init__(self, session: Session, firsts: list[int]) -> None:
        self._session, self._firsts = session, firsts

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)

    def rows(self, dataset: str, first: int = 1) -> list[Row]:
        """Return the rows, and note where they begin."""
        self._firsts.append(first)
        return self._session.rows(dataset, first)


def _run(ledger: Ledger) -> None:
    reservation = ledger.reserve(DATASET, count_plan(), again=True)
    assert isinstance(reservation, Reservation)
    ledger.seal(ledger.begin_draw(reservation), b"the report", {})


def _code(attempt: object) -> str:
    with pytest.raises(LedgerFault) as refusal:
        attempt()  # type: ignore[operator]
    return refusal.value.diagnostics[0].code


def test_a_process_reads_a_chain_once(stores: Stores) -> None:
    """Later transactions read from the last entry that was checked."""
    _, made = stores.make()
    _run(made)
    firsts: list[int] = []
    ledger = replace(made, store=Watched(made.store, firsts), checked=Checked())
    _run(ledger)
    assert [1, 4, 5] == firsts
    ledger.verify(DATASET)
    assert [1, 7] == firsts[3:]


def test_entries_of_others_are_read(stores: Stores) -> None:
    """What another process debits is seen before the next debit."""
    location, ledger = stores.make("3")
    other = open_ledger(location, witness=stores.witness())
    _run(ledger)
    _run(other)
    assert 2 == ledger.account(DATASET).spent
    _run(other)
    assert "DPQL703" == _code(lambda: _run(ledger))
    assert other.verify(DATASET) == ledger.account(DATASET)


def test_an_old_entry_is_noticed_by_the_next_process(stores: Stores) -> None:
    """It is the price of reading a chain once; `verify` reads it all."""
    location, ledger = stores.make()
    _run(ledger)
    ledger.account(DATASET)
    with tampering(location) as execute:
        execute(EDITS["a body"])
    assert 4 == ledger.account(DATASET).cap
    later = open_ledger(location, witness=stores.witness())
    assert "DPQL705" == _code(lambda: later.account(DATASET))
    assert "DPQL705" == _code(lambda: ledger.verify(DATASET))
    assert "DPQL705" == _code(lambda: _run(ledger))


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        ("DELETE FROM dpql_entry WHERE seq = 4", "DPQL706"),
        ("DELETE FROM dpql_entry WHERE seq > 1", "DPQL706"),
        ("UPDATE dpql_entry SET body = body || ' ' WHERE seq = 4", "DPQL705"),
        ("UPDATE dpql_entry SET digest = upper(digest) WHERE seq = 4", "DPQL705"),
        ("DELETE FROM dpql_entry", "DPQL706"),
    ],
)
def test_the_end_of_a_chain_is_read_each_time(
    stores: Stores, edit: str, code: str
) -> None:
    """A head that was altered or cut off is noticed by the next transaction."""
    location, ledger = stores.make()
    _run(ledger)
    ledger.account(DATASET)
    with tampering(location) as execute:
        execute(edit)
    assert code == _code(lambda: _run(ledger))


def test_an_old_copy_is_noticed_at_once(stores: Stores) -> None:
    """A chain that ends earlier is read anew, and the witness knows better."""
    location, ledger = stores.make()
    Path(stores.witness()).rename(f"{stores.witness()}.kept")
    backup = snapshot(location)
    _run(ledger)
    restore(location, backup)
    assert "DPQL706" == _code(lambda: _run(ledger))


def test_a_copy_that_went_another_way_is_noticed(stores: Stores) -> None:
    """As many entries of other runs are no continuation of those that were checked."""
    location, ledger = stores.make()
    backup = snapshot(location)
    _run(ledger)
    restore(location, backup)
    other = open_ledger(location, witness=f"{stores.witness()}.other")
    reservation = other.reserve(DATASET, count_plan("2"))
    assert isinstance(reservation, Reservation)
    other.seal(other.begin_draw(reservation), b"another report", {})
    assert "DPQL706" == _code(lambda: _run(ledger))
