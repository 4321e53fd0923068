"""A program as a few SQL statements, and their answers added up to its cells.

    cells   canonical columns; null where a cell has none
    steps   axes a0.., numbers g0.., tests t0..
    SELECT a0, a1, COUNT(*), SUM(g0), SUM(g0 * g0) FROM steps GROUP BY a0, a1

Axes are few and their codes declared, so joint cells are few: rows are grouped once by
the axes of several tallies, and the sums of joint cells are added up here. Quantiles
and different values have statements of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpql.curator.engines import Sums, Tick
from dpql.curator.engines.sql.cells import Cells
from dpql.curator.engines.sql.expressions import Expressions
from dpql.curator.engines.sql.table import Table
from dpql.curator.factors import Factor
from dpql.curator.program import Axis, Moment, Program, Tally

MOST_JOINT_CELLS = 1 << 12
"""The most joint cells that are summed in one statement."""


@dataclass(slots=True)
class Totals:
    """The sums of all tallies so far."""

    moments: list[dict[str, list[int]]]
    counts: list[NDArray[np.int64] | None]

    @classmethod
    def of(cls, program: Program) -> Totals:
        """Return zeros."""
        return cls(
            moments=[
                {name: [0] * tally.selection.cells for name in tally.names}
                for tally in program.tallies
            ],
            counts=[
                None
                if tally.ranking is None
                else np.zeros(
                    (tally.selection.cells, tally.ranking.candidates), np.int64
                )
                for tally in program.tallies
            ],
        )


Reader = Callable[[Sequence[Any], Totals], None]
"""Adds one row of an answer to the totals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement, and what becomes of the rows of its answer."""

    text: str
    read: Reader


def sums_of_table(program: Program, table: Table, tick: Tick | None) -> Sums:
    """Return the sums of a program, asked of a table; nothing is asked of it later."""
    totals = Totals.of(program)
    rows = None
    try:
        if program.counts_rows:
            rows = int(table.ask(row_count_text(table))[0][0])
        for statement in statements(program, table):
            if tick is not None:
                tick()
            for row in table.ask(statement.text):
                statement.read(row, totals)
    finally:
        table.end()
    return Sums(rows=rows, moments=tuple(totals.moments), counts=tuple(totals.counts))


def row_count_text(table: Table) -> str:
    """Return what counts all rows of a table."""
    counted = table.dialect.answer.format("COUNT(*)")
    return f"SELECT {counted} FROM {table.sql_name}"  # noqa: S608  the name is quoted


def statements(program: Program, table: Table) -> Iterator[Statement]:
    """Yield the statements of a program."""
    for cluster in _clusters(program):
        yield _Builder(program, table).summed(cluster)
    for index, tally in enumerate(program.tallies):
        if tally.ranking is not None:
            yield _Builder(program, table).ranked(index)
        elif tally.distinct is not None:
            yield _Builder(program, table).distinct(index)


def _clusters(program: Program) -> list[list[int]]:
    """Return the tallies that are summed together, those of fewest cells first."""
    found: list[tuple[set[Axis], list[int]]] = []
    summed = [
        index
        for index, tally in enumerate(program.tallies)
        if tally.ranking is None and tally.distinct is None
    ]
    for index in sorted(summed, key=lambda i: program.tallies[i].selection.cells):
        axes = set(program.tallies[index].selection.axes)
        for joint, members in found:
            sizes = (axis.size + 1 for axis in joint | axes)
            if reduce(mul, sizes, 1) <= MOST_JOINT_CELLS:
                joint.update(axes)
                members.append(index)
                break
        else:
            found.append((axes, [index]))
    return [members for _, members in found]


class _Builder:
    """Builds one statement: each expression becomes a column of ``steps`` once."""

    def __init__(self, program: Program, table: Table) -> None:
        self._program = program
        self._dialect = table.dialect
        self._cells = Cells(program.data, table)
        self._made = Expressions(program, self._cells)
        self._axes: dict[str, str] = {}
        self._grids: dict[str, str] = {}
        self._tests: dict[str, str] = {}

    def _axis(self, axis: Axis) -> str:
        found = self._made.position(axis)
        return self._axes.setdefault(found, f"a{len(self._axes)}")

    def _grid(self, expression: str) -> str:
        return self._grids.setdefault(expression, f"g{len(self._grids)}")

    def _test(self, expression: str) -> str:
        return self._tests.setdefault(expression, f"t{len(self._tests)}")

    def _masks(self, tally: Tally) -> list[str]:
        """Return the tests that a row must pass, but for the presence of numbers."""
        tests = (tally.selection.where, tally.counted)
        return [self._test(self._made.test(x)) for x in tests if x is not None]

    def _missing(self, tally: Tally, covered: set[str]) -> list[str]:
        """Return tests for the presence of columns that no sum skips by itself."""
        steps = {
            factor.column: self._grid(self._made.factor(factor))
            for factor in tally.factors
        }
        return [
            f"{steps[name]} IS NOT NULL"
            if name in steps
            else self._test(f"({self._made.cell(name)} IS NOT NULL)")
            for name in tally.present
            if name not in covered
        ]

    def summed(self, members: Sequence[int]) -> Statement:
        """Return the statement that sums the moments of some tallies."""
        tallies = [(index, self._program.tallies[index]) for index in members]
        axes = [
            [self._axis(axis) for axis in tally.selection.axes] for _, tally in tallies
        ]
        keys = list(self._axes.values())
        sums: dict[str, int] = {}
        reads = []
        for (index, tally), own in zip(tallies, axes, strict=True):
            masks = self._masks(tally)
            strides = tally.selection.strides
            at = [(keys.index(a), s) for a, s in zip(own, strides, strict=True)]
            for moment in tally.moments:
                parts = [
                    (len(keys) + sums.setdefault(text, len(sums)), shift)
                    for text, shift in self._sums(tally, moment, masks)
                ]
                reads.append((index, moment.name, at, parts))
        text = self._text([*keys, *map(self._dialect.answer.format, sums)], "", keys)

        def read(row: Sequence[Any], totals: Totals) -> None:
            for index, name, at, parts in reads:
                if all(row[position] is not None for position, _ in at):
                    cell = sum(int(row[position]) * stride for position, stride in at)
                    found = sum(int(row[x] or 0) << shift for x, shift in parts)
                    totals.moments[index][name][cell] += found

        return Statement(text=text, read=read)

    def _sums(
        self, tally: Tally, moment: Moment, masks: Sequence[str]
    ) -> Iterator[tuple[str, int]]:
        """Yield sums whose total, each shifted by so many bits, is the moment."""
        grids = [self._grid(self._made.factor(x)) for x in moment.factors]
        columns = {x.column for x in moment.factors if isinstance(x, Factor)}
        tests = [*masks, *self._missing(tally, columns)]
        only = f" FILTER (WHERE {' AND '.join(tests)})" if tests else ""
        if not grids:
            yield f"COUNT(*){only}", 0
            return
        term, limb = " * ".join(grids), self._dialect.limb
        if limb is None or moment.largest < 1 << limb:
            yield f"SUM({term}){only}", 0
            return
        for shift in range(0, moment.largest.bit_length(), limb):
            part = self._dialect.bits.format(term, shift, (1 << limb) - 1)
            yield f"SUM({part}){only}", shift

    def ranked(self, index: int) -> Statement:
        """Return the statement that counts rows by cell and candidate."""
        tally = self._program.tallies[index]
        assert tally.ranking is not None, "it is one of those"
        candidate = self._grid(self._made.candidate(tally.ranking))

        def read(row: Sequence[Any], totals: Totals) -> None:
            counts = totals.counts[index]
            assert counts is not None, "a ranking has counts"
            counts[self._cell(tally, row), int(row[-2])] += int(row[-1])

        return self._own(tally, [candidate, "COUNT(*)"], candidate, read)

    def distinct(self, index: int) -> Statement:
        """Return the statement that counts the different values in every cell."""
        tally = self._program.tallies[index]
        assert tally.distinct is not None, "it is one of those"
        value = self._grid(self._made.value(tally.distinct))
        (name,) = tally.names

        def read(row: Sequence[Any], totals: Totals) -> None:
            totals.moments[index][name][self._cell(tally, row)] += int(row[-1])

        return self._own(tally, [f"COUNT(DISTINCT {value})"], None, read)

    def _own(
        self, tally: Tally, columns: Sequence[str], key: str | None, read: Reader
    ) -> Statement:
        """Return the statement of one tally, on the rows that are in a cell."""
        axes = [self._axis(axis) for axis in tally.selection.axes]
        masks = [
            *self._masks(tally),
            *self._missing(tally, set()),
            *(f"{axis} IS NOT NULL" for axis in axes),
        ]
        keys = [*axes, *([key] if key else [])]
        selected = [*axes, *map(self._dialect.answer.format, columns)]
        where = f"\nWHERE {' AND '.join(masks)}" if masks else ""
        return Statement(text=self._text(selected, where, keys), read=read)

    @staticmethod
    def _cell(tally: Tally, row: Sequence[Any]) -> int:
        strides = tally.selection.strides
        codes = row[: len(strides)]
        return sum(int(a) * b for a, b in zip(codes, strides, strict=True))

    def _text(self, selected: Sequence[str], where: str, keys: Sequence[str]) -> str:
        columns = {**self._axes, **self._grids, **self._tests}
        steps = ",\n    ".join(f"{x} AS {alias}" for x, alias in columns.items())
        made, last = self._cells.text()
        # Equal axes of a tally are one column, which is grouped by once.
        grouped = f"\nGROUP BY {', '.join(dict.fromkeys(keys))}" if keys else ""
        return (
            f"{made},\nsteps AS (SELECT\n    {steps or '1 AS one'}\n"
            f"  FROM {last}{self._dialect.fence})\n"
            f"SELECT {', '.join(selected)}\nFROM steps{where}{grouped}"
        )
