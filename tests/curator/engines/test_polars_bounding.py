"""The polars engine bounds units: an allowed choice, exact sums, and nobody's ids."""

from __future__ import annotations

import hashlib
import random
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import oracle
import polars as pl
import pytest
from curator_plans import COLUMNS, known_unit_plan
from exact_sums import WITH_REFERENCE, exact_sums
from hypothesis import given, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator.compilation import compile_program
from dpql.curator.engines import polars_bounding, row_store
from dpql.curator.noise import totals
from dpql.curator.sources import memory
from dpql.language import load_text
from dpql.model.plan import Plan, Step
from dpql.planner import plan
from dpql.statistics.reading import reader_of


def _unit_plan(rows: int, cells: int) -> Plan:
    return plan(
        make_spec(
            {
                "person": "{type: id}",
                "kind": "{type: category, keys: [a, b, c]}",
                "x": "{type: integer, bounds: [0, 100], nulls: drop}",
            },
            {
                "sums": {"sum": "x", "by": "[kind]", "spend": "{share: 1}"},
                "total": {"sum": "x", "where": "x > 1", "spend": "{share: 1}"},
            },
            unit="person",
            contributes=f"{{rows: {rows}, groups: {cells}}}",
        )
    )


def _attainable(
    made: Plan, name: str, table: list[dict[str, Any]], person: Any
) -> set[Any]:
    """Return every result that an allowed choice among a unit's rows could give."""
    step, data = made.step(name), made.spec.data
    assert step.bound is not None
    rows = [row for row in table if row["person"] == person]
    by_cell: dict[Any, list[Any]] = {}
    for row in rows:
        cell = oracle.cell_of(step, row, data)
        if cell is not None:
            by_cell.setdefault(cell, []).append(row)
    results = set()
    for cells in combinations(by_cell, min(step.bound.cells, len(by_cell))):
        choices = [
            combinations(by_cell[cell], min(step.bound.rows, len(by_cell[cell])))
            for cell in cells
        ]
        for choice in product(*choices):
            pairs = [
                (cell, values)
                for cell, some in zip(cells, choice, strict=True)
                for row in some
                if (values := oracle.contribution(step, row, data)) is not None
            ]
            sums = oracle.sums(step, data, pairs)
            results.add(tuple(tuple(sums[moment.name]) for moment in step.moments))
    return results


@given(
    table=st.lists(
        st.fixed_dictionaries(
            {
                "person": st.just("p"),
                "kind": st.sampled_from(["a", "b", "c", "d", None]),
                "x": st.none() | st.integers(-5, 120),
            }
        ),
        max_size=7,
    ),
    rows=st.integers(1, 2),
    cells=st.integers(1, 2),
)
@settings(max_examples=60, deadline=None)
def test_the_engine_makes_an_allowed_choice(
    table: list[dict[str, Any]], rows: int, cells: int
) -> None:
    """The sums are those of some allowed choice among the unit's rows."""
    made = _unit_plan(rows, cells)
    frame = pl.DataFrame(
        table, schema={"person": pl.String, "kind": pl.String, "x": pl.Int64}
    )
    found = exact_sums(made, frame)
    for step, moments in zip(made.steps, found.moments, strict=True):
        result = tuple(tuple(moments[moment.name]) for moment in step.moments)
        assert result in _attainable(made, step.name, table, "p")


@pytest.mark.heavy
@pytest.mark.parametrize("whole_ids", [False, True])
def test_partitions_and_batches_add_up(
    monkeypatch: pytest.MonkeyPatch, *, whole_ids: bool
) -> None:
    """Many partitions and small batches give the integers of one of each."""
    made = _unit_plan(2, 1)
    rng = random.Random(2)
    people = [rng.randrange(60) for _ in range(400)]
    frame = pl.DataFrame(
        {
            "person": people if whole_ids else [f"p{one}" for one in people],
            "kind": [rng.choice("abcd") for _ in range(400)],
            "x": [rng.randrange(120) for _ in range(400)],
        }
    )
    expected = exact_sums(made, frame).moments
    monkeypatch.setattr(polars_bounding, "PARTITION_ROWS", 16)
    assert expected == exact_sums(made, frame).moments
    monkeypatch.setattr(memory, "BATCH_ROWS", 100)
    assert expected == exact_sums(made, frame).moments
    monkeypatch.setattr(polars_bounding, "BATCH_ROWS", 7)
    assert expected == exact_sums(made, frame).moments


def test_rows_without_a_unit_count_for_nothing() -> None:
    """A null id belongs to nobody: its rows are dropped, whatever the relation."""
    made = _unit_plan(2, 2)
    frame = pl.DataFrame(
        {"person": ["p", None, None], "kind": ["a", "a", "b"], "x": [5, 7, 9]}
    )
    found = exact_sums(made, frame)
    assert [5, 0, 0] == found.moments[0]["u"]
    assert [1, 0, 0] == found.moments[0]["n"]
    known = known_unit_plan(3)
    cells = {name: ["12"] * 3 for name in COLUMNS}
    rows = pl.DataFrame({**cells, "person": ["p", None, None]})
    found = exact_sums(known, rows)
    # kids: 12 is 5 steps of 3 above -3.
    assert 3 == found.rows
    assert [5] == found.moments[0]["u"]
    assert [1] == found.moments[0]["n"]


@pytest.mark.parametrize("engine", WITH_REFERENCE.values(), ids=WITH_REFERENCE)
def test_a_mean_is_of_the_rows_that_were_kept(engine: Any) -> None:
    """Of 1,000 rows of 100 ten are kept, and their mean is 100, not 1."""
    column = "{type: integer, bounds: [0, 100], nulls: {as: 0}}"
    statistics = {"mean": "x", "variance": "x", "sum": "x", "count": "rows"}
    spec = make_spec(
        {"p": "{type: id}", "x": column},
        {name: {name: of, "spend": "{share: 1}"} for name, of in statistics.items()},
        rows="{exactly: 1000}",
        unit="p",
        contributes="{rows: 1, groups: 1}",
        neighbours="replace_one",
    )
    made = plan(spec)
    frame = pl.DataFrame({"p": [f"p{i % 10}" for i in range(1000)], "x": [100] * 1000})
    sums = exact_sums(made, frame, engine=engine)
    assert 1000 == sums.rows
    found = {
        step.name: _without_noise(step, moments)
        for step, moments in zip(made.steps, sums.moments, strict=True)
    }
    assert {"mean": 100, "variance": 0, "sum": 1000, "count": 10} == found


def _without_noise(step: Step, moments: Any) -> Fraction:
    """Return the value that exact parts would give."""
    exact = [Fraction(totals(part.measure, moments, 1)[0]) for part in step.parts]
    return reader_of(step)(exact).value


@pytest.mark.parametrize("count", [1, 31, 32, 33, 40, 62, 63, 200])
def test_cells_of_many_selections_are_packed(count: int) -> None:
    """Plans of any number of different filters get words enough for their cells."""
    statistics = {
        f"s{i}": {"count": "rows", "where": f"x > {i}", "spend": "{share: 1}"}
        for i in range(count)
    }
    made = plan(
        make_spec(
            {
                "person": "{type: id}",
                "x": "{type: integer, bounds: [0, 1000], nulls: drop}",
            },
            statistics,
            unit="person",
            contributes="{rows: 1, groups: 1}",
            epsilon="100",
        )
    )
    frame = pl.DataFrame({"person": [1, 1, 2], "x": [50, 50, 150]})
    found = exact_sums(made, frame)
    expected = [(i < 50) + (i < 150) for i in range(count)]
    assert expected == [moments["n"][0] for moments in found.moments]


@pytest.mark.parametrize("bits", [8, 9, 16, 17, 32, 33, 44])
@pytest.mark.parametrize("below", [0, 1])
def test_narrow_columns_hold_their_largest_numbers(bits: int, below: int) -> None:
    """Columns are as narrow as their grids allow, and no narrower."""
    top = (1 << bits) - below
    made = plan(
        make_spec(
            {
                "person": "{type: id}",
                "x": f"{{type: integer, bounds: [0, {top}], nulls: drop}}",
            },
            {"total": {"sum": "x", "spend": "{share: 1}"}},
            unit="person",
            contributes="{rows: 1, groups: 1}",
        )
    )
    assert made.steps[0].grids[0].steps == top
    frame = pl.DataFrame({"person": range(3), "x": [top, top - 1, top + 1]})
    found = exact_sums(made, frame)
    assert [3 * top - 1] == found.moments[0]["u"]


@pytest.mark.parametrize("filters", range(24, 34))
def test_cells_at_the_end_of_a_word_are_told_apart(filters: int) -> None:
    """Groups whose bits end before, at and beyond those of a narrow word are counted.

    Every filter takes one bit of the word, the seven groups behind them take three.
    """
    statistics = {
        f"s{i}": {"count": "rows", "where": f"x > {i}", "spend": "{share: 1}"}
        for i in range(filters)
    }
    statistics["kinds"] = {"count": "rows", "by": "[kind]", "spend": "{share: 1}"}
    made = plan(
        make_spec(
            {
                "person": "{type: id}",
                "kind": "{type: category, keys: [a, b, c, d, e, f, g]}",
                "x": "{type: integer, bounds: [0, 1000], nulls: drop}",
            },
            statistics,
            unit="person",
            contributes="{rows: 1, groups: 1}",
            epsilon="100",
        )
    )
    frame = pl.DataFrame(
        {"person": range(10), "kind": list("abcdefgggx"), "x": [5] * 10}
    )
    found = exact_sums(made, frame)
    assert found.moments[-1]["n"] == [1, 1, 1, 1, 1, 1, 3]
    assert [10 * (i < 5) for i in range(filters)] == [
        moments["n"][0] for moments in found.moments[:-1]
    ]


def _counts(
    rows: list[tuple[int | None, str]], salt: bytes, contributes: str
) -> list[int]:
    """Return the exact counts by key that the engine keeps of rows (unit, key)."""
    text = (
        "dpql: 1\nrelease: few\npurpose: A test.\ndata:\n  source: rows\n"
        "  rows: {at_most: 1000}\n  columns:\n    person: {type: id}\n"
        "    key: {type: category, keys: [a, b, c, d]}\n"
        f"privacy:\n  unit: person\n  contributes: {contributes}\n"
        "  neighbours: add_remove\n  epsilon: 1\n  delta: 0\n"
        "defaults: {alpha: 0.05, gamma: 1e-9, mechanism: geometric}\n"
        "statistics:\n  people:\n    count: rows\n    by: [key]\n"
        "    spend: {share: 1}\n"
    )
    made = plan(load_text(text, form="yaml"))
    frame = pl.DataFrame(
        {"person": [unit for unit, _ in rows], "key": [key for _, key in rows]},
        schema={"person": pl.Int64, "key": pl.String},
    )
    return list(exact_sums(made, frame, salt=salt).moments[0]["n"])


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(60))
def test_rows_without_a_unit_touch_nobody(seed: int) -> None:
    """Null ids beside the id 0 neither widen its bound nor choose its cells."""
    salt = hashlib.sha256(bytes([seed])).digest()
    own = [(0, "abcd"[i % 4]) for i in range(12)]
    nobody: list[tuple[int | None, str]] = [(None, "abcd"[i % 4]) for i in range(12)]
    alone = _counts(list(own), salt, "{rows: 1, groups: 2}")
    beside = _counts([*own, *nobody], salt, "{rows: 1, groups: 2}")
    assert alone == beside
    assert sorted(alone) == [0, 0, 1, 1]
    more = _counts([*own, *nobody, (5, "a")], salt, "{rows: 1, groups: 2}")
    assert sum(abs(x - y) for x, y in zip(more, beside, strict=True)) == 1


def _one_hash(ids: pl.Series, _: int) -> pl.Series:
    return pl.repeat(9, len(ids), dtype=pl.UInt64, eager=True)


@pytest.mark.parametrize("ids", ["bytes", "integers"])
@pytest.mark.parametrize("partition_rows", [1 << 18, 16])
def test_units_whose_hashes_collide_stay_apart(
    ids: str, partition_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all ids have one hash, each unit keeps as much as before."""
    monkeypatch.setattr(polars_bounding, "PARTITION_ROWS", partition_rows)
    made = _unit_plan(2, 1)
    people = [number for number in range(60) for _ in range(5)] + [None] * 9
    random.Random(5).shuffle(people)
    frame = pl.DataFrame(
        {
            "person": people,
            "kind": ["a"] * len(people),
            "x": [7] * len(people),
        },
        schema_overrides={"person": pl.Int64 if ids == "integers" else pl.String},
        strict=False,
    )
    monkeypatch.setattr(pl.Series, "hash", _one_hash)
    sums, total = exact_sums(made, frame).moments
    assert [120, 0, 0] == sums["n"]
    assert [120 * 7] == total["u"]


@pytest.mark.parametrize("collide", [False, True])
def test_a_unit_keeps_the_same_rows_beside_a_twin(
    monkeypatch: pytest.MonkeyPatch, *, collide: bool
) -> None:
    """Another unit of equal rows, of equal hash even, changes nothing of the first."""
    if collide:
        monkeypatch.setattr(pl.Series, "hash", _one_hash)
    made = _unit_plan(2, 2)
    rows = [("abc"[number % 3], number) for number in range(2, 14)]

    def kept(people: list[str]) -> list[list[int]]:
        frame = pl.DataFrame(
            [(one, kind, x) for one in people for kind, x in rows],
            schema={"person": pl.String, "kind": pl.String, "x": pl.Int64},
            orient="row",
        )
        return [list(one["u"]) for one in exact_sums(made, frame).moments]

    alone, twin, both = kept(["p"]), kept(["q"]), kept(["q", "p"])
    added = [[x + y for x, y in zip(*two, strict=True)] for two in zip(alone, twin)]  # noqa: B905
    assert added == both


@pytest.mark.parametrize(("partition_rows", "expected"), [(1 << 17, 1), (2, 4)])
def test_few_rows_make_few_partitions(
    partition_rows: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ceiling of 10**9 rows costs nothing where few come."""
    monkeypatch.setattr(polars_bounding, "PARTITION_ROWS", partition_rows)
    program = replace(compile_program(_unit_plan(2, 1)), declared_rows=10**9)
    columns = {"person": range(5), "kind": [0] * 5, "x": [1] * 5}
    dtypes = {"person": pl.Int64(), "kind": pl.UInt8(), "x": pl.Int64()}
    with closing(polars_bounding.Partitions(program, dtypes, bytes(32))) as partitions:
        partitions.take(partitions.partition(pl.DataFrame(columns, schema=dtypes)))
        assert expected == len(partitions)


@pytest.mark.parametrize("text", [True, False])
def test_the_same_rows_survive_in_a_file(
    *, text: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where many are declared, rows wait in a file, and nothing else changes."""
    made = _unit_plan(2, 1)
    people = [n % 97 for n in range(5000)]
    frame = pl.DataFrame(
        {
            "person": [f"person number {n}" for n in people] if text else people,
            "kind": ["abc"[n % 3] for n in range(5000)],
            "x": [n % 101 for n in range(5000)],
        }
    )
    monkeypatch.setattr(polars_bounding, "PARTITION_ROWS", 500)
    monkeypatch.setattr(memory, "BATCH_ROWS", 300)
    held = exact_sums(made, frame)
    monkeypatch.setattr(row_store, "MOST_BYTES", 0)
    assert held == exact_sums(made, frame)
