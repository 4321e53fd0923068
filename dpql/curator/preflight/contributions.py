"""How many rows each statistic loses on the way, counted by the engine itself.

The plan's program is run with a count of rows in place of its sums: without tests and
cells, with tests, with cells, and with the bound on contributions. So what is said of a
statistic holds whatever its tests, columns and cells are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dpql.curator.compilation import Keys, compile_program
from dpql.curator.engines import Sums
from dpql.curator.program import Moment, Program, Selection, Tally
from dpql.model.plan import Bound, Plan

SALT = bytes(32)
"""Which rows survive does not matter here, only how many; a run draws its own."""

_COUNTED = (Moment("n", ()),)

Summed = Callable[[Program, bytes], Sums]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticFit:
    """Rows of a statistic, fewer and fewer.

    Those that pass ``where`` (``passing``), that have declared keys as well
    (``inside``) and an id (``owned``), that the bound on contributions leaves
    (``kept``), and that hold what the statistic needs (``used``). Of its ``cells`` so
    many are ``empty``.
    """

    name: str
    rows: int
    passing: int
    inside: int
    owned: int
    kept: int
    used: int
    cells: int
    empty: int


def statistic_fits(
    plan: Plan, sums: Summed, rows: int, keys: Keys | None = None
) -> tuple[StatisticFit, ...]:
    """Return how many rows of each statistic are lost, and where.

    ``keys`` are the private ones that are taken to be shown.
    """
    program = replace(compile_program(plan, keys), counts_rows=False)
    tallies = program.tallies
    passing = [_counting(tally, axes=False) for tally in tallies]
    inside = [_counting(tally, axes=True) for tally in tallies]
    owned = [_unbounded(one, rows) for one in inside] if program.unit else inside
    kept = [
        replace(counted, selection=tally.selection)
        for counted, tally in zip(inside, tallies, strict=True)
    ]
    used = [
        replace(counted, present=tally.present, counted=tally.counted)
        for counted, tally in zip(kept, tallies, strict=True)
    ]
    free = replace(program, unit=None, tallies=(*passing, *inside))
    bounded = replace(program, tallies=(*owned, *kept, *used))
    found = [*_counts(sums(free, SALT)), *_counts(sums(bounded, SALT))]
    size = len(tallies)
    return tuple(
        StatisticFit(
            name=tally.statistic,
            rows=rows,
            passing=sum(found[index]),
            inside=sum(found[index + size]),
            owned=sum(found[index + 2 * size]),
            kept=sum(found[index + 3 * size]),
            used=sum(found[index + 4 * size]),
            cells=tally.selection.cells,
            empty=sum(count == 0 for count in found[index + size]),
        )
        for index, tally in enumerate(tallies)
    )


def _unbounded(counted: Tally, rows: int) -> Tally:
    """Return a tally that keeps all rows of all units, and none without a unit."""
    selection = counted.selection
    bound = Bound(rows=max(1, rows), cells=selection.cells)
    return replace(counted, selection=Selection(selection.where, selection.axes, bound))


def _counting(tally: Tally, *, axes: bool) -> Tally:
    """Return a tally that counts rows, without a bound on contributions."""
    selection = Selection(
        where=tally.selection.where,
        axes=tally.selection.axes if axes else (),
        bound=None,
    )
    return Tally(tally.statistic, selection, (), _COUNTED)


def _counts(sums: Sums) -> list[list[int]]:
    return [list(moments["n"]) for moments in sums.moments]
