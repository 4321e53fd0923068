"""The budget of a dataset is the exact sum of what its runs did."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from chains import OPENED, chain, reserved

from dpql.ledger.account import Account, State, unit_of
from dpql.ledger.entry import Cancelled, CapRaised, Drawing, Head, Released, Shared
from dpql.ledger.replay import replay

PLAN = "p" * 64


def test_amounts_add_up_exactly() -> None:
    """Spent, held back and left are sums of fractions."""
    account = replay(
        "d",
        chain(
            OPENED,
            reserved("0", "1/3"),
            Drawing(run=2),
            reserved("1/3", "1/7"),
            Cancelled(run=4),
            reserved("1/3", "1/5"),
            CapRaised(cap=Fraction(3)),
        ),
    )
    assert account.spent == Fraction(1, 3)
    assert account.reserved == Fraction(1, 5)
    assert account.left == 3 - Fraction(8, 15)
    assert [run.state for run in account.runs] == [
        State.DRAWING,
        State.CANCELLED,
        State.RESERVED,
    ]


def test_runs_of_a_plan_are_counted() -> None:
    """Cancelled runs are none, and the last released one is the answer."""
    account = replay(
        "d",
        chain(
            OPENED,
            reserved("0", "1/4"),
            Cancelled(run=2),
            reserved("0", "1/4"),
            Drawing(run=4),
            Released(run=4, envelope="e"),
            reserved("1/4", "1/4"),
        ),
    )
    assert (2, 0) == (account.made(PLAN), account.made("q" * 64))
    assert [0, 1, 2] == [account.ordinal(run) for run in account.runs]
    assert account.run(4) == account.released(PLAN)
    assert account.released("q" * 64) is None
    assert account.run(5) is None


@pytest.mark.parametrize(
    ("change", "held"),
    [
        ({}, True),
        ({"envelope": "e"}, True),
        ({"envelope": "other"}, False),
        ({"dataset": "other"}, False),
        ({"seq": 2}, False),
        ({"seq": 0}, False),
        ({"seq": 5}, False),
        ({"digest": "0" * 64}, False),
    ],
)
def test_a_head_is_an_entry_of_the_chain(change: dict[str, str], *, held: bool) -> None:
    """Number, digest and dataset must fit, and the report if one is named."""
    entries = chain(
        OPENED, reserved("0"), Drawing(run=2), Released(run=2, envelope="e")
    )
    head = Head(dataset="d", seq=3, digest=entries[2].digest)
    assert held is replay("d", entries).holds(replace(head, **change))


def test_partners_are_those_of_both_sides() -> None:
    """Data are shared with whom this chain names, and with who joined later."""
    shared = Shared(location="/x", datasets=("b", "c"))
    account = Account(dataset="a", shares=(shared,), partners=("d",))
    assert {"b", "c", "d"} == account.sharing


def test_rows_are_units_without_a_name() -> None:
    """A plan without an id column protects rows."""
    assert ("row", "person") == (unit_of(None), unit_of("person"))
