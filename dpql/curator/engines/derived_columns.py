"""Derived columns of a batch, by numpy: 64-bit integers with flags of what is known.

No operation raises, warns or overflows: the planner has refused all that might meet
2^62. Where nothing is known any number may stand, and it stays unknown. Quotients are
floors, also of negative numbers. The result is a batch with further canonical columns;
nothing later tells them from others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.derived import cells_for, column_bins, column_grid, fill_of
from dpql.curator.engines.day_parts import day_indices, part_indices
from dpql.curator.engines.known_cells import (
    COMPARE,
    Cells,
    Flags,
    affine,
    band,
    both,
    combined,
    compared,
    flags,
    held,
    kleene_and,
    or_missing,
    within,
)
from dpql.curator.engines.steps import cells_of, steps, whole_numbers, whole_steps
from dpql.curator.grid import WholeQuantiser, double
from dpql.curator.program import Program
from dpql.curator.sources.source import canonical_type
from dpql.model import lattice_nodes as nodes
from dpql.model.calendar import DAY
from dpql.model.expression import CalendarPart, Operator
from dpql.model.lattice_nodes import Node
from dpql.model.spec import Data, DateColumn, TimeColumn

_MOST_DAYS = 1 << 20
"""The parts of fewer days are looked up in a table."""


class DerivedColumns:
    """Adds the derived columns of a program to its batches; threads may share it."""

    def __init__(self, program: Program) -> None:
        self._data = program.data
        self._derived = [
            (one.column.name, one.node, canonical_type(one.column, whole_ids=False))
            for one in program.derived
        ]

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the batch with the derived columns behind its own."""
        if not self._derived:
            return batch
        made = _Batch(batch, self._data)
        found = batch.get_columns()
        with np.errstate(all="ignore"):
            for name, node, dtype in self._derived:
                found.append(_series(name, made.derive(name, node), dtype))
        return pl.DataFrame(found)


class _Batch:
    """What is known of the rows of a batch so far."""

    def __init__(self, batch: pl.DataFrame, data: Data) -> None:
        self._batch = batch
        self._data = data
        self._held: dict[str, Cells] = {}

    def derive(self, name: str, node: Node) -> Cells:
        """Return what a node is for every row, and keep it under a name."""
        self._held[name] = held(self._cells(node))
        return self._held[name]

    def _cells(self, node: Node) -> Cells:
        method: Callable[[Any], Cells] = getattr(self, _METHODS[type(node)])
        return method(node)

    def _number(self, node: Node) -> Cells:
        cells, known = self._cells(node)
        return cells.astype(np.int64, copy=False), known

    def _truth(self, node: Node) -> Cells:
        cells, known = self._cells(node)
        return cells.astype(np.bool_, copy=False), known

    def _true(self, node: Node) -> Flags:
        true, known = self._truth(node)
        return true if known is None else true & known

    def _column(self, name: str) -> Cells:
        """Return the canonical cells of a column, 0 where they are null."""
        if name not in self._held:
            column = cells_of(self._batch, name)
            known = column.is_not_null().to_numpy() if column.null_count() else None
            filled = column if known is None else column.fill_null(0)
            self._held[name] = held((filled.to_numpy(), known))
        return self._held[name]

    # Numbers.

    def _number_cell(self, node: nodes.NumberCell) -> Cells:
        grid = column_grid(self._data, node.column, node.steps)
        column = cells_of(self._batch, node.column)
        known = None
        if grid.fill is None and column.null_count():
            known = column.is_not_null().to_numpy()
        if isinstance(grid, WholeQuantiser) and _is_own_number(grid, node):
            return whole_numbers(column, grid).astype(np.int64, copy=False), known
        found = whole_steps(column, grid)
        return affine(found, node.factor, node.base), known

    def _derived_cell(self, node: nodes.DerivedCell) -> Cells:
        return self._held[node.column]

    def _whole(self, node: nodes.Whole) -> Cells:
        return np.full(self._batch.height, node.z, np.int64), None

    def _key_number(self, node: nodes.KeyNumber) -> Cells:
        code, known = self._number(node.operand)
        return affine(code, 1, node.first), known

    def _sum(self, node: nodes.Sum) -> Cells:
        (x, known), (y, also) = self._number(node.left), self._number(node.right)
        operation: np.ufunc = np.add
        right_by = node.right_by
        if right_by < 0:
            operation, right_by = np.subtract, -right_by
        found = combined(operation, affine(x, node.left_by, 0), affine(y, right_by, 0))
        return found, both(known, also)

    def _product(self, node: nodes.Product) -> Cells:
        (x, known), (y, also) = self._number(node.left), self._number(node.right)
        return combined(np.multiply, x, y), both(known, also)

    def _extreme(self, node: nodes.Extreme) -> Cells:
        (x, known), (y, also) = self._number(node.left), self._number(node.right)
        choose = np.maximum if node.largest else np.minimum
        found = combined(
            choose, affine(x, node.left_by, 0), affine(y, node.right_by, 0)
        )
        return found, both(known, also)

    def _absolute(self, node: nodes.Absolute) -> Cells:
        number, known = self._number(node.operand)
        return np.abs(number), known

    def _floor(self, node: nodes.Floor) -> Cells:
        number, known = self._number(node.operand)
        found = affine(number, node.times, node.plus)
        return (found if node.over == 1 else found // node.over), known

    def _quotient(self, node: nodes.Quotient) -> Cells:
        (x, known), (y, also) = self._number(node.x), self._number(node.y)
        scaled = node.c_s * y
        top, bottom = 2 * (node.c_x * x - node.c_y * y) + scaled, 2 * scaled
        sign = np.where(bottom < 0, -1, 1)
        quotient = (top * sign) // np.maximum(bottom * sign, 1)
        inside = np.clip(quotient, 0, node.steps)
        divided = both(both(known, also), y != 0)
        return affine(inside, node.factor, node.base), divided

    def _choice(self, node: nodes.Choice) -> Cells:
        true = self._true(node.condition)
        (yes, known), (no, also) = self._number(node.yes), self._number(node.no)
        found = np.where(true, affine(yes, node.yes_by, 0), affine(no, node.no_by, 0))
        if known is None and also is None:
            return found, None
        return found, np.where(true, flags(known, true), flags(also, true))

    def _filled(self, node: nodes.Filled) -> Cells:
        number, known = self._number(node.operand)
        found = affine(number, node.by, 0)
        return (found if known is None else np.where(known, found, node.fill)), None

    # Keys.

    def _key_cell(self, node: nodes.KeyCell) -> Cells:
        return self._column(node.column)

    def _cell_band(self, node: nodes.CellBand) -> Cells:
        bins = column_bins(self._data, node.column, node.edges)
        column = cells_of(self._batch, node.column)
        known = None
        if bins.quantiser is not None:
            number: NDArray[Any] = steps(column, bins.quantiser)
            filled = bins.quantiser.fill is not None
        else:
            held = column.cast(pl.Float64)
            filled = bins.fill is not None
            number = np.clip(
                held.fill_null(bins.lower).to_numpy(), bins.lower, bins.upper
            )
            if bins.fill is not None:
                number = np.where(held.is_not_null().to_numpy(), number, bins.fill)
        if not filled and column.null_count():
            known = column.is_not_null().to_numpy()
        return band(number, bins.starts, bins.end, known)

    def _key_band(self, node: nodes.Band) -> Cells:
        number, known = self._number(node.operand)
        return band(number, node.starts, node.end, known)

    def _mapped(self, node: nodes.Mapped) -> Cells:
        code, known = self._number(node.operand)
        entries = [*node.codes, node.missing]
        if known is not None:
            code = np.where(known, code, len(node.codes))
        codes = np.array([0 if one is None else one for one in entries], np.int64)
        is_key = np.array([one is not None for one in entries])
        reached = node.codes if known is None else entries
        everywhere = all(one is not None for one in reached)
        return codes.take(code), None if everywhere else is_key.take(code)

    def _part_key(self, node: nodes.PartKey) -> Cells:
        column = self._data.column(node.column)
        cells, known = self._column(node.column)
        fill = fill_of(self._data, node.column)
        if fill is not None and known is not None:
            cells, known = np.where(known, cells, fill), None
        assert isinstance(column, DateColumn | TimeColumn), "others have no parts"
        unit, last = DAY, column.last
        if isinstance(column, TimeColumn):
            all_steps = (column.last - column.first) // column.step + 1
            unit, last = 1, column.first + all_steps * column.step - 1
        inside = (cells >= column.first) & (cells <= last)
        moved = np.where(inside, cells, column.first)
        first_day, last_day = column.first * unit // DAY, last * unit // DAY
        if node.part is CalendarPart.HOUR or last_day - first_day > _MOST_DAYS:
            found = part_indices(node.part, moved * unit)
        else:
            table = _indices_of_days(node.part, first_day, last_day)
            found = table.take((moved if unit == DAY else moved // DAY) - first_day)
        code = found - node.offset
        inside &= (code >= 0) & (code < len(node.shape.keys))
        return np.where(inside, code, 0), both(known, inside)

    # Tests of stored cells.

    def _cell_compare(self, node: nodes.CellCompare) -> Cells:
        unequal = node.operator is Operator.UNEQUAL
        same = Operator.EQUAL if unequal else node.operator
        cells, known = self._column(node.column)
        true = within(cells, cells_for(self._data, node.column, same, node.value))
        return or_missing(true ^ unequal, known, missing=node.missing)

    def _cell_among(self, node: nodes.CellAmong) -> Cells:
        cells, known = self._column(node.column)
        true = np.zeros(len(cells), np.bool_)
        for value in node.values:
            same = cells_for(self._data, node.column, Operator.EQUAL, value)
            true |= within(cells, same)
        return or_missing(true, known, missing=node.missing)

    def _cell_between(self, node: nodes.CellBetween) -> Cells:
        cells, known = self._column(node.column)
        first = cells_for(self._data, node.column, Operator.AT_LEAST, node.lower)
        last = cells_for(self._data, node.column, Operator.AT_MOST, node.upper)
        true = within(cells, first) & within(cells, last)
        return or_missing(true, known, missing=node.missing)

    def _cell_pair(self, node: nodes.CellPair) -> Cells:
        left, known = self._filled_column(node.left, node.left_fill)
        right, also = self._filled_column(node.right, node.right_fill)
        return compared(left, node.operator, right), both(known, also)

    def _filled_column(self, name: str, fill: Any) -> Cells:
        cells, known = self._column(name)
        if fill is None or known is None:
            return cells, known
        value = double(fill) if cells.dtype.kind == "f" else int(fill)
        return np.where(known, cells, value), None

    def _cell_missing(self, node: nodes.CellMissing) -> Cells:
        cells, known = self._column(node.column)
        return ~flags(known, cells), None

    # Tests of numbers and keys.

    def _compare(self, node: nodes.Compare) -> Cells:
        (x, known), (y, also) = self._number(node.left), self._number(node.right)
        compare = COMPARE[node.operator]
        found = compare(affine(x, node.left_by, 0), affine(y, node.right_by, 0))
        return found, both(known, also)

    def _among(self, node: nodes.Among) -> Cells:
        number, known = self._number(node.operand)
        return np.isin(number, np.array(node.values, np.int64)), known

    def _inside(self, node: nodes.Within) -> Cells:
        number, known = self._number(node.operand)
        return (number >= node.lowest) & (number <= node.highest), known

    def _key_among(self, node: nodes.KeyAmong) -> Cells:
        code, known = self._number(node.operand)
        return np.isin(code, np.array(node.codes, np.int64)), known

    def _key_pair(self, node: nodes.KeyPair) -> Cells:
        (left, known), (right, also) = self._number(node.left), self._number(node.right)
        same = np.array(node.codes, np.int64).take(left) == right
        return same ^ node.negated, both(known, also)

    def _missing(self, node: nodes.Missing) -> Cells:
        cells, known = self._cells(node.operand)
        return ~flags(known, cells), None

    def _negation(self, node: nodes.Negation) -> Cells:
        true, known = self._truth(node.operand)
        return ~true, known

    def _conjunction(self, node: nodes.Conjunction) -> Cells:
        return reduce(kleene_and, map(self._truth, node.operands))

    def _disjunction(self, node: nodes.Disjunction) -> Cells:
        negated = [(~true, known) for true, known in map(self._truth, node.operands)]
        false, known = reduce(kleene_and, negated)
        return ~false, known


_METHODS: Mapping[type[Node], str] = MappingProxyType(
    {
        nodes.NumberCell: "_number_cell",
        nodes.KeyCell: "_key_cell",
        nodes.DerivedCell: "_derived_cell",
        nodes.PartKey: "_part_key",
        nodes.KeyNumber: "_key_number",
        nodes.Whole: "_whole",
        nodes.Sum: "_sum",
        nodes.Product: "_product",
        nodes.Extreme: "_extreme",
        nodes.Absolute: "_absolute",
        nodes.Floor: "_floor",
        nodes.Quotient: "_quotient",
        nodes.Choice: "_choice",
        nodes.Filled: "_filled",
        nodes.CellCompare: "_cell_compare",
        nodes.CellAmong: "_cell_among",
        nodes.CellBetween: "_cell_between",
        nodes.CellPair: "_cell_pair",
        nodes.CellMissing: "_cell_missing",
        nodes.Compare: "_compare",
        nodes.Among: "_among",
        nodes.Within: "_inside",
        nodes.KeyAmong: "_key_among",
        nodes.KeyPair: "_key_pair",
        nodes.Missing: "_missing",
        nodes.Negation: "_negation",
        nodes.Conjunction: "_conjunction",
        nodes.Disjunction: "_disjunction",
        nodes.CellBand: "_cell_band",
        nodes.Band: "_key_band",
        nodes.Mapped: "_mapped",
    }
)


def _is_own_number(grid: WholeQuantiser, node: nodes.NumberCell) -> bool:
    """Tell whether z is the cell itself, moved into its bounds."""
    own = (grid.step, node.factor, node.base) == (1, 1, grid.lower)
    return own and grid.fill is None


@lru_cache(maxsize=64)
def _indices_of_days(part: CalendarPart, first: int, last: int) -> NDArray[np.int64]:
    """Return the index of a part for each day from the first to the last."""
    return day_indices(part, np.arange(first, last + 1))


def _series(name: str, cells: Cells, dtype: pl.DataType) -> pl.Series:
    """Return a canonical column."""
    numbers, known = cells
    found = pl.Series("cell", numbers.astype(np.int64, copy=False))
    if known is not None:
        frame = pl.DataFrame([found, pl.Series("known", known)])
        found = frame.select(pl.when("known").then("cell")).to_series()
    return (found if found.dtype == dtype else found.cast(dtype)).alias(name)
