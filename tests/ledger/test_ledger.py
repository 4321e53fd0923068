"""The ledger's operations, on every kind of store."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import pytest
import spec_text
from ledger.ledger_stores import DATASET, Stores, count_plan

from dpql.errors import LedgerFault
from dpql.ledger import (
    Account,
    Ledger,
    Receipt,
    Reservation,
    Sealed,
    State,
    open_ledger,
)
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours
from dpql.planner import plan


def _code(refusal: pytest.ExceptionInfo[LedgerFault]) -> str:
    return refusal.value.diagnostics[0].code


def _reserve(ledger: Ledger, wanted: Plan, **options: object) -> Reservation:
    reservation = ledger.reserve(DATASET, wanted, **options)  # type: ignore[arg-type]
    assert isinstance(reservation, Reservation)
    return reservation


def _receipt(ledger: Ledger, wanted: Plan) -> Receipt:
    return ledger.begin_draw(_reserve(ledger, wanted))


def _amounts(account: Account) -> tuple[Fraction, Fraction, Fraction]:
    return account.spent, account.reserved, account.left


def test_run_moves_through_its_states(stores: Stores) -> None:
    """A run is reserved, drawing, released; its entries are numbered one by one."""
    _, ledger = stores.make()
    wanted = count_plan()
    reservation = _reserve(ledger, wanted)
    assert reservation.run.number == 2
    assert _amounts(ledger.account(DATASET)) == (0, 1, 3)
    receipt = ledger.begin_draw(reservation)
    assert receipt.head.seq == 3
    assert _amounts(ledger.account(DATASET)) == (1, 0, 3)
    sealed = ledger.seal(receipt, b"the report", {"release.csv": b"table"})
    assert sealed.run.sealed == 4
    account = ledger.account(DATASET)
    assert [run.state for run in account.runs] == [State.RELEASED]
    assert account.holds(receipt.head)
    assert ledger.file(hashlib.sha256(b"table").hexdigest()) == b"table"


def test_same_plan_returns_the_stored_report(stores: Stores) -> None:
    """Running a plan again costs nothing unless a new draw is asked for."""
    _, ledger = stores.make()
    wanted = count_plan()
    ledger.seal(_receipt(ledger, wanted), b"the report", {})
    before = ledger.account(DATASET)
    stored = ledger.reserve(DATASET, wanted)
    assert isinstance(stored, Sealed)
    assert stored.envelope == b"the report"
    assert ledger.account(DATASET) == before
    assert _reserve(ledger, wanted, again=True).run.before == 1
    assert ledger.account(DATASET).committed == 2


def test_cancel_gives_back_only_before_the_draw(stores: Stores) -> None:
    """Epsilon comes back from a reservation, never from a draw."""
    _, ledger = stores.make()
    reservation = _reserve(ledger, count_plan())
    ledger.cancel(reservation)
    assert _amounts(ledger.account(DATASET)) == (0, 0, 4)
    with pytest.raises(LedgerFault) as refusal:
        ledger.begin_draw(reservation)
    assert _code(refusal) == "DPQL709"
    second = _reserve(ledger, count_plan())
    ledger.begin_draw(second)
    with pytest.raises(LedgerFault) as refusal:
        ledger.cancel(second)
    assert _code(refusal) == "DPQL709"
    assert _amounts(ledger.account(DATASET)) == (1, 0, 3)


def test_report_is_sealed_once(stores: Stores) -> None:
    """A second report of the same draw is refused."""
    _, ledger = stores.make()
    receipt = _receipt(ledger, count_plan())
    ledger.seal(receipt, b"one", {})
    with pytest.raises(LedgerFault) as refusal:
        ledger.seal(receipt, b"two", {})
    assert _code(refusal) == "DPQL709"


@pytest.mark.heavy
def test_recover_keeps_the_debit_of_a_draw(stores: Stores) -> None:
    """A dead reservation is given back, a dead draw is lost and stays spent."""
    _, ledger = stores.make()
    drawing = _receipt(ledger, count_plan())
    waiting = _reserve(ledger, count_plan("0.5"))
    ended = ledger.recover(DATASET)
    assert [run.state for run in ended] == [State.LOST, State.CANCELLED]
    assert _amounts(ledger.account(DATASET)) == (1, 0, 3)
    for step in (
        lambda: ledger.seal(drawing, b"late", {}),
        lambda: ledger.begin_draw(waiting),
    ):
        with pytest.raises(LedgerFault) as refusal:
            step()
        assert _code(refusal) == "DPQL709"
    assert ledger.recover(DATASET) == ()


def test_recover_can_name_one_run(stores: Stores) -> None:
    """Only the named run is ended."""
    _, ledger = stores.make()
    first = _reserve(ledger, count_plan())
    second = _reserve(ledger, count_plan())
    assert [run.number for run in ledger.recover(DATASET, first.run.number)] == [2]
    assert ledger.begin_draw(second).head.seq == 5


def test_budget_is_exact(stores: Stores) -> None:
    """Ten tenths of a cap of one are exactly one; not a hair more fits."""
    _, ledger = stores.make("1")
    tenth = count_plan("0.1")
    for _ in range(10):
        _reserve(ledger, tenth, again=True)
    assert ledger.account(DATASET).committed == 1
    with pytest.raises(LedgerFault) as refusal:
        _reserve(ledger, count_plan("1e-9"))
    assert _code(refusal) == "DPQL703"
    ledger.raise_cap(DATASET, 1 + Fraction(1, 10**9))
    _reserve(ledger, count_plan("1e-9"))
    assert ledger.account(DATASET).left == 0


def test_cap_is_never_lowered(stores: Stores) -> None:
    """The owner may allow more, not less."""
    _, ledger = stores.make()
    for cap in (Fraction(4), Fraction(3), Fraction(-1), Fraction(10) ** 7):
        with pytest.raises(LedgerFault) as refusal:
            ledger.raise_cap(DATASET, cap)
        assert _code(refusal) == "DPQL710"
    assert ledger.raise_cap(DATASET, Fraction(5)).cap == 5


@pytest.mark.parametrize("name", ["", "../x", "a b", "-a", "a" * 101, "é", "a\n"])
def test_names_of_datasets_are_plain(stores: Stores, name: str) -> None:
    """A name that could be mistaken for something else is refused."""
    _, ledger = stores.make()
    with pytest.raises(LedgerFault) as refusal:
        ledger.open_account(
            name, cap=Fraction(1), unit=None, neighbours=Neighbours.ADD_REMOVE
        )
    assert _code(refusal) == "DPQL710"


def test_dataset_is_opened_once(stores: Stores) -> None:
    """Opening again would be a fresh budget; it is refused."""
    _, ledger = stores.make()
    with pytest.raises(LedgerFault) as refusal:
        ledger.open_account(
            DATASET, cap=Fraction(9), unit=None, neighbours=Neighbours.ADD_REMOVE
        )
    assert _code(refusal) == "DPQL702"
    assert ledger.datasets() == (DATASET,)


def test_unknown_dataset_is_refused(stores: Stores) -> None:
    """Nothing is spent on what the owner has not opened."""
    _, ledger = stores.make()
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve("other", count_plan())
    assert _code(refusal) == "DPQL701"


def test_plan_with_another_unit_is_refused(stores: Stores) -> None:
    """The owner says whom the budget protects."""
    _, ledger = stores.make(unit="person")
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve(DATASET, count_plan())
    assert _code(refusal) == "DPQL704"
    assert ledger.account(DATASET).runs == ()


def test_plan_with_other_neighbours_is_refused(stores: Stores) -> None:
    """Epsilons of other neighbours do not add up."""
    _, ledger = stores.make()
    other = plan(
        spec_text.make_spec(
            {"age": spec_text.integer(0, 9)},
            {"total": {"sum": "age", "spend": "{share: 1}"}},
            rows="{exactly: 10}",
            neighbours="replace_one",
        )
    )
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve(DATASET, other)
    assert _code(refusal) == "DPQL704"


def test_approved_runs_are_counted(stores: Stores) -> None:
    """A plan runs as often as its reviewers allow; a cancelled run does not count."""
    _, ledger = stores.make()
    wanted = count_plan()
    ledger.cancel(_reserve(ledger, wanted, runs=1))
    _reserve(ledger, wanted, runs=1)
    with pytest.raises(LedgerFault) as refusal:
        _reserve(ledger, wanted, again=True, runs=1)
    assert _code(refusal) == "DPQL715"
    _reserve(ledger, wanted, again=True, runs=2)


def test_datasets_have_budgets_of_their_own(stores: Stores) -> None:
    """Entries of one dataset leave the chain of another as it is."""
    _, ledger = stores.make()
    ledger.open_account(
        "other", cap=Fraction(1), unit=None, neighbours=Neighbours.ADD_REMOVE
    )
    before = ledger.account("other")
    _reserve(ledger, count_plan())
    assert ledger.account("other") == before
    assert ledger.datasets() == ("other", DATASET)


def test_location_that_is_taken_is_refused(stores: Stores) -> None:
    """A ledger is never written over another."""
    location, _ = stores.make()
    with pytest.raises(LedgerFault) as refusal:
        open_ledger(location, create=True, witness=stores.witness())
    assert _code(refusal) == "DPQL702"


def test_location_without_a_ledger_is_refused(stores: Stores) -> None:
    """A ledger is not made by looking at it."""
    ledger = open_ledger(stores.location(), witness=stores.witness())
    with pytest.raises(LedgerFault) as refusal:
        ledger.account(DATASET)
    assert _code(refusal) == "DPQL700"


def _open(ledger: Ledger, name: str, location: str) -> None:
    ledger.open_account(
        name,
        cap=Fraction(1),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        location=location,
    )


def test_data_have_one_budget_under_any_name(stores: Stores) -> None:
    """A location is bound to one dataset, and a dataset to its location."""
    _, ledger = stores.make()
    data, other = stores.folder / "data.csv", stores.folder / "other.csv"
    _open(ledger, "bound", str(data))
    for attempt in (
        lambda: _open(ledger, "second", str(data)),
        lambda: ledger.refuse_foreign_data(DATASET, str(data)),
        lambda: ledger.refuse_foreign_data(
            DATASET, stores.folder / "x" / ".." / "data.csv"
        ),
        lambda: ledger.refuse_foreign_data("bound", other),
    ):
        with pytest.raises(LedgerFault) as refusal:
            attempt()
        assert _code(refusal) == "DPQL716"
    ledger.refuse_foreign_data("bound", data)
    ledger.refuse_foreign_data("bound", object())
    ledger.refuse_foreign_data(DATASET, other)
    ledger.refuse_foreign_data(DATASET, "https://example.org/data.csv")
