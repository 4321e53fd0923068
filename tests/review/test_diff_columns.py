"""Changes of columns, declared and derived."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest
from review.derived_plans import (
    COLUMNS,
    DROP,
    FAR,
    GAINED,
    LATE,
    LONG,
    MUCH,
    number,
    planned,
)

from dpql.model.columns import CategoryColumn, Column, FillNulls
from dpql.model.expression import Reference
from dpql.model.plan import Plan
from dpql.review.diff import diff
from dpql.review.diff_columns import column_changes


def changes(old: Plan, new: Plan) -> list[tuple[str, str, str, str]]:
    """Return verdict, subject, text and note of every change of columns."""
    return [
        (one.verdict.value, one.subject, one.text, one.note)
        for one in column_changes(old, new)
    ]


def test_a_new_derived_column_is_to_be_reviewed_with_what_it_reads() -> None:
    """So are the columns that it reads through others; without use it is wording."""
    old = planned({"gained": GAINED})
    new = planned({"gained": GAINED, "much": MUCH}, by=("much",))
    newly = "newly read column"
    assert [
        ("REVIEW", "reads", "+ arrived", newly),
        ("REVIEW", "reads", "+ left", newly),
        (
            "REVIEW",
            "derived",
            (
                "+ gained = left - arrived: [-100, 100] in Q = 200 steps of 1, "
                "or null; reads arrived, left"
            ),
            "newly computed",
        ),
        (
            "REVIEW",
            "derived",
            "+ much = gained > 15: true or false, or null; reads gained",
            "newly computed",
        ),
    ] == changes(old, new)
    unused = planned({"gained": GAINED, "late": LATE})
    assert [] == changes(old, unused)
    assert ("SAME", 1) == (
        diff(old, unused).verdict.value,
        diff(old, unused).cosmetic,
    )


def test_a_changed_expression_is_to_be_reviewed() -> None:
    """Both are shown; a statistic of it is not said to be computed otherwise."""
    other = replace(LATE, value=Fraction(30))
    old, new = (
        planned({"late": LATE}, by=("late",)),
        planned({"late": other}, ("late",)),
    )
    assert [("REVIEW", "derived", "late: arrived > 15 → arrived > 30", "")] == changes(
        old, new
    )
    bands = (planned({"far": one}, by=("far",)) for one in (FAR, NEAR))
    assert ["derived"] == [one.subject for one in diff(*bands).changes]
    assert [
        ("STRONGER", "reads", "- arrived", "no longer read"),
        ("SAME", "derived", "- late", "no longer computed"),
    ] == changes(new, planned({"late": other}))


def test_expressions_that_differ_far_on_are_said_to() -> None:
    """Two long maps that begin alike are not the same."""
    old, new = (
        planned({"long": replace(LONG, otherwise=key)}, by=("long",)) for key in "ab"
    )
    ((_, _, _, note),) = changes(old, new)
    assert "they differ farther on" == note


NEAR = replace(FAR, edges=tuple(map(Fraction, (0, 40, 100))))
KEYS = CategoryColumn(name="code", keys=("1", "2"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            KEYS,
            replace(KEYS, numeric=True),
            ("REVIEW", "keys", "code, compared as texts → numbers", ""),
        ),
        (
            replace(KEYS, digest="a" * 64),
            replace(KEYS, digest="b" * 64),
            (
                "SAME",
                "keys",
                "code, from aaaaaaaa → bbbbbbbb",
                "where the keys stand",
            ),
        ),
        (
            COLUMNS[2],
            replace(COLUMNS[2], nulls=DROP),
            ("REVIEW", "nulls", "diverted as false → drop", ""),
        ),
        (
            COLUMNS[3],
            replace(COLUMNS[3], last=16_071),
            (
                "REVIEW",
                "bounds",
                "when [2013-01-01, 2013-12-31] → [2013-01-01, 2014-01-01]",
                "",
            ),
        ),
        (
            COLUMNS[3],
            replace(COLUMNS[3], nulls=FillNulls(value=Fraction(15_706))),
            ("REVIEW", "nulls", "when drop → as 2013-01-01", ""),
        ),
        (
            COLUMNS[4],
            replace(COLUMNS[4], step=3600, last=82_800),
            (
                "REVIEW",
                "bounds",
                (
                    "`at` [1970-01-01 00:00, 1970-01-01 23:59] → "
                    "[1970-01-01 00:00, 1970-01-01 23:00]"
                ),
                "",
            ),
        ),
        (
            COLUMNS[4],
            replace(COLUMNS[4], zone=0),
            (
                "REVIEW",
                "type",
                "`at` time by minute at +01:00 → time by minute at +00:00",
                "",
            ),
        ),
        (
            number("x"),
            replace(KEYS, name="x"),
            ("REVIEW", "type", "x has another type", ""),
        ),
    ],
)
def test_declared_columns_of_every_type(
    old: Column, new: Column, expected: tuple[str, str, str, str]
) -> None:
    """A change of bounds, step, zone, keys or nulls has its own line."""
    found = changes(
        planned({}, by=(old.name,), columns=(old,)),
        planned({}, by=(new.name,), columns=(new,)),
    )
    assert expected == found[0]


def test_a_thousand_derived_columns_are_compared_at_once() -> None:
    """The time grows with their number, not with its square."""
    chain = {"d0": GAINED} | {
        f"d{i}": replace(MUCH, left=Reference(column="d0")) for i in range(1, 1_000)
    }
    other = chain | {"d999": LATE}
    by = [f"d{i}" for i in range(1, 1_000)]
    plans = [planned(derived, by=by) for derived in (chain, other)]
    began = time.process_time()
    found = changes(*plans)
    assert time.process_time() - began < 3
    assert [("REVIEW", "derived")] == [(verdict, what) for verdict, what, *_ in found]
