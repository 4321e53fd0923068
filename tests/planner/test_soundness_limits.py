"""A spec inside a plan is one that a text can mean: the language's own limits hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from spec_text import ID, integer, make_spec

from dpql.errors import PlanFault
from dpql.model.limits import MOST_ROWS
from dpql.model.spec import (
    CategoryColumn,
    Column,
    Condition,
    IdColumn,
    IsNull,
    Membership,
    Neighbours,
    Not,
    RowsAtMost,
    RowsExactly,
    Share,
    Spec,
)
from dpql.planner.compiler import PASSES, compiled, read
from dpql.planner.rules import NOW
from dpql.planner.soundness import is_sound

Edit = Callable[[Spec], Spec]

SPEC = make_spec(
    {
        "p": ID,
        "x": integer(0, 10),
        "z": integer(0, 5),
        "g": "{type: category, keys: [a, b]}",
    },
    {
        "headcount": {"count": "rows", "where": "x > 1", "spend": "{share: 1}"},
        "level": {"mean": "x", "by": "[g]", "spend": "{share: 1}"},
    },
    unit="p",
    contributes="{rows: 1, groups: 1}",
)
ONE = Fraction(1)


def statistic(index: int = 0, **changes: object) -> Edit:
    """Return an edit of one statistic."""

    def edit(spec: Spec) -> Spec:
        statistics = list(spec.statistics)
        statistics[index] = replace(statistics[index], **changes)  # type: ignore[arg-type]
        return replace(spec, statistics=tuple(statistics))

    return edit


def top(**changes: object) -> Edit:
    """Return an edit of the spec's own fields."""
    return lambda spec: replace(spec, **changes)  # type: ignore[arg-type]


def data(**changes: object) -> Edit:
    """Return an edit of the data block."""
    return lambda spec: replace(spec, data=replace(spec.data, **changes))  # type: ignore[arg-type]


def columns(edit: Callable[[Column], Column], *more: Column) -> Edit:
    """Return an edit of every column, and new ones after them."""
    return lambda spec: data(columns=(*map(edit, spec.data.columns), *more))(spec)


def keyed(*keys: str) -> Edit:
    """Return an edit of the keys of the category."""
    return columns(
        lambda c: replace(c, keys=keys) if isinstance(c, CategoryColumn) else c
    )


def nested(levels: int) -> Condition:
    """Return a condition of so many levels."""
    condition: Condition = IsNull(column="x")
    for _ in range(levels - 1):
        condition = Not(operand=condition)
    return condition


def wide(spec: Spec) -> Spec:
    """Group by ten columns of a hundred keys."""
    many = tuple(
        CategoryColumn(name=f"c{i}", keys=tuple(map(str, range(100))))
        for i in range(10)
    )
    return statistic(by=tuple(c.name for c in many))(columns(lambda c: c, *many)(spec))


def crossed(spec: Spec) -> Spec:
    """Group by three columns of two hundred keys."""
    many = tuple(
        CategoryColumn(name=f"c{i}", keys=tuple(map(str, range(200)))) for i in range(3)
    )
    return statistic(by=tuple(c.name for c in many))(columns(lambda c: c, *many)(spec))


def called_row(spec: Spec) -> Spec:
    """Call the id column by the word for single rows."""
    renamed = columns(lambda c: IdColumn(name="row") if isinstance(c, IdColumn) else c)
    return replace(renamed(spec), privacy=replace(spec.privacy, unit="row"))


def dropping(spec: Spec) -> Spec:
    """Drop nulls where the number of rows is public."""
    loose = make_spec(
        {"x": integer(0, 10, nulls="drop"), "z": integer(0, 5)},
        {"q": {"sum": "z", "spend": "{share: 1}"}},
        rows="{exactly: 10}",
    )
    assert is_sound(loose)
    del spec
    promise = replace(loose.privacy, neighbours=Neighbours.REPLACE_ONE)
    return replace(loose, privacy=promise)


UNSPEAKABLE: dict[str, Edit] = {
    "path as release": top(release="/../../evil"),
    "parent as release": top(release=".."),
    "empty release": top(release=""),
    "path as source": data(source="/etc/passwd"),
    "colour as name": statistic(name="a\x1b[31m"),
    "reversal as name": statistic(name="a\u202e"),
    "null byte as name": statistic(name="a\x00"),
    "empty name": statistic(name=""),
    "line break in purpose": top(purpose="a\nb"),
    "empty purpose": top(purpose=""),
    "long purpose": top(purpose="a" * 1001),
    "colour as signer": top(signer="x\x1b"),
    "empty signer": top(signer=""),
    "invisible key": keyed("a", "a\u3164"),
    "padded key": keyed("a", "b "),
    "empty key": keyed("a", ""),
    "look-alike keys": keyed("oo", "\u043e\u043e"),
    "mixed key": keyed("a", "n\u043erth"),
    "mixed column": columns(lambda c: c, IdColumn(name="person_\u0456d")),
    "look-alike column": columns(lambda c: c, IdColumn(name="\u0445")),
    "backquoted column": columns(lambda c: c, IdColumn(name="a`b")),
    "colour as unit": columns(
        lambda c: replace(c, unit="m\x1b[2J") if c.name == "x" else c  # type: ignore[call-arg]
    ),
    "id column called row": called_row,
    "null of an id": statistic(where=IsNull(column="p")),
    "deep filter": statistic(where=nested(33)),
    "very deep filter": statistic(where=nested(80)),
    "long filter": statistic(
        where=Membership(column="x", values=tuple(map(Fraction, range(2048))))
    ),
    "count with edges": statistic(edges=(Fraction(0), Fraction(5))),
    "count with a promise": statistic(at_least=5),
    "too many cells": crossed,
    "too many groupings": wide,
    "more than the ceiling": lambda spec: replace(
        spec, privacy=replace(spec.privacy, epsilon=Fraction(1001))
    ),
    "no epsilon": lambda spec: replace(
        spec, privacy=replace(spec.privacy, epsilon=Fraction(0))
    ),
    "rows beyond counting": data(rows=RowsAtMost(count=MOST_ROWS + 1)),
    "too many parts": keyed(*map(str, range(50_001))),
    "drop under replace_one": dropping,
    "covariance with itself": lambda spec: replace(
        replace(spec, data=replace(spec.data, rows=RowsExactly(count=1000))),
        privacy=replace(spec.privacy, neighbours=Neighbours.REPLACE_ONE),
        statistics=(
            replace(
                spec.statistics[0],
                kind="covariance",
                columns=("x", "x"),
                where=None,
                spend=Share(weight=ONE),
            ),
        ),
    ),
}


def test_the_spec_to_start_from_is_sound() -> None:
    """What is edited is not at fault itself, nor is a filter of 32 levels."""
    assert is_sound(SPEC)
    assert is_sound(statistic(where=nested(32))(SPEC))
    assert is_sound(data(rows=RowsAtMost(count=MOST_ROWS))(SPEC))
    pair = UNSPEAKABLE["covariance with itself"](SPEC)
    assert is_sound(statistic(columns=("x", "z"))(pair))


@pytest.mark.parametrize("fault", list(UNSPEAKABLE))
def test_what_no_text_can_mean_is_unsound(fault: str) -> None:
    """Every limit and format of the language is looked at again."""
    assert not is_sound(UNSPEAKABLE[fault](SPEC))


@pytest.mark.parametrize(
    "fault",
    ["path as release", "colour as name", "padded key", "null of an id", "deep filter"],
)
def test_a_plan_of_such_a_spec_is_refused(fault: str) -> None:
    """It has true losses and canonical bytes, and is refused nonetheless."""
    assert PASSES
    made = compiled(UNSPEAKABLE[fault](SPEC), NOW)
    with pytest.raises(PlanFault, match="DPQL402"):
        read(made.to_json())
