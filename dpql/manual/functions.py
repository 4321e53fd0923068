"""The functions and operators of expressions: what each means, in a few sentences.

They stand in `derived`, in `where` and in `proportion`. Proofs and the exact integers
are in docs/maths/derived.md and docs/maths/dates.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function: how it is written, what it is, and an example."""

    title: str
    form: str
    text: str
    example: str


_EITHER = "Null where an operand is null."
_PART = (
    "Of a declared column of dates or times. Its keys follow from the column's bounds, "
    "in order of time, and appear in the release, also when empty. A cell that is "
    "missing or out of the bounds has none."
)
_ALWAYS = (
    "Of a declared column of dates or times. All its keys appear in the release, also "
    "when empty. A cell that is missing or out of the bounds has none. Compared with "
    "numbers and in arithmetic it is a number."
)

FUNCTIONS: dict[str, Function] = {
    "+": Function(
        title="a sum",
        form="x + y",
        text=f"Its bounds are the sums of the ends. {_EITHER}",
        example="dep_delay + arr_delay",
    ),
    "-": Function(
        title="a difference",
        form="x - y",
        text="Of numbers, or of two dates in days, or of two times of one step and "
        f"zone in steps. {_EITHER}",
        example="dep_delay - arr_delay",
    ),
    "*": Function(
        title="a product",
        form="x * y",
        text="Its bounds are the least and the largest product of the ends. Its steps "
        "multiply, so products of products soon have too many to be summed: `round` "
        f"the operands. {_EITHER}",
        example="distance * arr_delay",
    ),
    "//": Function(
        title="a quotient by a constant, rounded down",
        form="x // 7",
        text="Rounded down below 0 too: -5 // 2 is -3. The constant is not 0. Columns "
        "are divided by `div`, or as sums by the statistic `ratio`. Null where x is.",
        example="distance // 100",
    ),
    "==": Function(
        title="a comparison: ==, !=, <, <=, >, >=",
        form="x == y",
        text="A column of the data against constants, or against another one, is read "
        "as it is stored: not clamped, on no grid. Everything else is compared within "
        "its bounds, on its steps. Keys and booleans have no order. A comparison with "
        "a null is null, and a row passes a `where` only where it is true.",
        example="arr_delay < dep_delay",
    ),
    "in": Function(
        title="one of several values",
        form="x in [a, b]",
        text="The values are keys, numbers, dates or times in brackets. Null where x "
        "is null.",
        example="carrier in [UA, DL]",
    ),
    "between": Function(
        title="within two ends, both included",
        form="x between 1 and 9",
        text="Of numbers, dates and times. Null where x is null.",
        example="air_time between 60 and 120",
    ),
    "and": Function(
        title="both are true",
        form="p and q",
        text="False where one of them is false, else null where one is null: Kleene's "
        "logic, as in SQL.",
        example="arr_delay > 15 and distance > 500",
    ),
    "or": Function(
        title="one of both is true",
        form="p or q",
        text="True where one of them is true, else null where one is null: Kleene's "
        "logic, as in SQL.",
        example="arr_delay > 15 or dep_delay > 15",
    ),
    "not": Function(
        title="the opposite",
        form="not p",
        text="True where p is false, false where it is true, null where it is null: "
        "`not (x > 1)` does not hold for rows without an x.",
        example="not diverted",
    ),
    "min": Function(
        title="the smaller of numbers",
        form="min(x, y)",
        text=f"Two or more. {_EITHER}",
        example="min(arr_delay, dep_delay)",
    ),
    "max": Function(
        title="the larger of numbers",
        form="max(x, y)",
        text=f"Two or more. {_EITHER}",
        example="max(arr_delay, 0)",
    ),
    "abs": Function(
        title="a number without its sign",
        form="abs(x)",
        text="Null where x is.",
        example="abs(dep_delay - arr_delay)",
    ),
    "round": Function(
        title="a number on a coarser grid",
        form="round(x, 0.1)",
        text="To the nearest multiple of a constant above 0, of 1 without one; ties go "
        "up. Coarser steps make products small enough to be summed. Null where x is.",
        example="round(arr_delay, 5)",
    ),
    "div": Function(
        title="a quotient of two columns",
        form="div(x, y, lower: 0, upper: 10, step: 0.1)",
        text="x / y, rounded to a step and clamped to bounds that you declare: a "
        "quotient has none of its own. Null where y is 0, or one of both is null. A "
        "quotient of sums is the statistic `ratio`.",
        example="div(distance, air_time, lower: 0, upper: 20, step: 0.1)",
    ),
    "case": Function(
        title="a choice by a condition",
        form="case(x > 0, x, y)",
        text="The second argument where the condition is true, else the third: also "
        "where the condition is null. More conditions and values may stand before the "
        "last argument.",
        example="case(arr_delay > 15, arr_delay, 0)",
    ),
    "coalesce": Function(
        title="a constant in place of null",
        form="coalesce(x, 0)",
        text="x, or the constant where x is null; it is never null itself.",
        example="coalesce(dep_delay, 0)",
    ),
    "is_null": Function(
        title="whether there is no value",
        form="is_null(x)",
        text="True or false, never null. Of a column of the data it asks for the "
        "stored cell, whatever `nulls` fills in; of a category whether it is none of "
        "the keys. `x is null` is the same.",
        example="is_null(arr_delay)",
    ),
    "bands": Function(
        title="the band that a number lies in",
        form="bands(x, [1, 500, 5_000])",
        text="Bands are left-closed, the last one is closed at both ends, and their "
        "keys are written `[1, 500)`. A number outside all bands has no key. Of a "
        "column they are the bins of its histogram.",
        example="bands(distance, [1, 500, 1_000, 5_000])",
    ),
    "map": Function(
        title="names for keys: a join with a public table",
        form="map(x, {AA: big, UA: big}, else: small)",
        text="Keys without a pair become `else`, nulls `missing`; without these they "
        "have no key. Several keys may have one name. `file: 'names.txt'` in place of "
        "the pairs reads a key, a comma and a name from each line of a file beside the "
        "spec; the plan holds the pairs and the file's sha256.",
        example="map(carrier, {UA: United, DL: Delta}, else: other)",
    ),
    "year": Function(
        title="the year of a date or time",
        form="year(x)",
        text=f"{_PART} Compared with numbers and in arithmetic it is a number.",
        example="year(flown)",
    ),
    "quarter": Function(
        title="the quarter of a date or time",
        form="quarter(x)",
        text=f"Its keys are such as 2013-Q1. {_PART}",
        example="quarter(flown)",
    ),
    "month": Function(
        title="the month of a date or time, with its year",
        form="month(x)",
        text=f"Its keys are such as 2013-01. {_PART} `month_of_year` is without year.",
        example="month(flown)",
    ),
    "week": Function(
        title="the week of a date or time",
        form="week(x)",
        text="Its keys are such as 2013-W01: a week begins on Monday and belongs to "
        f"the year of its Thursday (ISO 8601). {_PART}",
        example="week(flown)",
    ),
    "day": Function(
        title="the day of a date or time",
        form="day(x)",
        text=f"Its keys are such as 2013-01-01. {_PART}",
        example="day(flown)",
    ),
    "weekday": Function(
        title="the day of the week, from 1 for Monday to 7",
        form="weekday(x)",
        text=_ALWAYS,
        example="weekday(flown)",
    ),
    "month_of_year": Function(
        title="the month without its year, from 01 to 12",
        form="month_of_year(x)",
        text=_ALWAYS,
        example="month_of_year(flown)",
    ),
    "hour": Function(
        title="the hour of a time, from 00 to 23",
        form="hour(x)",
        text=f"{_ALWAYS} A date has no hours.",
        example="hour(scheduled)",
    ),
}
"""Every function and operator, by what is written."""
