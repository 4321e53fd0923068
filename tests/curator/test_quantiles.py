"""Quantiles from rows to released values: ties, cells, units, thinned grids."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from exact_sums import SALT, TABLE, exact_sums
from spec_text import ID, make_spec

from dpql.curator import rehearse, run
from dpql.curator.engines.totals import Counts
from dpql.curator.noise import MANY, chosen
from dpql.mechanisms.quantile_score import scores
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.testing import SeededBits

COLUMNS = {
    "who": ID,
    "key": "{type: category, keys: [a, b, c]}",
    "age": "{type: integer, bounds: [0, 50], nulls: drop}",
    "size": "{type: float, bounds: [0, 8], nulls: drop}",
}
AT = "[1/10, 1/4, 1/2, 3/4, 9/10]"


def _plan(
    statistics: dict[str, dict[str, str]], *, epsilon: str = "400", **options: str
) -> Plan:
    spending = {
        name: {**members, "spend": "{share: 1}"} for name, members in statistics.items()
    }
    return plan(make_spec(COLUMNS, spending, epsilon=epsilon, **options))


def _frame(rows: int, seed: int, *, values: int = 51) -> pl.DataFrame:
    rng = random.Random(seed)
    return pl.DataFrame(
        {
            "who": [f"p{rng.randrange(rows)}" for _ in range(rows)],
            "key": [rng.choice("abx") for _ in range(rows)],
            "age": [rng.choice([*range(values), None]) for _ in range(rows)],
            "size": [rng.uniform(-1, 9) for _ in range(rows)],
        }
    )


def _is_quantile(numbers: list[float], at: Fraction, value: float, off: float) -> bool:
    """Tell whether a value has the rank, ``off`` aside."""
    below = sum(x < value - off for x in numbers)
    above = sum(x > value + off for x in numbers)
    return below <= at * len(numbers) and above <= (1 - at) * len(numbers)


@pytest.mark.parametrize("values", [1, 3, 51])
@pytest.mark.parametrize("engine", TABLE)
def test_with_hardly_any_noise_quantiles_are_exact(engine: str, values: int) -> None:
    """At an epsilon of 400 every value has its rank, however many rows are equal."""
    made = _plan({"ages": {"quantile": "age", "at": AT, "by": "[key]"}})
    frame = _frame(4_000, values, values=values)
    done = run(made, {"rows": frame}, bits=SeededBits(1), engine=engine)
    for value in done["ages"].values:
        key, at = value.cell
        numbers = frame.filter(pl.col("key") == key)["age"].drop_nulls().to_list()
        if numbers:
            assert _is_quantile(numbers, Fraction(at), float(value.value), 0)


def test_thinned_candidates_keep_ranks_within_what_is_stated() -> None:
    """Values of a fine grid have their rank but for the rows nearby."""
    made = _plan({"sizes": {"quantile": "size", "at": AT}})
    frame = _frame(4_000, 1)
    done = run(made, {"rows": frame}, bits=SeededBits(1))
    numbers = [min(max(x, 0.0), 8.0) for x in frame["size"]]
    off = float(made.step("sizes").quantisation)
    assert 0 < off < 8 / 65_536
    for value in done["sizes"].values:
        (at,) = value.cell
        assert _is_quantile(numbers, Fraction(at), float(value.value), off)


def test_a_median_has_no_heading_of_its_own() -> None:
    """A median is one value a group; quantiles have a column `at` behind the groups."""
    made = _plan(
        {
            "middle": {"median": "age", "by": "[key]"},
            "ages": {"quantile": "age", "at": "[1/2]", "by": "[key]"},
        }
    )
    done = run(made, {"rows": _frame(2_000, 3, values=4)}, bits=SeededBits(2))
    middle, ages = done["middle"], done["ages"]
    assert (("key",), ("key", "at")) == (middle.headings, ages.headings)
    assert [("a",), ("b",), ("c",)] == [value.cell for value in middle.values]
    assert [(*value.cell, "1/2") for value in middle.values] == [
        value.cell for value in ages.values
    ]
    filled = slice(0, 2)
    assert [v.value for v in middle.values[filled]] == [
        v.value for v in ages.values[filled]
    ]


@pytest.mark.heavy
def test_quantiles_of_a_cell_never_fall() -> None:
    """With much noise they are drawn out of order, and released in order."""
    made = _plan({"ages": {"quantile": "age", "at": AT, "by": "[key]"}}, epsilon="1")
    for seed in range(6):
        done = rehearse(made, 50, seed)
        values = [value.value for value in done["ages"].values]
        assert 3 * 5 == len(values)
        for first in range(0, len(values), 5):
            cell = values[first : first + 5]
            assert sorted(cell) == cell


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
def test_units_are_bounded_before_rows_are_counted(engine: Any) -> None:
    """The bound acts on cells: candidates split nothing."""
    made = _plan(
        {"ages": {"median": "age", "by": "[key]"}},
        unit="who",
        contributes="{rows: 2, groups: 1}",
    )
    frame = pl.DataFrame(
        {
            "who": [1] * 60 + [2, 3],
            "key": ["a"] * 30 + ["b"] * 30 + ["a", "c"],
            "age": [*range(30), *range(30), 40, 50],
            "size": [0.0] * 62,
        }
    )
    (counts,) = exact_sums(made, frame, engine=engine).counts
    assert (3, 51) == counts.shape
    assert [1, 1] == [counts[0][40], counts[2][50]]
    assert {0, 2} == {int(counts[0][:40].sum()), int(counts[1].sum())}


def test_missing_numbers_count_nowhere_or_at_their_fill() -> None:
    """A dropped null is in no candidate, a filled one in that of the fill."""
    columns = {"x": "{type: integer, bounds: [0, 9], nulls: %s}"}
    frame = pl.DataFrame({"x": [None, 3, None, 99]})
    for nulls, expected in (("drop", {3: 1, 9: 1}), ("{as: 7}", {3: 1, 7: 2, 9: 1})):
        made = plan(
            make_spec(
                {"x": columns["x"] % nulls},
                {"middle": {"median": "x", "spend": "{share: 1}"}},
            )
        )
        (counts,) = exact_sums(made, frame).counts
        (cell,) = counts.tolist()
        assert expected == {i: count for i, count in enumerate(cell) if count}


def test_every_kind_of_file_counts_alike(tmp_path: Path) -> None:
    """Whatever holds the rows, the counts are the same, with and without units."""
    frame = _frame(3_000, 5)
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    frame.write_ipc(tmp_path / "a.arrow")
    statistics = {
        "ages": {"quantile": "age", "at": AT, "by": "[key]"},
        "sizes": {"median": "size"},
    }
    units = {"unit": "who", "contributes": "{rows: 1, groups: 1}"}
    for made in (_plan(statistics), _plan(statistics, **units)):
        expected = exact_sums(made, frame, salt=SALT).counts
        for name in ("a.parquet", "a.csv", "a.arrow"):
            actual = exact_sums(made, tmp_path / name, salt=SALT).counts
            for one, other in zip(expected, actual, strict=True):
                assert one is not None
                assert one.tolist() == other.tolist()


def test_batches_are_added_to_one_array() -> None:
    """Counting takes no second array, and rows in no cell are left out."""
    counts = Counts(2, 3)
    for indices in ([0, 0, 5], [5, 6, 8], []):
        counts.add(np.array(indices, np.int64))
    assert [[2, 0, 0], [0, 0, 2]] == counts.array().tolist()


@pytest.mark.heavy
def test_many_cells_are_chosen_like_few() -> None:
    """From `MANY` cells on lanes are read at once; the law is the same."""
    made = _keyed(MANY, epsilon="400")
    counts = np.zeros((MANY, 51), np.int64)
    counts[:, 17] = 1_000
    done = chosen(made.step("ages"), counts, made.spec.data, SeededBits(3))
    assert {Fraction(17)} == {value.value for value in done.values}


def _keyed(groups: int, **options: str) -> Plan:
    keys = ", ".join(f"k{index}" for index in range(groups))
    return plan(
        make_spec(
            {**COLUMNS, "key": f"{{type: category, keys: [{keys}]}}"},
            {
                "ages": {
                    "quantile": "age",
                    "at": "[1/4, 1/2, 0.9]",
                    "by": "[key]",
                    "spend": "{share: 1}",
                }
            },
            **options,
        )
    )


def test_stated_ranks_are_missed_as_seldom_as_stated() -> None:
    """Ranks of a cell are farther off than stated with probability alpha at most."""
    cells = 600
    made = _keyed(cells, epsilon="0.5", alpha="0.2")
    step = made.step("ages")
    assert step.accuracy is not None
    rng = random.Random(4)
    row = np.bincount(
        [rng.choice([3, 3, 20, 31, 49]) for _ in range(900)], minlength=51
    )
    counts = np.tile(row, (cells, 1))
    done = chosen(step, counts, made.spec.data, SeededBits(7))
    distances = {
        pick.at: scores(row, pick.at) / pick.at.denominator for pick in step.picks
    }
    missed = {
        value.cell[0]
        for value in done.values
        if distances[Fraction(value.cell[1])][int(value.noisy[0])] > step.accuracy
    }
    assert len(missed) <= 0.2 * cells
