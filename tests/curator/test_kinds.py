"""Every kind of data gives the integers of the reference, whatever its cells are."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference_engine as reference
from curator_frames import frames
from curator_kinds import CELLS, JSON, JUNK, columnar, lines, pandas_frame
from curator_plans import row_plan, unit_plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_parity import answer, same

from dpql.curator.engines import engine_named
from dpql.model.plan import Plan
from dpql.model.spec import Data, NumberColumn

pytestmark = pytest.mark.property

ENGINE = engine_named("polars")
RELAXED = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
PLANS = st.sampled_from([row_plan, lambda: unit_plan(20, 20)])


def _names(plan: Plan) -> list[str]:
    return [column.name for column in plan.spec.data.columns]


def _meaning(cell: Any, name: str, data: Data) -> Any:  # noqa: PLR0911  one per type
    """Return what an object counts as, in words of the reference: the stated rule."""
    number = isinstance(data.column(name), NumberColumn)
    if isinstance(cell, np.generic) and cell.dtype.kind in "iufbU":
        cell = cell.item()
    match cell:
        case bool() | float():
            return cell
        case str():
            return cell
        case int() if abs(cell) > 10**350:
            infinite = float("inf") if cell > 0 else float("-inf")
            return infinite if number else _spelt(cell)
        case int():
            return cell
        case Decimal() if number and not cell.is_snan():
            return cell
        case Decimal() if name == "person" and cell.is_finite():
            return int(cell) if cell == int(cell) else str(cell.normalize())
        case bytes() if name == "person":
            return cell.decode()
    return None


def _spelt(cell: int) -> str | None:
    return str(cell) if cell.bit_length() <= 4096 else None


def _expected(plan: Plan, rows: list[dict[str, Any]]) -> Any:
    data = plan.spec.data
    meant = [
        {name: _meaning(cell, name, data) for name, cell in row.items()} for row in rows
    ]
    return answer(reference, plan, meant)


def _objects(cells: list[Any]) -> Any:
    array = np.empty(len(cells), object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


@given(data=st.data(), make=PLANS)
@RELAXED
def test_objects_count_as_the_rule_says(data: Any, make: Any) -> None:
    """Mixed objects of pandas, numpy and plain lists count cell by cell."""
    plan = make()
    row = st.fixed_dictionaries(dict.fromkeys(_names(plan), CELLS))
    rows = data.draw(st.lists(row, max_size=8))
    expected = _expected(plan, rows)
    columns = {name: [row[name] for row in rows] for name in _names(plan)}
    arrays = {name: _objects(cells) for name, cells in columns.items()}
    frame = pd.DataFrame({n: pd.Series(a, dtype=object) for n, a in arrays.items()})
    unused = pd.Series(_objects([JUNK[i % len(JUNK)] for i in range(len(rows))]))
    for kind in (frame.assign(unused=unused), columns, arrays, dict(frame.items())):
        same(plan, expected, answer(ENGINE, plan, kind))


@given(data=st.data(), make=PLANS)
@RELAXED
def test_lines_of_json_count_as_the_rule_says(
    data: Any, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Values of JSON count as the objects they are."""
    plan = make()
    row = st.dictionaries(st.sampled_from([*_names(plan), "unused"]), JSON)
    rows = data.draw(st.lists(row, max_size=8))
    path = lines(rows, tmp_path_factory.mktemp("lines") / "rows.ndjson")
    whole = [{name: row.get(name) for name in _names(plan)} for row in rows]
    same(plan, _expected(plan, whole), answer(ENGINE, plan, path))


@given(data=st.data(), make=PLANS)
@RELAXED
def test_every_columnar_kind_is_read_alike(
    data: Any, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Frames, files, streams and relations of any types have the same integers."""
    plan = make()
    frame = data.draw(frames(_names(plan)).map(_for_arrow))
    expected = answer(reference, plan, frame)
    for kind in columnar(frame, tmp_path_factory.mktemp("kinds")).values():
        same(plan, expected, answer(ENGINE, plan, kind))


@given(data=st.data(), make=PLANS)
@RELAXED
def test_every_type_of_pandas_is_read_alike(data: Any, make: Any) -> None:
    """Plain, nullable, Arrow, object and categorical columns have the same integers."""
    plan = make()
    frame = data.draw(frames(_names(plan)).map(_for_arrow))
    table = pandas_frame(frame, lambda kinds: data.draw(st.sampled_from(kinds)))
    same(plan, answer(reference, plan, frame), answer(ENGINE, plan, table))


@given(data=st.data(), make=PLANS)
@RELAXED
def test_files_of_several_types_are_one_table(
    data: Any, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A column may have another type in every file of a folder."""
    plan = make()
    suffix, write = data.draw(
        st.sampled_from(
            [(".parquet", pl.DataFrame.write_parquet), (".ipc", pl.DataFrame.write_ipc)]
        )
    )
    parts = data.draw(st.lists(frames(_names(plan), size=3), min_size=1, max_size=4))
    folder = tmp_path_factory.mktemp("parts")
    for place, part in enumerate(parts):
        order = data.draw(st.permutations(_names(plan)))
        write(part.select(order), folder / f"{place}{suffix}")  # type: ignore[operator]
    rows = [row for part in parts for row in part.to_dicts()]
    expected = answer(reference, plan, rows)
    same(plan, expected, answer(ENGINE, plan, folder))
    same(plan, expected, answer(ENGINE, plan, str(folder / f"*{suffix}")))


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([0.1, 16777217, 5], dtype=pl.Float32),
        pl.Series([0.1, 5, 5], dtype=pl.Float16),
        pl.Series([Decimal("0.10"), Decimal("12.34"), None]),
        pl.Series([True, False, None]),
        pl.Series([2**64 - 1, 2**63, 17], dtype=pl.UInt64),
        pl.Series([2**53 + 1, 17, None]),
        pl.Series(["0.1", "17", "x"], dtype=pl.Categorical),
        pl.Series([None, None, None], dtype=pl.Null),
    ],
    ids=lambda cells: str(cells.dtype),
)
@pytest.mark.parametrize("beside", [["x"], [0.5], [3]])
def test_a_number_is_the_same_beside_any_other_type(
    cells: pl.Series, beside: list[Any], tmp_path: Path
) -> None:
    """Whatever the types of other files are, a cell is the number it was."""
    plan = row_plan()
    words = ("region", "kind")
    numbers = [name for name in _names(plan) if name not in words]
    parts = [
        pl.DataFrame(dict.fromkeys(numbers, column)).with_columns(
            pl.lit("a").alias(name) for name in words
        )
        for column in (cells, pl.Series(beside))
    ]
    for place, part in enumerate(parts):
        part.write_parquet(tmp_path / f"{place}.parquet")
    rows = [row for part in parts for row in part.to_dicts()]
    same(plan, answer(reference, plan, rows), answer(ENGINE, plan, tmp_path))


def _for_arrow(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Int128).cast(pl.Int64, strict=False))


@pytest.mark.parametrize(
    "place", range(len(JUNK)), ids=lambda p: type(JUNK[p]).__name__
)
def test_what_is_no_value_is_missing(place: int) -> None:
    """Lists, bytes, dates and strangers count as None does, but for bytes as ids."""
    plan = unit_plan(20, 20)
    cells = dict.fromkeys(_names(plan), 17)
    rows = [{**cells, name: None} for name in cells]
    if isinstance(JUNK[place], bytes):
        rows[0] = cells
    columns = {
        name: [JUNK[place] if row[name] is None else 17 for row in rows]
        for name in cells
    }
    same(plan, answer(reference, plan, rows), answer(ENGINE, plan, columns))


def test_one_object_changes_no_other() -> None:
    """A stray cell in a column of integers leaves the others what they were."""
    plan = row_plan()
    ages = [20, 40, 2**53 + 1]
    cells = {name: [None] * 3 for name in _names(plan)}
    alone = answer(ENGINE, plan, {**cells, "age": ages, "big": ages})
    longer = {name: [None] * 4 for name in _names(plan)}
    for stray in ["x", [1], b"1", pd.NA, Decimal(1), "1e400"]:
        big = [*ages, stray]
        frame = pd.DataFrame({**longer, "age": big, "big": big}, dtype=object)
        found = answer(ENGINE, plan, frame)
        for name in ("total_age", "total_big", "ages"):
            place = plan.steps.index(plan.step(name))
            one, other = dict(alone.moments[place]), dict(found.moments[place])
            assert all(
                abs(a - b) <= (10**18 if moment == "u" else 1)
                for moment, totals in one.items()
                for a, b in zip(totals, other[moment], strict=True)
            )


def test_the_rule_is_the_same_in_a_folder_of_one_file(tmp_path: Path) -> None:
    """A folder, its file and the frame agree."""
    plan = row_plan()
    frame = pl.DataFrame({name: [1, None, 17] for name in _names(plan)})
    frame.write_parquet(tmp_path / "a.parquet")
    expected = answer(ENGINE, plan, frame)
    same(plan, expected, answer(ENGINE, plan, tmp_path))
    same(plan, expected, answer(ENGINE, plan, tmp_path / "a.parquet"))
