"""A slow engine in plain Python: it interprets a program, row by row.

It has the functions of an engine, so the parity suite runs it beside the others. How
cells become canonical is the oracle's matter, which shares no code with the sources.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import oracle_cells
from reference_nodes import node_value

from dpql.curator.conditions import (
    Conjunction,
    Disjunction,
    Known,
    Negation,
    OneOf,
    Present,
    Test,
    Within,
)
from dpql.curator.engines import Sums
from dpql.curator.factors import Factor, Flag
from dpql.curator.grid import Bins, Quantiser, WholeQuantiser
from dpql.curator.program import BinAxis, Distinct, KeyAxis, Program, Selection, Tally
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Data,
    DateColumn,
    NumberColumn,
    TimeColumn,
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """Canonical rows."""

    rows: Sequence[Row]


def open_source(frame: Any, data: Data) -> Rows:
    """Return the rows of a polars frame, or rows as they are, in canonical form."""
    return Rows(
        [
            {name: _canonical(data, name, cell) for name, cell in row.items()}
            for row in oracle.rows_of(frame)
        ]
    )


def _with_derived(program: Program, row: Row) -> Row:
    found = dict(row)
    for one in program.derived:
        found[one.column.name] = node_value(one.node, found, program.data)
    return found


def sums(program: Program, source: Rows, *, salt: bytes, tick: object) -> Sums:
    """Return every moment of every tally."""
    del tick
    source = Rows([_with_derived(program, row) for row in source.rows])
    return Sums(
        rows=len(source.rows) if program.counts_rows else None,
        moments=tuple(
            _moments(program, tally, source.rows, salt) for tally in program.tallies
        ),
        counts=tuple(
            _counts(program, tally, source.rows, salt) for tally in program.tallies
        ),
    )


def _canonical(data: Data, name: str, cell: Any) -> Any:  # noqa: PLR0911
    if all(name != column.name for column in data.columns):
        return None
    column = data.column(name)
    if isinstance(column, NumberColumn):
        return oracle.number(column, cell)
    if isinstance(column, BooleanColumn):
        return oracle_cells.truth(cell)
    if isinstance(column, DateColumn):
        return oracle_cells.day(cell)
    if isinstance(column, TimeColumn):
        return oracle_cells.second(cell, 60 * column.zone)
    if isinstance(column, CategoryColumn):
        word = str(oracle_cells.whole(cell)) if column.numeric else oracle.words(cell)
        return column.keys.index(word) if word in column.keys else None
    return oracle.unit_of(cell)


def _moments(
    program: Program, tally: Tally, rows: Sequence[Row], salt: bytes
) -> dict[str, list[int]]:
    if tally.distinct is not None:
        return {"d": _different(tally, tally.distinct, program, rows, salt)}
    totals = {x.name: [0] * tally.selection.cells for x in tally.moments}
    for row, cell in _surviving(program, tally, rows, salt):
        for moment in tally.moments:
            terms = (_number(x, row) for x in moment.factors)
            totals[moment.name][cell] += math.prod(terms)
    return totals


def _number(factor: Factor | Flag, row: Row) -> int:
    if isinstance(factor, Flag):
        return int(_holds(factor.test, row))
    return _steps(factor.quantiser, row[factor.column])


def _different(
    tally: Tally,
    distinct: Distinct,
    program: Program,
    rows: Sequence[Row],
    salt: bytes,
) -> list[int]:
    """Return how many different values the rows of every cell have."""
    found: list[set[Any]] = [set() for _ in range(tally.selection.cells)]
    for row, cell in _surviving(program, tally, rows, salt):
        value = row[distinct.column]
        if distinct.factor is not None:
            value = _steps(distinct.factor.quantiser, value)
        found[cell].add(value)
    return [len(one) for one in found]


def _counts(program: Program, tally: Tally, rows: Sequence[Row], salt: bytes) -> Any:
    ranking = tally.ranking
    if ranking is None:
        return None
    counts = np.zeros((tally.selection.cells, ranking.candidates), np.int64)
    for row, cell in _surviving(program, tally, rows, salt):
        steps = _steps(ranking.factor.quantiser, row[ranking.factor.column])
        candidate = math.floor(Fraction(steps, ranking.stride) + Fraction(1, 2))
        counts[cell, candidate] += 1
    return counts


def _surviving(
    program: Program, tally: Tally, rows: Sequence[Row], salt: bytes
) -> Iterator[tuple[Row, int]]:
    """Yield the rows that count for a tally, each with its cell."""
    cells = [_cell(tally.selection, row) for row in rows]
    if program.unit is not None:
        cells = _bounded(tally.selection, cells, rows, program.unit, salt)
    for row, cell in zip(rows, cells, strict=True):
        counted = tally.counted is None or _holds(tally.counted, row)
        present = all(row[name] is not None for name in tally.present)
        if cell is not None and present and counted:
            yield row, cell


def _bounded(
    selection: Selection,
    cells: Sequence[int | None],
    rows: Sequence[Row],
    unit: str,
    salt: bytes,
) -> list[int | None]:
    """Return the cells of the rows that survive, None for the others.

    Every row of a unit draws a ticket, and the rows come in that order. A row is kept
    if its cell has room, or if it opens a cell that has.
    """
    bound = selection.bound
    assert bound is not None
    units: dict[Any, list[Any]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for index, row in enumerate(rows):
        if row[unit] is not None:
            content = repr(sorted(row.items()))
            ticket = oracle.ticket(salt, content, seen[content])
            units[row[unit]].append((ticket, index))
            seen[content] += 1
    kept: list[int | None] = [None] * len(rows)
    for tickets in units.values():
        used: Counter[int] = Counter()
        for _, index in sorted(tickets):
            cell = cells[index]
            if cell is None or (cell not in used and len(used) == bound.cells):
                continue
            if used[cell] < bound.rows:
                kept[index] = cell
            used[cell] += 1
        left = [pair for pair in tickets if kept[pair[1]] is not None]
        for index in oracle.beyond(bound, left, salt):
            kept[index] = None
    return kept


def _cell(selection: Selection, row: Row) -> int | None:
    if selection.where is not None and not _holds(selection.where, row):
        return None
    cell = 0
    for axis, stride in zip(selection.axes, selection.strides, strict=True):
        index = _index(axis, row[axis.column])
        if index is None:
            return None
        cell += index * stride
    return cell


def _index(axis: KeyAxis | BinAxis, cell: Any) -> int | None:
    if isinstance(axis, KeyAxis):
        return axis.fill if cell is None else int(cell)
    if cell is None and axis.drops_nulls:
        return None
    number = _binned(axis.bins, cell)
    if not axis.bins.starts[0] <= number <= axis.bins.end:
        return None
    return sum(start <= number for start in axis.bins.starts) - 1


def _binned(bins: Bins, cell: Any) -> Any:
    if bins.quantiser is not None:
        return _steps(bins.quantiser, cell)
    return bins.fill if cell is None else max(min(float(cell), bins.upper), bins.lower)


def _steps(quantiser: Quantiser, cell: Any) -> int:
    if cell is None:
        assert quantiser.fill is not None
        return quantiser.fill
    inside = max(min(cell, quantiser.upper), quantiser.lower)
    if isinstance(quantiser, WholeQuantiser):
        if quantiser.floors:
            return int((inside - quantiser.lower) // quantiser.step)
        doubled = 2 * (inside - quantiser.lower) + quantiser.step
        return int(doubled // (2 * quantiser.step))
    scaled = (float(inside) - quantiser.lower) * quantiser.scale + 0.5
    if math.isinf(scaled):
        return quantiser.steps
    return min(max(math.floor(scaled), 0), quantiser.steps)


def _holds(test: Test, row: Row) -> bool:
    """Say whether a test is true of a row; null is not."""
    return _truth(test, row) is True


def _truth(test: Test, row: Row) -> bool | None:  # noqa: PLR0911  one per kind
    match test:
        case Negation(operand=operand):
            found = _truth(operand, row)
            return None if found is None else not found
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            decisive = isinstance(test, Disjunction)
            answers = [_truth(one, row) for one in operands]
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
        case Known(operand=operand):
            return _truth(operand, row) is not None
        case Present(column=name):
            return row[name] is not None
        case OneOf(column=name, codes=codes):
            return None if row[name] is None else row[name] in codes
        case Within(column=name, lower=lower, upper=upper):
            cell = row[name]
            if cell is None:
                return None
            return (lower is None or cell >= lower) and (upper is None or cell <= upper)
