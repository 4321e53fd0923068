"""Different values are counted exactly: marked in a table, or kept as pairs."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import oracle
import polars as pl
import pytest
from exact_sums import SALT, TABLE, WITH_REFERENCE, exact_sums, same
from spec_text import make_spec

from dpql.curator.compilation import compile_program
from dpql.curator.engines import polars_values
from dpql.curator.engines.polars_values import Values, is_marked, pairs
from dpql.curator.program import Distinct
from dpql.model.plan import Plan
from dpql.planner import plan

COLUMNS = {
    "person": "{type: id}",
    "group": "{type: category, keys: [a, b, c]}",
    "place": "{type: category, keys: [x, y, z]}",
    "plane": "{type: id}",
    "year": "{type: integer, bounds: [0, 9], nulls: drop}",
    "weight": "{type: decimal, bounds: [0, 10], step: 0.25, nulls: {as: 1}}",
    "large": "{type: integer, bounds: [0, 1e13], nulls: drop}",
}
VALUES = ("place", "plane", "year", "weight", "large")
CODES = Distinct("place", None, 3)
IDS = Distinct("plane", None, None)


@cache
def _plan(unit: str, contributes: str | None) -> Plan:
    asked: dict[str, dict[str, str]] = {}
    for name in VALUES:
        asked[f"{name}_by"] = {"distinct": name, "by": "[group]"}
        asked[f"{name}_all"] = {"distinct": name, "where": "year > 2"}
    if unit != "row":
        asked["units"] = {"count": "units", "by": "[group]"}
        asked["units_all"] = {"count": "units"}
    statistics = {name: {**one, "spend": "{share: 1}"} for name, one in asked.items()}
    return plan(make_spec(COLUMNS, statistics, unit=unit, contributes=contributes))


def _table(rows: int, seed: int, *, numbers: bool) -> pl.DataFrame:
    draw = random.Random(seed)
    ids: list[Any] = [*range(20), 2**63 - 1, -1] if numbers else list("pqrstuv")
    held = [
        {
            "person": draw.choice([1, 2, 3, 4, None]),
            "group": draw.choice(["a", "b", "c", "other", None]),
            "place": draw.choice(["x", "y", "z", "other", None]),
            "plane": draw.choice([*ids, None]),
            "year": draw.choice([None, *range(-2, 14)]),
            "weight": draw.choice([None, 0.1, 0.3, 5.0, 99.0]),
            "large": draw.choice([None, 1, 10**12, 10**12 + 1, 10**15]),
        }
        for _ in range(rows)
    ]
    return pl.DataFrame(held, infer_schema_length=None)


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("marks", [0, polars_values.MOST_MARKS])
@pytest.mark.parametrize("bound", [("row", None), ("person", "{rows: 999, groups: 3}")])
@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_values_are_those_of_the_oracle(
    name: str,
    bound: tuple[str, str | None],
    marks: int,
    numbers: bool,  # noqa: FBT001  a parameter
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nulls and undeclared keys are no values; a fill is one."""
    monkeypatch.setattr(polars_values, "MOST_MARKS", marks)
    monkeypatch.setattr(polars_values, "_LEAST_PAIRS", 2)
    made = _plan(*bound)
    for rows in (0, 1, 7, 400):
        frame = _table(max(1, rows), rows, numbers=numbers)[:rows]
        expected = oracle.plan_sums(made, frame, salt=SALT)
        found = exact_sums(made, frame, engine=WITH_REFERENCE[name])
        same(made, expected, found)


@pytest.mark.parametrize("name", TABLE)
def test_a_unit_keeps_as_many_values_as_rows(name: str) -> None:
    """A total bounds the values of a unit, which counts once in so many groups."""
    frame = pl.DataFrame(
        {
            "person": [1] * 300,
            "group": list("abc") * 100,
            "place": ["x"] * 300,
            "plane": [f"p{i}" for i in range(300)],
            "year": [5] * 300,
            "weight": [1.0] * 300,
            "large": list(range(300)),
        }
    )
    made = _plan("person", "{rows: 4, groups: 2, total: 5}")
    found = exact_sums(made, frame, engine=TABLE[name]).moments
    sums = {step.name: dict(one) for step, one in zip(made.steps, found, strict=True)}
    assert 5 == sum(sums["plane_by"]["d"]) == sum(sums["large_by"]["d"])
    assert [0, 1, 1] == sorted(sums["place_by"]["d"])
    assert [4] == sums["plane_all"]["d"]
    assert [0, 1, 1] == sorted(sums["units"]["n"])
    assert [1] == sums["units_all"]["n"]


def test_rows_of_other_ids_are_other_rows() -> None:
    """Which ids of a unit survive does not depend on where its rows stand."""
    units = range(200)
    frame = pl.DataFrame(
        {
            "person": [unit for unit in units for _ in range(2)],
            "group": ["a"] * 400,
            "place": ["x"] * 400,
            "plane": [plane for unit in units for plane in ("common", f"own{unit}")],
            "year": [5] * 400,
            "weight": [1.0] * 400,
            "large": [1] * 400,
        }
    )
    made = _plan("person", "{rows: 1, groups: 1}")
    names = [step.name for step in made.steps]
    one, other = (
        exact_sums(made, some).moments[names.index("plane_by")]["d"]
        for some in (frame, frame.reverse())
    )
    assert one == other
    assert 50 < one[0] < 150


def test_form_follows_from_the_program() -> None:
    """Few pairs of known values are marked; ids never are."""
    assert is_marked(CODES, 100)
    assert not is_marked(CODES, polars_values.MOST_MARKS)
    assert not is_marked(IDS, 1)


def test_duplicates_of_batches_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The set is no larger than twice its pairs and a batch, however many come."""
    monkeypatch.setattr(polars_values, "_LEAST_PAIRS", 10)
    values = Values(IDS, 2)
    for _ in range(100):
        cells = np.array([0, 0, 1, 1])
        values.add(pairs(IDS, 2, cells, pl.Series(["a", "b", "a", "a"])))
        assert sum(frame.height for frame in values._frames) <= 13
    assert [2, 1] == values.counts()


def test_program_says_what_is_counted() -> None:
    """A reviewer reads which values are told apart, and what drops a row."""
    text = str(compile_program(_plan("row", None)))
    assert "counts  different values of plane" in text
    assert "counts  different values of year 0 to 9 in 9 steps" in text
    assert "drops   rows in which place is null" in text
