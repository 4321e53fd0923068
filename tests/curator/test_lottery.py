"""What is kept of a unit is a fair lottery among its rows, and its own affair.

Every law here is exact, and the tests compare counts with it by `relative_entropy` or
by Clopper-Pearson bounds, whose false-alarm rates are proved: at most one in a million
for each comparison. Salts are fixed, so a comparison that passed once passes for ever;
the rate is that of choosing unlucky salts, or of a change that keeps the law.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from exact_sums import WITH_REFERENCE, exact_sums
from hypothesis import given, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator import bounding
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.testing.binomial import probability_down, probability_up
from dpql.testing.fit import relative_entropy

FALSE_ALARM = 1e-6
SLOW_UNITS, UNITS = 100, 400
"""Units of a table, each of which is one trial for each salt."""
SLOW_SALTS, SALTS = 2, 10
CELLS = "abc"

Law = Mapping[int, Fraction]


@cache
def _plan(units: int, rows: int, cells: int) -> Plan:
    """Return a plan that tells what was kept of each unit, by its own name."""
    names = ", ".join(f"u{unit}" for unit in range(units))
    return plan(
        make_spec(
            {
                "person": "{type: id}",
                "name": f"{{type: category, keys: [{names}]}}",
                "cell": f"{{type: category, keys: [{', '.join(CELLS)}]}}",
                "x": "{type: integer, bounds: [0, 100], nulls: drop}",
            },
            {
                "kept": {"sum": "x", "by": "[name]", "spend": "{share: 1}"},
                "chosen": {
                    "count": "rows",
                    "by": "[name, cell]",
                    "spend": "{share: 1}",
                },
            },
            rows="{at_most: 100_000}",
            unit="person",
            contributes=f"{{rows: {rows}, groups: {cells}}}",
        )
    )


def _salt(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(4, "big")).digest()


def _table(units: int, rows: Sequence[tuple[str, int]]) -> pl.DataFrame:
    """Return a table in which every unit has the same rows (cell, x)."""
    owners = [unit for unit in range(units) for _ in rows]
    return pl.DataFrame(
        {
            "person": owners,
            "name": [f"u{unit}" for unit in owners],
            "cell": [cell for _ in range(units) for cell, _ in rows],
            "x": [x for _ in range(units) for _, x in rows],
        }
    )


def _sums(name: str, made: Plan, frame: object, salt: bytes) -> list[Any]:
    found = exact_sums(made, frame, salt=salt, engine=WITH_REFERENCE[name])
    return list(found.moments)


def _size(name: str) -> tuple[int, int]:
    """Return how many units and salts an engine has time for."""
    return (SLOW_UNITS, SLOW_SALTS) if name == "reference" else (UNITS, SALTS)


def _kept(name: str, rows: Sequence[tuple[str, int]], most: int) -> Counter[int]:
    """Return how often the kept rows of a unit have each sum."""
    units, salts = _size(name)
    made, frame = _plan(units, most, 1), _table(units, rows)
    found: Counter[int] = Counter()
    for number in range(salts):
        found.update(_sums(name, made, frame, _salt(number))[0]["u"])
    return found


def _chosen(name: str, rows: Sequence[tuple[str, int]], most: int) -> Counter[int]:
    """Return how often a unit keeps each set of cells, as a number in binary."""
    units, salts = _size(name)
    made, frame = _plan(units, 1, most), _table(units, rows)
    found: Counter[int] = Counter()
    for number in range(salts):
        counts = _sums(name, made, frame, _salt(number))[1]["n"]
        for unit in range(units):
            cells = counts[len(CELLS) * unit : len(CELLS) * (unit + 1)]
            found[sum(kept << index for index, kept in enumerate(cells))] += 1
    return found


def _hypergeometric(others: int, rows: int, kept: int) -> Law:
    """Return how likely so many of ``others`` are among ``kept`` of ``rows``."""
    return {
        found: Fraction(
            comb(others, found) * comb(rows - others, kept - found), comb(rows, kept)
        )
        for found in range(min(others, kept) + 1)
    }


def _successive(sizes: Sequence[int], most: int) -> Law:
    """Return how likely each set of cells is, chosen in turn by the rows they hold."""
    law: dict[int, Fraction] = {}
    for order in permutations(range(len(sizes)), most):
        left, chance = sum(sizes), Fraction(1)
        for cell in order:
            chance *= Fraction(sizes[cell], left)
            left -= sizes[cell]
        kept = sum(1 << cell for cell in order)
        law[kept] = law.get(kept, Fraction(0)) + chance
    return law


def _fits(observed: Mapping[int, int], law: Law) -> bool:
    fit = relative_entropy(observed, law, false_alarm=FALSE_ALARM, least=1)
    return fit.passed


ROWS = [(99, 1, 1), (19, 1, 1), (3, 2, 1), (5, 5, 2), (17, 3, 4), (1, 9, 5), (4, 1, 3)]
"""Rows alike, other rows alike, and how many of all are kept."""


@pytest.mark.stats
@pytest.mark.parametrize("name", WITH_REFERENCE)
@pytest.mark.parametrize(("equal", "others", "kept"), ROWS)
def test_each_row_is_kept_as_often_as_any_other(
    name: str, equal: int, others: int, kept: int
) -> None:
    """Of equal rows and others, as many are kept as a draw of rows would keep."""
    rows = [("a", 0)] * equal + [("a", 1)] * others
    law = _hypergeometric(others, equal + others, kept)
    assert _fits(_kept(name, rows, kept), law)


@pytest.mark.stats
@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_a_rare_row_among_equal_ones_is_kept_rarely(name: str) -> None:
    """Nineteen rows of 0 and one of 100 have a mean near 5 over many units."""
    found = _kept(name, [("a", 0)] * 19 + [("a", 100)], 1)
    trials = found.total()
    low = probability_down(found[100], trials, FALSE_ALARM / 2)
    high = probability_up(found[100], trials, FALSE_ALARM / 2)
    assert {0, 100} == set(found)
    assert low <= 1 / 20 <= high


@pytest.mark.stats
@pytest.mark.parametrize("name", WITH_REFERENCE)
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (8, 1, 1), (6, 3, 1), (1, 30, 9)])
@pytest.mark.parametrize("distinct", [False, True])
def test_cells_are_chosen_in_turn_by_their_rows(
    name: str, most: int, sizes: tuple[int, ...], *, distinct: bool
) -> None:
    """The first cell is drawn in proportion to its rows, the next among the rest."""
    cells = "".join(c * size for c, size in zip(CELLS, sizes, strict=True))
    rows = [(cell, index if distinct else 7) for index, cell in enumerate(cells)]
    assert _fits(_chosen(name, rows, most), _successive(sizes, most))


@cache
def _total_plan(units: int) -> Plan:
    """Return a plan that tells how many rows of each unit are kept in each cell."""
    names = ", ".join(f"u{unit}" for unit in range(units))
    return plan(
        make_spec(
            {
                "person": "{type: id}",
                "name": f"{{type: category, keys: [{names}]}}",
                "cell": f"{{type: category, keys: [{', '.join(CELLS)}]}}",
                "x": "{type: integer, bounds: [0, 100], nulls: drop}",
            },
            {
                "kept": {
                    "count": "rows",
                    "by": "[name, cell]",
                    "contributes": "{rows: 2, groups: 3, total: 2}",
                    "spend": "{share: 1}",
                },
            },
            rows="{at_most: 100_000}",
            unit="person",
            contributes="{rows: 1, groups: 1}",
        )
    )


def _in_first_cell(name: str, sizes: Sequence[int]) -> Counter[int]:
    """Return how many of the first cell's rows a unit keeps, where two are kept."""
    units, salts = _size(name)
    rows = [(cell, 0) for cell, n in zip(CELLS, sizes, strict=True) for _ in range(n)]
    made, frame = _total_plan(units), _table(units, rows)
    found: Counter[int] = Counter()
    for number in range(salts):
        counts = _sums(name, made, frame, _salt(number))[0]["n"]
        kept = [counts[i : i + len(CELLS)] for i in range(0, len(counts), len(CELLS))]
        assert all(sum(one) == 2 for one in kept)
        found.update(one[0] for one in kept)
    return found


@pytest.mark.stats
@pytest.mark.parametrize("name", WITH_REFERENCE)
@pytest.mark.parametrize("sizes", [(40, 1, 1), (2, 1, 1), (7, 2, 1)])
def test_total_is_a_lottery_of_the_survivors(name: str, sizes: tuple[int, ...]) -> None:
    """Each survivor is as likely to be kept, however many competed for its cell."""
    left = [min(2, size) for size in sizes]
    law = _hypergeometric(left[0], sum(left), 2)
    assert _fits(_in_first_cell(name, sizes), law)


@pytest.mark.stats
def test_total_by_priorities_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their priorities the survivors of a large cell would win."""
    monkeypatch.setattr(bounding, "total_tickets", lambda _salt, priorities: priorities)
    law = _hypergeometric(2, 4, 2)
    assert not _fits(_in_first_cell("polars", (40, 1, 1)), law)


def _by_content(_ids: Any, contents: Any) -> Any:
    return np.zeros(len(contents), np.int64)


def _two_alike(ids: Any, contents: Any) -> Any:
    return OCCURRENCES(ids, contents) // 2


OCCURRENCES = bounding.occurrences


@pytest.mark.stats
@pytest.mark.parametrize("rule", [_by_content, _two_alike])
def test_planted_rules_are_seen(
    rule: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal rows that share a priority, all or two and two, are no lottery of rows."""
    monkeypatch.setattr(bounding, "occurrences", rule)
    rows = [("a", 0)] * 19 + [("a", 1)]
    assert not _fits(_kept("polars", rows, 1), _hypergeometric(1, 20, 1))
    rows = [("a", 0)] * 5 + [("a", 1)] * 5
    assert not _fits(_kept("polars", rows, 2), _hypergeometric(5, 10, 2))
    rows = [("a", 7)] * 8 + [("b", 7)] + [("c", 7)]
    assert not _fits(_chosen("polars", rows, 1), _successive((8, 1, 1), 1))


@pytest.mark.stats
def test_a_planted_order_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Priorities that grow with the number of the occurrence are no lottery either."""

    def growing(_salt: bytes, ids: Any, contents: Any) -> Any:
        numbers = OCCURRENCES(ids, contents).astype(np.uint64)
        return (numbers << np.uint64(56)) | (contents >> np.uint64(8))

    monkeypatch.setattr(bounding, "row_priorities", growing)
    rows = [("a", 0)] * 19 + [("a", 1)]
    assert not _fits(_kept("polars", rows, 1), _hypergeometric(1, 20, 1))


TABLES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(CELLS), st.integers(0, 1)),
    max_size=30,
)


def _frame(rows: Sequence[tuple[int, str, int]]) -> pl.DataFrame:
    schema = {"person": pl.Int64, "name": pl.String, "cell": pl.String, "x": pl.Int64}
    held = [(unit, f"u{unit}", cell, x) for unit, cell, x in rows]
    return pl.DataFrame(held, schema=schema, orient="row")


def _of_unit(made: Plan, frame: object, unit: int) -> Any:
    """Return what was kept of one unit, under each statistic."""
    kept, chosen = _sums("polars", made, frame, _salt(1))
    cells = chosen["n"][len(CELLS) * unit : len(CELLS) * (unit + 1)]
    return kept["u"][unit], kept["n"][unit], cells


@given(
    table=TABLES,
    order=st.randoms(use_true_random=False),
    rows=st.integers(1, 3),
    cells=st.integers(1, 2),
)
@settings(max_examples=40, deadline=None)
def test_what_is_kept_of_a_unit_is_its_own_affair(
    table: list[tuple[int, str, int]], order: random.Random, rows: int, cells: int
) -> None:
    """Alone, in company and in any order, of equal rows the same are kept."""
    made = _plan(4, rows, cells)
    shuffled = list(table)
    order.shuffle(shuffled)
    whole, mixed = _frame(table), _frame(shuffled)
    for unit in range(4):
        expected = _of_unit(made, whole, unit)
        alone = whole.filter(person=unit)
        assert expected == _of_unit(made, mixed, unit)
        assert expected == _of_unit(made, alone, unit)


@pytest.mark.parametrize("format_", ["csv", "ndjson", "parquet", "arrow"])
def test_files_do_not_matter(format_: str, tmp_path: Path) -> None:
    """Equal rows of a unit in several files are told apart as those of one file are."""
    rng = random.Random(3)
    rows = [(rng.randrange(4), rng.choice("aab"), rng.randrange(2)) for _ in range(200)]
    made = _plan(4, 2, 2)
    frame = _frame(rows)
    write = {
        "csv": pl.DataFrame.write_csv,
        "ndjson": pl.DataFrame.write_ndjson,
        "parquet": pl.DataFrame.write_parquet,
        "arrow": pl.DataFrame.write_ipc,
    }[format_]
    write(frame, tmp_path / f"whole.{format_}")
    folder = tmp_path / "parts"
    folder.mkdir()
    for index in range(7):
        part = frame.gather_every(7, index)
        write(part, folder / f"{index}.{format_}")
    whole = _sums("polars", made, str(tmp_path / f"whole.{format_}"), _salt(2))
    parts = _sums("polars", made, str(folder / f"*.{format_}"), _salt(2))
    assert whole == parts
