"""A spec inside a plan is checked for every invariant that resolve promises."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from spec_text import ID, integer, make_spec

from dpql.language import load
from dpql.model.spec import (
    AccuracyTarget,
    And,
    Between,
    CategoryColumn,
    Comparison,
    Contributes,
    Epsilon,
    FillNulls,
    IsNull,
    Membership,
    Neighbours,
    Not,
    NumberColumn,
    NumberType,
    Operator,
    Or,
    RowsAtMost,
    Share,
    Spec,
    Statistic,
)
from dpql.planner.soundness import is_sound

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture
def spec() -> Spec:
    """Return a sound spec."""
    return make_spec(
        {
            "p": ID,
            "x": integer(0, 10, nulls="drop"),
            "y": "{type: float, bounds: [0, 1], nulls: {as: 0.5}}",
            "g": "{type: category, keys: [a, b]}",
        },
        {
            "level": {"mean": "x", "by": "[g]", "spend": "{share: 1}"},
            "bins": {"histogram": "x", "bins": "[0, 5, 10]", "spend": "{share: 1}"},
        },
        unit="p",
        contributes="{rows: 1, groups: 1}",
    )


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.yaml")), ids=lambda p: p.stem)
def test_whatever_a_text_spells_is_sound(path: Path) -> None:
    """The gallery passes."""
    assert is_sound(load(path))


def x_is(value: str) -> Comparison:
    """Return a comparison of the number column with a word."""
    return Comparison(column="x", operator=Operator.EQUAL, value=value)


LESS = Comparison(column="x", operator=Operator.LESS, value=Fraction(1))
KEY = Comparison(column="g", operator=Operator.EQUAL, value="a")

STATISTICS: dict[str, dict[str, Any]] = {
    "no such column": {"columns": ("z",)},
    "too many columns": {"columns": ("x", "y")},
    "a mean of words": {"columns": ("g",)},
    "edges of a mean": {"edges": (Fraction(0), Fraction(1))},
    "grouped by a number": {"by": ("x",)},
    "grouped twice": {"by": ("g", "g")},
    "no alpha": {"alpha": Fraction(0)},
    "certain alpha": {"alpha": Fraction(1)},
    "no gamma": {"gamma": Fraction(0)},
    "at least nothing": {"at_least": 0},
    "at least too much": {"at_least": 1001},
    "no share": {"spend": Share(weight=Fraction(0))},
    "no target": {"spend": AccuracyTarget(within=Fraction(-1))},
    "more than all": {"spend": Epsilon(value=Fraction(2))},
    "one histogram edge": {
        "kind": "histogram",
        "edges": (Fraction(0),),
    },
    "a histogram of a number without edges": {"kind": "histogram", "edges": ()},
    "falling edges": {
        "kind": "histogram",
        "edges": (Fraction(5), Fraction(2)),
    },
    "edges outside": {
        "kind": "histogram",
        "edges": (Fraction(5), Fraction(20)),
    },
    "histogram of an id": {"kind": "histogram", "columns": ("p",)},
    "histogram of nothing": {"kind": "histogram", "columns": ()},
    "filter on nothing": {"where": IsNull(column="z")},
    "number compared with a word": {"where": x_is("a")},
    "undeclared key": {"where": replace(KEY, value="c")},
    "ordered words": {"where": replace(KEY, operator=Operator.LESS)},
    "an id compared": {"where": replace(KEY, column="p")},
    "empty membership": {"where": Membership(column="x", values=())},
    "double membership": {
        "where": Membership(column="x", values=(Fraction(1), Fraction(1)))
    },
    "empty between": {
        "where": Between(column="x", lower=Fraction(2), upper=Fraction(1))
    },
    "and of one": {"where": And(operands=(LESS,))},
    "and in and": {"where": And(operands=(And(operands=(LESS, LESS)), LESS))},
    "fault inside not": {"where": Not(operand=x_is("a"))},
    "fault inside or": {"where": Or(operands=(LESS, x_is("a")))},
}


@pytest.mark.parametrize("fault", list(STATISTICS))
def test_an_unsound_statistic_is_found(spec: Spec, fault: str) -> None:
    """Each invariant of a statistic is looked at."""
    broken = replace(spec.statistics[0], **STATISTICS[fault])
    assert not is_sound(replace(spec, statistics=(broken, spec.statistics[1])))


@pytest.mark.parametrize(
    "where",
    [
        LESS,
        KEY,
        Not(operand=And(operands=(LESS, Or(operands=(KEY, LESS))))),
        Membership(column="g", values=("a", "b")),
        IsNull(column="g"),
        Between(column="x", lower=Fraction(1), upper=Fraction(1)),
    ],
)
def test_a_sound_filter_passes(spec: Spec, where: Any) -> None:
    """Every kind of condition has a sound form."""
    statistics: tuple[Statistic, ...] = (replace(spec.statistics[0], where=where),)
    assert is_sound(replace(spec, statistics=statistics))


COLUMNS: dict[str, tuple[int, dict[str, Any]]] = {
    "empty interval": (1, {"upper": Fraction(0)}),
    "reversed interval": (1, {"upper": Fraction(-1)}),
    "no step": (1, {"step": None}),
    "negative step": (1, {"step": Fraction(-1)}),
    "step that does not divide": (1, {"step": Fraction(3)}),
    "broken integer step": (1, {"step": Fraction(1, 2)}),
    "float with a step": (2, {"step": Fraction(1)}),
    "fill outside": (2, {"nulls": FillNulls(value=Fraction(2))}),
    "no keys": (3, {"keys": ()}),
    "keys twice": (3, {"keys": ("a", "a")}),
    "a name twice": (3, {"name": "x"}),
}


@pytest.mark.parametrize("fault", list(COLUMNS))
def test_an_unsound_column_is_found(spec: Spec, fault: str) -> None:
    """Each invariant of a column is looked at."""
    index, change = COLUMNS[fault]
    columns = list(spec.data.columns)
    column = columns[index]
    assert isinstance(column, NumberColumn | CategoryColumn)
    columns[index] = replace(column, **change)
    assert not is_sound(replace(spec, data=replace(spec.data, columns=tuple(columns))))


def test_an_unsound_promise_is_found(spec: Spec) -> None:
    """Each invariant of the promise is looked at."""
    privacy = spec.privacy
    broken = [
        replace(privacy, delta=Fraction(1)),
        replace(privacy, unit="x"),
        replace(privacy, unit="nobody"),
        replace(privacy, neighbours=Neighbours.REPLACE_ONE),
        replace(privacy, contributes=Contributes(rows=0, groups=1)),
        replace(privacy, unit=None, contributes=Contributes(rows=2, groups=1)),
        replace(privacy, contributes=Contributes(rows=2, groups=2, total=1)),
        replace(privacy, contributes=Contributes(rows=2, groups=2, total=4)),
    ]
    assert [is_sound(replace(spec, privacy=other)) for other in broken] == [False] * 8
    empty = replace(spec.data, rows=RowsAtMost(count=0))
    assert not is_sound(replace(spec, data=empty))
    assert not is_sound(replace(spec, statistics=()))
    assert not is_sound(replace(spec, statistics=(spec.statistics[0],) * 2))
    assert is_sound(spec)


def test_numbers_beyond_any_text_are_found(spec: Spec) -> None:
    """A plan cannot make the planner work on numbers of a million digits."""
    huge = replace(spec.data, rows=RowsAtMost(count=10**400))
    assert not is_sound(replace(spec, data=huge))
    tiny = replace(spec.statistics[0], alpha=Fraction(1, 10**400))
    assert not is_sound(replace(spec, statistics=(tiny,)))


def test_decimals_may_have_any_step(spec: Spec) -> None:
    """Only integers need whole steps."""
    columns = list(spec.data.columns)
    column = columns[1]
    assert isinstance(column, NumberColumn)
    columns[1] = replace(column, type=NumberType.DECIMAL, step=Fraction(1, 3))
    assert is_sound(replace(spec, data=replace(spec.data, columns=tuple(columns))))


def test_unsound_units_and_values_are_found(spec: Spec) -> None:
    """Units are counted where there are some, and are no values of their own."""
    first = spec.statistics[0]
    units = replace(first, kind="units", columns=())
    values = replace(first, kind="distinct", columns=("g",))
    bounded = replace(first, contributes=Contributes(rows=1, groups=2))
    for sound in (units, values, bounded):
        assert is_sound(replace(spec, statistics=(sound,)))
    rows = replace(spec.privacy, unit=None, contributes=Contributes(rows=1, groups=1))
    broken = [
        replace(spec, statistics=(replace(values, columns=("p",)),)),
        replace(spec, statistics=(replace(values, columns=("y",)),)),
        replace(spec, statistics=(units,), privacy=rows),
        replace(spec, statistics=(bounded,), privacy=rows),
        replace(
            spec,
            statistics=(
                replace(first, contributes=Contributes(rows=1, groups=1, total=1)),
            ),
        ),
    ]
    assert [False] * len(broken) == [is_sound(one) for one in broken]


@pytest.mark.parametrize(
    ("sound", "change"),
    [
        (True, {"keys": ("0", "-1", "12"), "numeric": True}),
        (True, {"digest": "0" * 64}),
        (True, {"keys": tuple(map(str, range(60_000))), "numeric": True}),
        (False, {"keys": ("a", "b"), "numeric": True}),
        (False, {"keys": ("1", "01"), "numeric": True}),
        (False, {"keys": ("-0", "1"), "numeric": True}),
        (False, {"keys": ("1", "1"), "numeric": True}),
        (False, {"keys": (str(2**60 + 1), "1"), "numeric": True}),
        (False, {"digest": "0" * 63}),
        (False, {"digest": "G" * 64}),
    ],
)
def test_numeric_keys_and_keys_of_files(
    spec: Spec,
    sound: bool,  # noqa: FBT001
    change: dict[str, Any],
) -> None:
    """Numeric keys are whole numbers in their shortest form; a digest is a sha256."""
    columns = list(spec.data.columns)
    column = columns[3]
    assert isinstance(column, CategoryColumn)
    columns[3] = replace(column, **change)
    statistics = tuple(replace(one, where=None) for one in spec.statistics)
    data = replace(spec.data, columns=tuple(columns))
    assert sound == is_sound(replace(spec, data=data, statistics=statistics))
