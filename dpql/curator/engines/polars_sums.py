"""Sums as polars expressions that cannot overflow, and how their answers are read.

polars counts rows and Booleans in 32 bits, and a sum of 64 bits wraps without a word.
So a batch counts as small only if it is known to have fewer than 2**32 rows before it
is read. In small batches counts take 32 bits, and sums 64 where steps * 2**32 < 2**63.
Everywhere else counts take 64 bits and sums 128: more than the rows that any machine
can read, and more than 2**62 for each of them. Which of both depends on the kind of
source and on the plan. What batches give is added up as integers of Python or in 128
bits.

A sum is named by what it adds up and over which rows, so steps that need the same sum
share it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from operator import and_, mul

import numpy as np
import polars as pl

from dpql.model.plan import Moment, Step

SMALL = 1 << 32
"""A small batch has fewer rows: polars can count them."""

_SIGNED = 1 << 63

Names = Mapping[int, Mapping[str, str]]
"""For each step, by its place in the plan, the name of the sum of each moment."""

Answer = dict[int, dict[str, list[int]]]
"""For each step the moments of every cell."""

Read = Callable[[pl.DataFrame], Answer]


def sums(
    step: Step,
    grids: Sequence[str],
    mask: Sequence[str],
    *,
    small: bool,
    some: pl.Expr | None = None,
) -> dict[str, pl.Expr]:
    """Return the sum of every moment of a step over the rows that pass the masks.

    Args:
        step: whose moments are summed.
        grids: the columns that are summed.
        mask: the columns that tell which rows count.
        small: whether all batches are known to be small.
        some: a column of the rows, of any type; the first one if it is None.
    """
    inside = reduce(and_, map(pl.col, mask)) if mask else None
    found: dict[str, pl.Expr] = {}
    for moment in step.moments:
        if moment.name == "n":
            total = _counted(inside, some, small=small)
        else:
            places = ["uv".index(letter) for letter in moment.name]
            term = reduce(mul, (pl.col(grids[place]) for place in places))
            reach = reduce(mul, (step.grids[place].steps for place in places))
            assert reach < _SIGNED, "the planner keeps products within 62 bits"
            if inside is not None:
                term = pl.when(inside).then(term).otherwise(0)
            if not small or reach * SMALL >= _SIGNED:
                term = term.cast(pl.Int128)
            total = term.sum()
        found[_name(moment, grids, mask)] = total
    return found


def moment_names(
    step: Step, grids: Sequence[str], mask: Sequence[str]
) -> dict[str, str]:
    """Return under which name `sums` gives each moment."""
    return {moment.name: _name(moment, grids, mask) for moment in step.moments}


def reaching(
    index: int, reached: Sequence[pl.Expr], mask: Sequence[str], *, small: bool
) -> dict[str, pl.Expr]:
    """Return how many rows have reached each cut."""
    masks = [pl.col(name) for name in mask]
    return {
        f"{index}:cut{place}": _counted(reduce(and_, [flag, *masks]), small=small)
        for place, flag in enumerate(reached)
    }


def row_count() -> pl.Expr:
    """Return the number of rows, which may be any."""
    return _counted(None, small=False)


def _counted(
    inside: pl.Expr | None, some: pl.Expr | None = None, *, small: bool
) -> pl.Expr:
    """Return how many rows are inside, or how many there are.

    polars adds up Int8 in 64 bits.
    """
    if small:
        return pl.len() if inside is None else inside.sum()
    if inside is None:
        cell = pl.first() if some is None else some
        inside = cell.is_null() | cell.is_not_null()
    return inside.cast(pl.Int8).sum()


def differences(index: int, count: int) -> Read:
    """Return how the rows of a bin are read: they reached its start, not the next."""

    def read(answer: pl.DataFrame) -> Answer:
        reached = [int(answer.item(0, f"{index}:cut{i}")) for i in range(count)]
        return {index: {"n": [a - b for a, b in pairwise(reached)]}}

    return read


def single(names: Names) -> Read:
    """Return how one row of sums is read."""
    return lambda answer: {
        index: {moment: [int(answer.item(0, name))] for moment, name in given.items()}
        for index, given in names.items()
    }


def scattered(names: Names, count: int) -> Read:
    """Return how a row of sums per cell is read; cells without rows are 0."""

    def read(answer: pl.DataFrame) -> Answer:
        return {
            index: {
                moment: _placed(answer["cell"], answer[name], count)
                for moment, name in given.items()
            }
            for index, given in names.items()
        }

    return read


def joined(reads: Sequence[Read]) -> Read:
    """Return a reader that gathers what each of these reads."""

    def read(answer: pl.DataFrame) -> Answer:
        found: Answer = {}
        for one in reads:
            found |= one(answer)
        return found

    return read


def _name(moment: Moment, grids: Sequence[str], mask: Sequence[str]) -> str:
    factors = [] if moment.name == "n" else moment.name
    product = "*".join(grids["uv".index(letter)] for letter in factors)
    return f"sum {product or 'rows'} of {'&'.join(mask) or 'all'}"


def _placed(cells: pl.Series, numbers: pl.Series, count: int) -> list[int]:
    if numbers.dtype == pl.Int128:  # of which numpy has none
        placed = [0] * count
        for cell, number in zip(cells.to_list(), numbers.to_list(), strict=True):
            placed[cell] = number
        return placed
    found = np.zeros(count, np.int64)
    found[cells.to_numpy()] = numbers.to_numpy()
    listed: list[int] = found.tolist()
    return listed
