"""Units keep at most so many rows in so many cells, by their own rows alone."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.curator import bounding
from dpql.curator.bounding import (
    Bounder,
    content_hashes,
    mixed,
    occurrences,
    partition_by,
    ranked,
    row_priorities,
)

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
    total: int | None = None,
) -> list[bool]:
    """Return which rows survive one bound.

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
    # Of one hash they are numbered, as the engine does where hashes collide.
    bounder = Bounder(hashes if spread else units.view(np.uint64), alike, salt)
    keep = np.zeros(len(ids), np.bool_)
    kept = bounder.survivors(
        counted[bounder.order],
        count=1 if most is None else 4096,
        rows=rows,
        most_cells=most or 1,
        total=total,
    )
    keep[bounder.order] = kept
    return keep.tolist()  # type: ignore[no-any-return]


def chosen_slowly(
    ids: list[int], cells: list[int], priorities: list[int], *, rows: int, most: int
) -> list[bool]:
    """Return which rows survive, by the words of the module, one row at a time."""
    keep = [False] * len(ids)
    held: dict[int, Counter[int]] = {}
    for row in sorted(range(len(ids)), key=lambda row: priorities[row]):
        mine = held.setdefault(ids[row], Counter())
        cell = cells[row]
        if cell >= 0 and (cell in mine or len(mine) < most):
            keep[row] = mine[cell] < rows
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


@pytest.mark.heavy
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
    priorities = [row if low else high for row, (_, _, high) in enumerate(table)]
    units = np.array(ids, np.int64)
    hashes = mixed(np.zeros(len(ids), np.uint64), units.view(np.uint64))
    drawn = np.array(priorities, np.uint64)
    with patch.object(bounding, "row_priorities", lambda *given: given[2]):
        bounder = Bounder(hashes, drawn, SALT)
    ranks = np.array(cells, np.int64)[bounder.order] + 1
    kept = np.zeros(len(ids), np.bool_)
    kept[bounder.order] = bounder.survivors(ranks, count=6, rows=rows, most_cells=most)
    expected = chosen_slowly(ids, cells, priorities, rows=rows, most=most)
    assert expected == kept.tolist()


@pytest.mark.parametrize("spread", [1, 5, 1 << 20, 1 << 50])
@pytest.mark.parametrize("unit_bits", [28, 2, 0, 50])
def test_packed_words_rank_as_whole_keys_do(spread: int, unit_bits: int) -> None:
    """Where packed bits tie, the rest decides; where too few fit, rows sort twice."""
    rng = np.random.default_rng(5)
    ids = rng.integers(0, 40, 500).astype(np.uint64)
    units = mixed(np.zeros(500, np.uint64), ids)
    heads = units >> np.uint64(64 - unit_bits) if unit_bits else np.zeros_like(units)
    drawn = rng.integers(0, spread, 500).astype(np.uint64) + np.uint64(1 << 63)
    order, *keys = ranked(heads, unit_bits, drawn, units)
    assert [units[order].tolist(), drawn[order].tolist()] == [x.tolist() for x in keys]
    assert list(range(500)) == sorted(order.tolist())
    changes = np.count_nonzero(np.diff(ids[order]))
    assert changes == len(set(ids.tolist())) - 1
    alike = np.diff(ids[order]) == 0
    steps = np.diff(drawn[order].astype(np.int64))[alike]
    assert (steps >= 0).all()
    still = steps == 0
    assert (np.diff(order)[alike][still] > 0).all()


HASHES = [0, 1, 2, 1 << 20, 3 << 20, 1 << 48, (1 << 48) + 1, 1 << 63, 2**64 - 1]
"""Hashes of rows, of which some agree in all bits that are sorted."""


@given(
    rows=st.lists(st.tuples(st.integers(-2, 2), st.sampled_from(HASHES)), max_size=50)
)
@settings(max_examples=200, deadline=None)
def test_equal_rows_are_numbered(rows: list[tuple[int, int]]) -> None:
    """Sorted rows of one id and one hash get the numbers from 0 on, each once."""
    rows = sorted(rows)
    start = np.diff([unit for unit, _ in rows], prepend=-3) != 0
    contents = np.array([content for _, content in rows], np.uint64)
    numbers = occurrences(start, contents).tolist()
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
    start = np.arange(6_000) % 2_000 == 0
    contents = 77 + np.cumsum(start, dtype=np.uint64)
    found = row_priorities(SALT, start, contents)
    assert 6_000 == len(np.unique(found))


def test_cells_of_large_numbers_are_told_apart() -> None:
    """Where unit, cell and index do not fit into a word, the choice is the same."""
    rng = random.Random(4)
    ids = [rng.randrange(50) for _ in range(400)]
    cells = [rng.randrange(6) for _ in range(400)]
    contents = list(range(400))
    units = np.array(ids, np.int64)
    hashes = mixed(np.zeros(400, np.uint64), units.view(np.uint64))
    alike = content_hashes(SALT, hashes, [np.array(contents, np.int64)])
    bounder = Bounder(hashes, alike, SALT)
    small = np.array(cells, np.int64)[bounder.order] + 1
    kept = [
        bounder.survivors(small, count=count, rows=2, most_cells=2).tolist()
        for count in (6, 1 << 48)
    ]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("rows", [2**31, 2**63 - 1, 2**63, 10**23])
@pytest.mark.parametrize("most", [None, 10**23])
def test_bounds_beyond_all_numbers_bind_nobody(rows: int, most: int | None) -> None:
    """A bound that no unit can exceed keeps every row, however large it is."""
    ids = [unit for unit in range(200) for _ in range(3)]
    assert all(survivors(ids, [0] * 600, list(range(600)), rows=rows, most=most))


@pytest.mark.parametrize("bits", [0, 1, 6, 8])
def test_every_row_is_in_the_partition_of_its_unit(bits: int) -> None:
    """Partitions are cut from the order; equal hashes meet in one."""
    hashes = np.random.default_rng(6).integers(0, 1 << 64, 300, np.uint64)
    hashes = np.concatenate((hashes, hashes))
    order, ends = partition_by(hashes, bits)
    assert list(range(600)) == sorted(order.tolist())
    assert 1 << bits == len(ends)
    partitions = [part.tolist() for part in np.split(order, ends[:-1])]
    owners = {int(hashes[row]): n for n, part in enumerate(partitions) for row in part}
    for number, part in enumerate(partitions):
        assert all(owners[int(hashes[row])] == number for row in part)


@given(
    given_rows=ROWS,
    rows=st.integers(1, 3),
    most=st.integers(1, 3),
    total=st.integers(1, 6),
)
@settings(max_examples=100, deadline=None)
def test_total_keeps_some_of_the_survivors(
    given_rows: list[Any], rows: int, most: int, total: int
) -> None:
    """A unit keeps its survivors, or as many of them as the total says."""
    ids, cells, contents = (
        map(list, zip(*given_rows, strict=True))
        if given_rows
        else (
            [],
            [],
            [],
        )
    )
    before = survivors(ids, cells, contents, rows=rows, most=most)
    after = survivors(ids, cells, contents, rows=rows, most=most, total=total)
    assert all(one or not other for one, other in zip(before, after, strict=True))
    for unit in set(ids):
        mine = [row for row, owner in enumerate(ids) if owner == unit]
        held = sum(before[row] for row in mine)
        assert min(held, total) == sum(after[row] for row in mine)
