"""The tables of examples in docs/maths say what is computed."""

from __future__ import annotations

from fractions import Fraction
from itertools import takewhile
from typing import Any

import polars as pl
import pytest
from curator.engines.test_derived_columns import evaluated
from docs.blocks import ROOT

from dpql.curator.sources.instants import days, wall_seconds
from dpql.language import load_text
from dpql.model.calendar import DAY, part_index, part_key, read_time
from dpql.model.expression import CalendarPart
from dpql.model.spec import Data

MATHS = ROOT / "docs" / "maths"
SPEC = """\
dpql: 1
release: examples
purpose: The examples of the page.
data:
  source: examples
  rows: {at_most: 1_000}
  columns:
    n: {type: integer, bounds: [-5, 20], nulls: drop}
    m: {type: integer, bounds: [-6, 15], step: 3, nulls: {as: 3}}
    d: {type: decimal, bounds: [-1, 2], step: 0.25, nulls: drop}
    c: {type: decimal, bounds: [0.1, 0.7], step: 0.2, nulls: {as: 0.3}}
    f: {type: float, bounds: [-3, 3.5], nulls: drop}
    b: {type: boolean, nulls: drop}
  derived:
    x: "EXPRESSION"
privacy: {unit: row, epsilon: 1}
statistics:
  rows: {count: rows, where: is_null(x), spend: {share: 1}}
"""
TYPES = {"n": pl.Int64, "m": pl.Int64, "d": pl.Float64, "b": pl.Boolean}


def rows(page: str, first: str) -> list[dict[str, str]]:
    """Return the rows of the table of a page whose first heading has that name."""
    text = (MATHS / page).read_text("utf-8")
    lines = text[text.index("## Examples") :].split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    heading = cells(lines[start])
    found = takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
    return [dict(zip(heading, cells(line), strict=True)) for line in found]


def cells(line: str) -> list[str]:
    """Return the cells of a row of a table."""
    return [cell.strip().strip("`") for cell in line.strip("|").split("|")]


def data(expression: str) -> Data:
    """Return the data with a derived column of that expression."""
    return load_text(SPEC.replace("EXPRESSION", expression), form="yaml").data


@pytest.mark.parametrize(
    "row", rows("derived.md", "expression"), ids=lambda row: row["expression"]
)
def test_bounds_of_expressions(row: dict[str, str]) -> None:
    """Step, bounds, Q and nulls follow by the rules of the page."""
    shape = data(row["expression"]).lattice.derived["x"].shape
    found = {
        "expression": row["expression"],
        "step": str(shape.step),
        "lower": str(shape.lower),
        "upper": str(shape.upper),
        "Q": str(shape.steps),
        "null": "yes" if shape.nullable else "no",
    }
    assert row == found


@pytest.mark.parametrize("row", rows("derived.md", "n"), ids=str)
def test_values_of_expressions(row: dict[str, str]) -> None:
    """The engine gives the value of the page for the row of the page."""
    frame = pl.DataFrame(
        {
            name: pl.Series([_cell(row.get(name, ""))], dtype=dtype)
            for name, dtype in {**TYPES, "c": pl.Float64, "f": pl.Float64}.items()
        }
    )
    ((found,),) = evaluated(frame, data(row["expression"]))
    assert row["value"] == _text(found)


def _cell(text: str) -> Any:
    if not text:
        return None
    return text == "true" if text in ("true", "false") else int(text)


def _text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case _:
            return str(Fraction(value))


@pytest.mark.parametrize("row", rows("dates.md", "date"), ids=lambda row: row["date"])
def test_parts_of_dates(row: dict[str, str]) -> None:
    """The calendar and the reader of cells agree with the page."""
    assert [int(row["day"])] == days(
        wall_seconds(pl.Series([row["date"]]), 0)
    ).to_list()
    seconds = int(row["day"]) * DAY
    for name in row.keys() - {"date", "day"}:
        part = CalendarPart(name)
        assert row[name] == part_key(part, part_index(part, seconds))


@pytest.mark.parametrize("row", rows("dates.md", "text"), ids=lambda row: row["text"])
def test_steps_of_times(row: dict[str, str]) -> None:
    """Texts are read on the column's clock, clamped and floored."""
    first, last = read_time("2020-01-01 00:00"), read_time("2029-12-31 23:59")
    assert first is not None
    assert last is not None
    (second,) = wall_seconds(pl.Series([row["text"]]), 3600).to_list()
    if second is None:
        assert row["u"] == "null"
    else:
        assert int(row["u"]) == (min(max(second, first), last) - first) // 60
