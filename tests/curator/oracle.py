"""Sums in plain Python, written from the words of the design alone.

It knows a plan and nothing of programs, so it notices what is lost when a plan is
compiled. Rows are dictionaries of Python values, one per row.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import product
from typing import Any

from dpql.curator.engines import Sums
from dpql.model.plan import Bound, Plan, Step
from dpql.model.spec import (
    CategoryColumn,
    Condition,
    Data,
    DropNulls,
    FillNulls,
    IdColumn,
    Neighbours,
    NumberColumn,
    NumberType,
    Operator,
)

Row = Mapping[str, Any]

_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL = re.compile(r"[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)
_COMPARE: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQUAL: lambda a, b: a == b,
    Operator.UNEQUAL: lambda a, b: a != b,
    Operator.LESS: lambda a, b: a < b,
    Operator.AT_MOST: lambda a, b: a <= b,
    Operator.GREATER: lambda a, b: a > b,
    Operator.AT_LEAST: lambda a, b: a >= b,
}
_WHOLE = 1 << 60
_FARTHEST = 1 << 62
_MOST_DIGITS = 5000


def rows_of(frame: Any) -> list[Row]:
    """Return the rows of a polars frame, or rows as they are."""
    return frame.to_dicts() if hasattr(frame, "to_dicts") else list(frame)


def plan_sums(plan: Plan, frame: Any, *, salt: bytes) -> Sums:
    """Return every moment of every cell, one row after another."""
    rows = rows_of(frame)
    public = plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE
    return Sums(
        rows=len(rows) if public else None,
        moments=tuple(_moments(plan, step, rows, salt) for step in plan.steps),
        counts=(None,) * len(plan.steps),
    )


def axes(step: Step, data: Data) -> list[range]:
    """Return the positions along each axis of the cells of a step."""
    sizes = [len(data.column(name).keys) for name in step.by]  # type: ignore[union-attr]
    if step.statistic == "histogram":
        column = data.column(step.columns[0])
        bins = len(step.edges) - 1
        sizes.append(len(column.keys) if isinstance(column, CategoryColumn) else bins)
    return [range(size) for size in sizes]


def cell_of(step: Step, row: Row, data: Data) -> tuple[int, ...] | None:
    """Return the cell a row is in, None if it is in none or fails the filter."""
    if step.where is not None and not holds(step.where, row, data):
        return None
    names = list(step.by)
    histogram = step.statistic == "histogram"
    if histogram and not step.edges:
        names += step.columns
    positions: list[int] = []
    for name in names:
        keys = data.column(name).keys  # type: ignore[union-attr]
        word = words(row[name])
        if word not in keys:
            return None
        positions.append(keys.index(word))
    if histogram and step.edges:
        position = _bin(step, row, data)
        if position is None:
            return None
        positions.append(position)
    return tuple(positions)


def contribution(step: Step, row: Row, data: Data) -> tuple[int, ...] | None:
    """Return the steps of the summed columns; None where the row does not count."""
    found = []
    if step.condition is not None:
        answer = decided(step.condition, row, data)
        if answer is None and step.joint:
            return None
        found.append(int(answer is True))
    for grid in step.grids:
        column = data.column(grid.column)
        assert isinstance(column, NumberColumn)
        u = index(column, row[grid.column], grid.steps)
        if u is None:
            if isinstance(column.nulls, DropNulls):
                return None
            u = fill_index(column, grid.steps)
        found.append(u)
    return tuple(found)


def sums(step: Step, data: Data, rows: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Return the moments of pairs (cell, steps of the columns)."""
    order = {cell: i for i, cell in enumerate(product(*axes(step, data)))}
    names = [moment.name for moment in step.moments]
    totals = {name: [0] * len(order) for name in names}
    for cell, values in rows:
        for name in names:
            factors = [] if name == "n" else [values["uv".index(x)] for x in name]
            totals[name][order[cell]] += math.prod(factors)
    return totals


def index(column: NumberColumn, value: Any, steps: int) -> int | None:
    """Return the steps of a cell above the lower bound, None if it is no number."""
    x = number(column, value)
    if x is None:
        return None
    lossless = column.step is not None and steps * column.step == _width(column)
    if is_whole(column) and lossless:
        inside = min(max(Fraction(x), column.lower), column.upper)
        return math.floor((inside - column.lower) / column.step + Fraction(1, 2))
    lower, upper = as_double(column.lower), as_double(column.upper)
    inside = max(min(float(x), upper), lower)
    scaled = (inside - lower) * as_double(steps / _width(column)) + 0.5
    return steps if math.isinf(scaled) else min(max(math.floor(scaled), 0), steps)


def fill_index(column: NumberColumn, steps: int) -> int:
    """Return the steps of the declared fill."""
    assert isinstance(column.nulls, FillNulls)
    share = (column.nulls.value - column.lower) / _width(column)
    return math.floor(share * steps + Fraction(1, 2))


def number(column: NumberColumn, value: Any) -> int | float | None:
    """Return the nearest integer or double of the cell, None if it holds no number."""
    exact = _exact(value)
    if exact is None:
        return None
    if not is_whole(column):
        return _double(exact)
    if isinstance(exact, float):
        return _FARTHEST if exact > 0 else -_FARTHEST
    nearest = math.floor(exact + Fraction(1, 2))
    return min(max(nearest, -_FARTHEST), _FARTHEST)


def words(value: Any) -> str | None:
    """Return the cell as text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**127:
        return str(int(value))
    return str(value)


def unit_of(value: Any) -> str | bytes | None:
    """Return the id that a cell holds; None if it belongs to nobody."""
    return value or None if isinstance(value, bytes) else words(value) or None


def holds(condition: Condition, row: Row, data: Data) -> bool:
    """Say whether a condition is true of a row; null is not."""
    return decided(condition, row, data) is True


def decided(condition: Condition, row: Row, data: Data) -> bool | None:
    """Say whether a condition is true or false of a row, or None: Kleene's tables."""
    import oracle_expressions

    found: bool | None = oracle_expressions.Row(data, row).value(condition)
    return found


def is_whole(column: NumberColumn) -> bool:
    """Say whether the cells of a column are taken as integers."""
    farthest = max(abs(column.lower), abs(column.upper))
    return column.type is NumberType.INTEGER and farthest <= _WHOLE


def as_double(x: Fraction) -> float:
    """Return the nearest double, or the largest."""
    try:
        return float(x)
    except OverflowError:
        return math.copysign(1.7976931348623157e308, x)


def _moments(plan: Plan, step: Step, rows: Sequence[Row], salt: bytes) -> Any:
    data = plan.spec.data
    placed = [(cell_of(step, row, data), row) for row in rows]
    kept = [cell is not None for cell, _ in placed]
    if step.bound is not None:
        unit = plan.spec.privacy.unit
        assert unit is not None
        kept = _survivors(step, placed, unit, salt)
    if step.statistic == "distinct":
        return {"d": _different(step, data, placed, kept)}
    pairs = []
    for (cell, row), keep in zip(placed, kept, strict=True):
        if keep:
            values = contribution(step, row, data)
            if values is not None:
                pairs.append((cell, values))
    return sums(step, data, pairs)


def _different(
    step: Step, data: Data, placed: Sequence[Any], kept: Sequence[bool]
) -> list[int]:
    """Return how many different values of the column the kept rows of a cell have."""
    column = data.column(step.columns[0])
    found: dict[Any, set[Any]] = {cell: set() for cell in product(*axes(step, data))}
    for (cell, row), keep in zip(placed, kept, strict=True):
        if not keep:
            continue
        value: Any = row[column.name]
        if isinstance(column, IdColumn):
            value = unit_of(value)
        elif isinstance(column, CategoryColumn):
            value = words(value) if words(value) in column.keys else None
        else:
            value = contribution(step, row, data)
        if value is not None:
            found[cell].add(value)
    return [len(one) for one in found.values()]


def _survivors(step: Step, placed: Sequence[Any], unit: str, salt: bytes) -> list[bool]:
    """Draw a ticket for every row of a unit, and let its rows come in that order.

    A ticket is a hash of the salt, of the row, and of how many equal rows of the unit
    came before. A row is kept if its cell has room, or if it opens a cell that has.
    """
    assert step.bound is not None
    units: dict[Any, list[Any]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for position, (_, row) in enumerate(placed):
        name = unit_of(row[unit])
        if name is not None:
            content = repr((name, row))
            units[name].append((ticket(salt, content, seen[content]), position))
            seen[content] += 1
    kept = [False] * len(placed)
    for tickets in units.values():
        cells: Counter[Any] = Counter()
        for _, position in sorted(tickets):
            cell = placed[position][0]
            if cell is None or (cell not in cells and len(cells) == step.bound.cells):
                continue
            kept[position] = cells[cell] < step.bound.rows
            cells[cell] += 1
        left = [pair for pair in tickets if kept[pair[1]]]
        for position in beyond(step.bound, left, salt):
            kept[position] = False
    return kept


def beyond(bound: Bound, left: Iterable[tuple[bytes, int]], salt: bytes) -> list[int]:
    """Return which survivors of a unit its total does not let in.

    They draw once more, by a hash of their tickets.
    """
    if bound.total is None:
        return []
    again = sorted(
        (ticket(salt, first.hex(), -1), position) for first, position in left
    )
    return [position for _, position in again[bound.total :]]


def ticket(salt: bytes, content: str, number: int) -> bytes:
    """Return a hash of the salt, a row and its number among equal rows."""
    text = f"{number} {content}"
    return hashlib.blake2b(text.encode(), key=salt[:64]).digest()


def _bin(step: Step, row: Row, data: Data) -> int | None:
    column = data.column(step.columns[0])
    assert isinstance(column, NumberColumn)
    x = number(column, row[column.name])
    fill = column.nulls.value if isinstance(column.nulls, FillNulls) else None
    if x is None and fill is None:
        return None
    exact = column.step is not None and _width(column) / column.step <= 1 << 46
    if exact:
        steps = int(_width(column) / column.step)
        u = index(column, row[column.name], steps)
        u = fill_index(column, steps) if u is None else u
        value: Any = column.lower + u * column.step
        edges: list[Any] = list(step.edges)
    else:
        lower, upper = as_double(column.lower), as_double(column.upper)
        value = as_double(fill) if x is None else float(x)  # type: ignore[arg-type]
        value = max(min(value, upper), lower)
        edges = [as_double(edge) for edge in step.edges]
    if not edges[0] <= value <= edges[-1]:
        return None
    return min(sum(edge <= value for edge in edges) - 1, len(edges) - 2)


def _known(data: Data, name: str, value: Any) -> Any:
    """Return the cell if it is of its type, else None."""
    column = data.column(name)
    if isinstance(column, NumberColumn):
        return number(column, value)
    word = words(value)
    if isinstance(column, IdColumn):
        return word
    return word if word in column.keys else None


def _literal(data: Data, name: str, value: Any) -> Any:
    column = data.column(name)
    if isinstance(column, NumberColumn) and not is_whole(column):
        return as_double(value)
    return value


def _exact(value: Any) -> Fraction | float | None:
    """Return the number that is stored, or an infinity; None if there is none."""
    if isinstance(value, str):
        if _SPECIAL.fullmatch(value):
            value = float(value)
        elif _FLOAT.fullmatch(value):
            value = _decimal(value)
        else:
            return None
    if isinstance(value, Decimal) and not value.is_finite():
        value = float("nan") if value.is_nan() else float(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and math.isinf(value):
        return value
    known = isinstance(value, int | float | Decimal | Fraction)
    return Fraction(value) if known else None


def _decimal(text: str) -> Decimal | float:
    """Return the decimal that a text spells; an infinity for one beyond all doubles."""
    negative = text.startswith("-")
    try:
        found = Decimal(text)
    except InvalidOperation:
        small = re.search(r"[eE]-", text) is not None
        return 0.0 if small else (-math.inf if negative else math.inf)
    if found and found.adjusted() > _MOST_DIGITS:
        return -math.inf if negative else math.inf
    return Decimal(0) if found.adjusted() < -_MOST_DIGITS else found


def _double(exact: Fraction | float) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _width(column: NumberColumn) -> Fraction:
    return column.upper - column.lower
