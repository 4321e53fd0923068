"""Sums as polars expressions that cannot overflow, and how their answers are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from operator import and_, mul

import polars as pl

from dpql.model.plan import Moment, Step

_ROWS = 1 << 32 if pl.get_index_type() == pl.UInt32 else 1 << 40
"""More rows than polars can hold in one frame, or anybody has."""

_SIGNED = 1 << 63

Answer = dict[int, dict[str, list[int]]]
"""For each step, by its place in the plan, the moments of every cell."""

Read = Callable[[pl.DataFrame], Answer]


def sums(
    index: int, step: Step, grids: Sequence[pl.Expr], mask: Sequence[pl.Expr]
) -> dict[str, pl.Expr]:
    """Return the sum of every moment of a step over the rows of its mask."""
    inside = reduce(and_, mask) if mask else None
    found = {}
    for moment in step.moments:
        if moment.name == "n":
            total = pl.len() if inside is None else inside.sum()
        else:
            places = ["uv".index(letter) for letter in moment.name]
            term = reduce(mul, (grids[place] for place in places))
            reach = reduce(mul, (step.grids[place].steps for place in places))
            assert reach < _SIGNED, "the planner keeps products within 62 bits"
            if inside is not None:
                term = pl.when(inside).then(term).otherwise(0)
            if reach * _ROWS >= _SIGNED:
                term = term.cast(pl.Int128)
            total = term.sum()
        found[alias(index, moment)] = total
    return found


def reaching(
    index: int, reached: Sequence[pl.Expr], mask: Sequence[pl.Expr]
) -> dict[str, pl.Expr]:
    """Return how many rows have reached each cut."""
    return {
        f"{index}:cut{place}": reduce(and_, [flag, *mask]).sum()
        for place, flag in enumerate(reached)
    }


def differences(index: int, count: int) -> Read:
    """Return how the rows of a bin are read: they reached its start, not the next."""

    def read(answer: pl.DataFrame) -> Answer:
        reached = [int(answer.item(0, f"{index}:cut{i}")) for i in range(count)]
        return {index: {"n": [a - b for a, b in pairwise(reached)]}}

    return read


def joined(reads: Sequence[Read]) -> Read:
    """Return a reader that gathers what each of these reads."""

    def read(answer: pl.DataFrame) -> Answer:
        found: Answer = {}
        for one in reads:
            found |= one(answer)
        return found

    return read


def places_of(key: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    """Return the place of a key among the declared ones, null for any other."""
    return key.replace_strict(
        list(keys), list(range(len(keys))), default=None, return_dtype=pl.Int64
    )


def alias(index: int, moment: Moment) -> str:
    """Return the name of the sum of a moment of a step."""
    return f"{index}:{moment.name}"
