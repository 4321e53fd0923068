"""Units keep at most so many rows in so many cells, by their own rows alone."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
import reference_engine as reference
from curator_plans import COLUMNS, known_unit_plan
from hypothesis import given, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator import bounding
from dpql.curator.bounding import (
    Contest,
    content_hashes,
    dealt,
    mixed,
    occurrences,
    ranked,
    row_priorities,
)
from dpql.curator.engines import ENGINES, engine_named, polars_engine
from dpql.curator.noise import totals
from dpql.language import load_text
from dpql.model.plan import Plan, Step
from dpql.planner import plan
from dpql.statistics.readout import read

SALT = b"s" * 32


def survivors(
    ids: list[int],
    cells: list[int],
    contents: list[int],
    *,
    rows: int,
    most: int | None,
    salt: bytes = SALT,
    spread: bool = True,
    apart: bool = True,
) -> list[bool]:
    """Return which rows survive one race.

    All units have one hash unless they ``spread``, all rows unless they are ``apart``.
    """
    units = np.array(ids, np.int64)
    hashes = mixed(np.full(len(ids), salt[0], np.uint64), units.view(np.uint64))
    if not spread:
        hashes = np.full(len(ids), 7, np.uint64)
    counted = np.array(cells, np.int64) + 1
    columns = [np.array(contents, np.int64), counted]
    alike = content_hashes(salt, hashes, columns)
    if not apart:
        alike = np.full(len(ids), 9, np.uint64)
    contest = Contest(units, hashes, alike, np.ones(len(ids), np.bool_), salt)
    keep = np.zeros(len(ids), np.bool_)
    kept = contest.survivors(counted[contest.order], rows=rows, most_cells=most)
    keep[contest.order] = kept
    return keep.tolist()  # type: ignore[no-any-return]


def chosen_slowly(
    ids: list[int], cells: list[int], lots: list[int], *, rows: int, most: int
) -> list[bool]:
    """Return which rows survive, by the words of the module, one row at a time."""
    keep = [False] * len(ids)
    held: dict[int, Counter[int]] = {}
    for place in sorted(range(len(ids)), key=lambda place: lots[place]):
        mine = held.setdefault(ids[place], Counter())
        cell = cells[place]
        if cell >= 0 and (cell in mine or len(mine) < most):
            keep[place] = mine[cell] < rows
            mine[cell] += 1
    return keep


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-1, 3), st.integers(0, 9)), max_size=40
)


@given(given_rows=ROWS, rows=st.integers(1, 3), most=st.integers(1, 3), data=st.data())
@settings(max_examples=150, deadline=None)
def test_bounds_hold_and_nothing_is_wasted(
    given_rows: list[Any], rows: int, most: int, data: Any
) -> None:
    """Each unit keeps exactly as much as its bounds allow, even if all hashes agree.

    Those of the units, those of the contents of different rows, or both.
    """
    ids = [unit for unit, _, _ in given_rows]
    cells = [cell for _, cell, _ in given_rows]
    contents = [content for _, _, content in given_rows]
    spread, apart = data.draw(st.booleans()), data.draw(st.booleans())
    kept = survivors(
        ids, cells, contents, rows=rows, most=most, spread=spread, apart=apart
    )
    there = Counter((u, c) for u, c, _ in given_rows if c >= 0)
    left = Counter((u, c) for (u, c, _), keep in zip(given_rows, kept) if keep)  # noqa: B905
    for unit in set(ids):
        held = [cell for (owner, cell) in left if owner == unit]
        had = [cell for (owner, cell) in there if owner == unit]
        assert min(most, len(had)) == len(held)
        for cell in held:
            assert min(rows, there[unit, cell]) == left[unit, cell]


@given(
    given_rows=ROWS,
    others=ROWS,
    order=st.randoms(use_true_random=False),
    data=st.data(),
)
@settings(max_examples=150, deadline=None)
def test_other_units_and_the_order_do_not_matter(
    given_rows: list[Any], others: list[Any], order: random.Random, data: Any
) -> None:
    """What a unit keeps is the same alone, in company, and in any order.

    That holds for units of equal rows and equal hashes too: ids tell them apart.
    """
    most = data.draw(st.none() | st.integers(1, 2))
    spread = data.draw(st.booleans())
    alone = [(7, max(c, 0) if most is None else c, x) for _, c, x in given_rows]
    if most is None:
        alone = [(u, 0, x) for u, _, x in alone]
    company = [(u, 0 if most is None else c, x) for u, c, x in others]
    mixed_rows = alone + company
    order.shuffle(mixed_rows)

    def kept(table: list[Any]) -> Counter[Any]:
        columns = [list(column) for column in zip(*table, strict=True)] or [[], [], []]
        keep = survivors(*columns, rows=2, most=most, spread=spread)
        return Counter(
            row for row, k in zip(table, keep, strict=True) if k and row[0] == 7
        )

    assert kept(alone) == kept(mixed_rows)


def test_the_choice_is_fair_over_salts() -> None:
    """Over many salts every row and every cell of a unit is kept equally often."""
    picked: Counter[int] = Counter()
    chosen: Counter[int] = Counter()
    tries = 3_000
    for number in range(tries):
        salt = number.to_bytes(4, "little") * 8
        rows = survivors([1] * 4, [0] * 4, [5, 6, 7, 8], rows=1, most=None, salt=salt)
        picked[rows.index(True)] += 1
        cells = survivors([1] * 4, [0, 1, 2, 3], [5] * 4, rows=1, most=1, salt=salt)
        chosen[cells.index(True)] += 1
    # A count of 750 has a standard deviation of 24; 6 of them make no false alarm.
    for count in (picked, chosen):
        assert all(abs(count[i] - tries / 4) < 6 * 24 for i in range(4)), count


def test_the_choice_differs_between_units() -> None:
    """Units of equal content do not all keep the same value in a run."""
    ids = [unit for unit in range(200) for _ in range(2)]
    kept = survivors(ids, [0] * 400, [1, 2] * 200, rows=1, most=None)
    firsts = sum(kept[::2])
    assert 50 < firsts < 150


@given(
    table=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-1, 5), st.integers(0, 2**64 - 1)),
        max_size=60,
        unique_by=lambda row: row[2],
    ),
    rows=st.integers(1, 70),
    most=st.integers(1, 6),
    low=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_rows_are_chosen_as_the_words_say(
    table: list[Any], rows: int, most: int, *, low: bool
) -> None:
    """A unit's rows come in order of priority; new cells enter while there is room.

    Priorities that agree in their high bits are told apart by their low ones.
    """
    ids = [unit for unit, _, _ in table]
    cells = [cell for _, cell, _ in table]
    lots = [place if low else lot for place, (_, _, lot) in enumerate(table)]
    units = np.array(ids, np.int64)
    hashes = mixed(np.zeros(len(ids), np.uint64), units.view(np.uint64))
    known = np.ones(len(ids), np.bool_)
    drawn = np.array(lots, np.uint64)
    with patch.object(bounding, "row_priorities", return_value=drawn):
        contest = Contest(units, hashes, drawn, known, SALT)
    ranks = np.array(cells, np.int64)[contest.order] + 1
    kept = np.zeros(len(ids), np.bool_)
    kept[contest.order] = contest.survivors(ranks, rows=rows, most_cells=most)
    assert chosen_slowly(ids, cells, lots, rows=rows, most=most) == kept.tolist()


@pytest.mark.parametrize("spread", [1, 5, 1 << 20])
@pytest.mark.parametrize("unit_bits", [28, 2, 56])
def test_packed_words_rank_as_whole_keys_do(
    spread: int, unit_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where packed bits tie, the rest decides; where too few fit, whole keys do."""
    monkeypatch.setattr(bounding, "_UNIT_BITS", unit_bits)
    rng = np.random.default_rng(5)
    ids = rng.integers(0, 40, 500)
    hashes = mixed(np.zeros(500, np.uint64), ids.view(np.uint64))
    lots = rng.integers(0, spread, 500).astype(np.uint64) + np.uint64(1 << 63)
    places = ranked(ids, hashes, lots)
    assert list(range(500)) == sorted(places.tolist())
    changes = np.count_nonzero(np.diff(ids[places]))
    assert changes == len(set(ids.tolist())) - 1
    alike = np.diff(ids[places]) == 0
    steps = np.diff(lots[places].astype(np.int64))[alike]
    assert (steps >= 0).all()
    still = steps == 0
    assert (np.diff(places)[alike][still] > 0).all()


HASHES = [0, 1, 2, 1 << 20, 3 << 20, 1 << 48, (1 << 48) + 1, 1 << 63, 2**64 - 1]
"""Hashes of rows, of which some agree in all bits that are sorted."""


@given(
    rows=st.lists(st.tuples(st.integers(-2, 2), st.sampled_from(HASHES)), max_size=50)
)
@settings(max_examples=200, deadline=None)
def test_equal_rows_are_numbered(rows: list[tuple[int, int]]) -> None:
    """Rows of one id and one hash get the numbers from 0 on, each of them once."""
    ids = np.array([unit for unit, _ in rows], np.int64)
    contents = np.array([content for _, content in rows], np.uint64)
    numbers = occurrences(ids, contents).tolist()
    expected = Counter(rows)
    found = {
        row: [n for r, n in zip(rows, numbers, strict=True) if r == row]
        for row in expected
    }
    assert {row: list(range(count)) for row, count in expected.items()} == {
        row: sorted(some) for row, some in found.items()
    }


def test_equal_rows_have_priorities_of_their_own() -> None:
    """No two of many equal rows share a priority, nor do those of other units."""
    ids = np.repeat(np.arange(3), 2_000)
    contents = np.full(6_000, 77, np.uint64) + ids.astype(np.uint64)
    found = row_priorities(SALT, ids, contents)
    assert 6_000 == len(np.unique(found))


def test_stretches_end_between_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stretches, some of one large unit, give what one stretch gives."""
    rng = random.Random(1)
    ids = [rng.choice([1, 2, 3, 4, 5, 5, 5, 5, 5]) for _ in range(500)]
    contents = [rng.randrange(50) for _ in range(500)]
    for most in (None, 2):
        cells = [0 if most is None else rng.randrange(5) for _ in range(500)]
        whole = survivors(ids, cells, contents, rows=3, most=most)
        with monkeypatch.context() as patch:
            patch.setattr(bounding, "_STRETCH", 16)
            assert whole == survivors(ids, cells, contents, rows=3, most=most)


def test_cells_of_large_numbers_are_told_apart() -> None:
    """Where unit, cell and place do not fit into a word, the choice is the same."""
    rng = random.Random(4)
    ids = [rng.randrange(50) for _ in range(400)]
    cells = [rng.randrange(6) for _ in range(400)]
    contents = list(range(400))
    units = np.array(ids, np.int64)
    hashes = mixed(np.zeros(400, np.uint64), units.view(np.uint64))
    alike = content_hashes(SALT, hashes, [np.array(contents, np.int64)])
    contest = Contest(units, hashes, alike, np.ones(400, np.bool_), SALT)
    small = np.array(cells, np.int64)[contest.order] + 1
    kept = [
        contest.survivors(codes, rows=2, most_cells=2).tolist()
        for codes in (small, small << 48)
    ]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("rows", [2**31, 2**63 - 1, 2**63, 10**23])
@pytest.mark.parametrize("most", [None, 10**23])
def test_bounds_beyond_all_numbers_bind_nobody(rows: int, most: int | None) -> None:
    """A bound that no unit can exceed keeps every row, however large it is."""
    ids = [unit for unit in range(200) for _ in range(3)]
    assert all(survivors(ids, [0] * 600, list(range(600)), rows=rows, most=most))


@pytest.mark.parametrize("bits", [0, 1, 6, 8])
def test_every_row_is_dealt_to_the_hand_of_its_unit(bits: int) -> None:
    """Hands are cut from the order; equal hashes meet in one."""
    hashes = np.random.default_rng(6).integers(0, 1 << 64, 300, np.uint64)
    hashes = np.concatenate((hashes, hashes))
    places, ends = dealt(hashes, bits)
    assert list(range(600)) == sorted(places.tolist())
    assert 1 << bits == len(ends)
    hands = np.split(places, ends[:-1])
    owners = {int(hashes[place]): i for i, hand in enumerate(hands) for place in hand}
    for number, hand in enumerate(hands):
        assert all(owners[int(hashes[place])] == number for place in hand)


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
        cell = reference.cell_of(step, row, data)
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
                if (values := reference.contribution(step, row, data)) is not None
            ]
            sums = reference.sums(step, data, pairs)
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
    opened = polars_engine.open_frame(frame, made.spec.data)
    found = polars_engine.add_up(made, opened, salt=SALT, tick=None)
    for step, moments in zip(made.steps, found.moments, strict=True):
        result = tuple(tuple(moments[moment.name]) for moment in step.moments)
        assert result in _attainable(made, step.name, table, "p")


def test_parts_of_the_units_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the units in many parts gives the integers of reading them at once."""
    made = _unit_plan(2, 1)
    rng = random.Random(2)
    frame = pl.DataFrame(
        {
            "person": [f"p{rng.randrange(60)}" for _ in range(400)],
            "kind": [rng.choice("abcd") for _ in range(400)],
            "x": [rng.randrange(120) for _ in range(400)],
        }
    )
    opened = polars_engine.open_frame(frame, made.spec.data)
    whole = polars_engine.add_up(made, opened, salt=SALT, tick=None)
    monkeypatch.setattr(polars_engine, "HAND_ROWS", 16)
    hands = polars_engine.add_up(made, opened, salt=SALT, tick=None)
    assert whole.moments == hands.moments
    monkeypatch.setattr(polars_engine, "PART_ROWS", 100)
    parts = polars_engine.add_up(made, opened, salt=SALT, tick=None)
    assert whole.moments == parts.moments


def test_rows_without_a_unit_count_for_nothing() -> None:
    """A null id belongs to nobody: its rows are dropped, whatever the relation."""
    made = _unit_plan(2, 2)
    frame = pl.DataFrame(
        {"person": ["p", None, None], "kind": ["a", "a", "b"], "x": [5, 7, 9]}
    )
    opened = polars_engine.open_frame(frame, made.spec.data)
    found = polars_engine.add_up(made, opened, salt=SALT, tick=None)
    assert [5, 0, 0] == found.moments[0]["u"]
    assert [1, 0, 0] == found.moments[0]["n"]
    known = known_unit_plan(3)
    cells = {name: ["12"] * 3 for name in COLUMNS}
    rows = pl.DataFrame({**cells, "person": ["p", None, None]})
    opened = polars_engine.open_frame(rows, known.spec.data)
    found = polars_engine.add_up(known, opened, salt=SALT, tick=None)
    # kids: 12 is 5 steps of 3 above -3.
    assert 3 == found.rows
    assert [5] == found.moments[0]["u"]
    assert [1] == found.moments[0]["n"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mean_is_of_the_rows_that_were_kept(engine: str) -> None:
    """Of 1,000 rows of 100 ten are kept, and their mean is 100, not 1."""
    column = "{type: integer, bounds: [0, 100], nulls: {as: 0}}"
    asks = {"mean": "x", "variance": "x", "sum": "x", "count": "rows"}
    spec = make_spec(
        {"p": "{type: id}", "x": column},
        {name: {name: of, "spend": "{share: 1}"} for name, of in asks.items()},
        rows="{exactly: 1000}",
        unit="p",
        contributes="{rows: 1, groups: 1}",
        neighbours="replace_one",
    )
    made = plan(spec)
    frame = pl.DataFrame({"p": [f"p{i % 10}" for i in range(1000)], "x": [100] * 1000})
    module = engine_named(engine)
    assert module is not None
    opened = module.open_frame(frame, made.spec.data)
    sums = module.add_up(made, opened, salt=SALT, tick=None)
    assert 1000 == sums.rows
    found = {
        step.name: _without_noise(step, moments)
        for step, moments in zip(made.steps, sums.moments, strict=True)
    }
    assert {"mean": 100, "variance": 0, "sum": 1000, "count": 10} == found


def _without_noise(step: Step, moments: Any) -> Fraction:
    """Return the value that exact parts would give."""
    exact = [Fraction(totals(part.measure, moments, 1)[0]) for part in step.parts]
    still = [Fraction(0)] * len(exact)
    ends = {"lower": step.lower, "upper": step.upper}
    return read(step.readout, exact, still, **ends, quantisation=Fraction(0)).value


@pytest.mark.parametrize("count", [1, 31, 32, 33, 40, 62, 63, 200])
def test_cells_of_many_races_are_packed(count: int) -> None:
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
    opened = polars_engine.open_frame(frame, made.spec.data)
    found = polars_engine.add_up(made, opened, salt=SALT, tick=None)
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
    opened = polars_engine.open_frame(frame, made.spec.data)
    found = polars_engine.add_up(made, opened, salt=SALT, tick=None)
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
    opened = polars_engine.open_frame(frame, made.spec.data)
    found = polars_engine.add_up(made, opened, salt=SALT, tick=None)
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
    engine = engine_named("polars")
    assert engine is not None
    opened = engine.open_frame(frame, made.spec.data)
    return engine.add_up(made, opened, salt=salt, tick=None).moments[0]["n"]


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
