"""The meaning of columns of truths, dates and times."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language.context import Context, items, text, value
from dpql.language.nulls import resolve_nulls
from dpql.language.tree import Entry, Node, Scalar
from dpql.model.calendar import (
    STEPS,
    date_text,
    read_date,
    read_time,
    read_zone,
    time_text,
)
from dpql.model.spec import BooleanColumn, Column, DateColumn, Nulls, TimeColumn

_TRUTHS = ("false", "true")
_ENDS = 2


def boolean(entry: Entry, context: Context) -> Column | None:
    """Return a column of true and false, or None after noting a fault."""

    def write(value: Fraction) -> str:
        return _TRUTHS[int(value)]

    def read(node: Node | None) -> Fraction | None:
        word = text(node)
        return Fraction(_TRUTHS.index(word)) if word in _TRUTHS else None

    bounds = Fraction(0), Fraction(1)
    nulls = resolve_nulls(entry, bounds, write, read, context)
    return None if nulls is None else BooleanColumn(name=entry.name, nulls=nulls)


def date(entry: Entry, context: Context) -> Column | None:
    """Return a column of dates, or None after noting a fault."""
    reader = _Reader(read_date, date_text, "a date such as 2013-12-31", context)
    bounds = reader.bounds(entry)
    if bounds is None:
        return None
    nulls = reader.nulls(entry, bounds)
    if nulls is None:
        return None
    first, last = bounds
    return DateColumn(name=entry.name, first=first, last=last, nulls=nulls)


def time(entry: Entry, context: Context) -> Column | None:
    """Return a column of times, or None after noting a fault."""
    wanted = "a time such as 2013-12-31 23:59"
    reader = _Reader(read_time, time_text, wanted, context)
    bounds = reader.bounds(entry)
    step = STEPS.get(text(value(entry.value, "step")) or "")
    zone = _zone(value(entry.value, "zone"), context)
    if bounds is None or step is None or zone is None:
        return None
    nulls = reader.nulls(entry, bounds)
    if nulls is None:
        return None
    first, last = bounds
    return TimeColumn(
        name=entry.name, first=first, last=last, step=step, zone=zone, nulls=nulls
    )


def _zone(node: Node | None, context: Context) -> int | None:
    if node is None:
        return 0
    word = text(node)
    zone = None if word is None else read_zone(word)
    if zone is None and word is not None:
        context.add(
            "DPQL365",
            f"`{shown(word)}` is not a distance from UTC",
            node.span,
            'write it like `zone: "+01:00"`; zones with a summer time are not known',
        )
    return zone


class _Reader:
    """Reads dates, or times."""

    def __init__(
        self,
        read: Callable[[str], int | None],
        write: Callable[[int], str],
        wanted: str,
        context: Context,
    ) -> None:
        self._read, self._write = read, write
        self._wanted, self._context = wanted, context

    def bounds(self, entry: Entry) -> tuple[int, int] | None:
        """Return the first and the last, or None after noting a fault."""
        node = value(entry.value, "bounds")
        ends = [self.end(item) for item in items(node)]
        if node is None or len(ends) != _ENDS:
            return None
        first, last = ends
        if first is None or last is None:
            return None
        if first >= last:
            self._context.add(
                "DPQL303",
                f"the first, {self._write(first)}, is not before the last, "
                f"{self._write(last)}",
                node.span,
                f"write `bounds: [{self._write(last)}, {self._write(first)}]`"
                if last < first
                else "write two different ones",
            )
            return None
        return first, last

    def end(self, node: Node | None) -> int | None:
        """Return one end, or None after noting that it is none."""
        if not isinstance(node, Scalar) or not node.text:
            return None
        found = self._read(node.text)
        if found is None:
            self._context.add(
                "DPQL365",
                f"`{shown(node.text)}` is not {self._wanted}",
                node.span,
                "dates and times are those of ISO 8601, of the years 0001 to 9999",
            )
        return found

    def nulls(self, entry: Entry, bounds: tuple[int, int]) -> Nulls | None:
        """Return what a missing cell does, or None after noting a fault."""

        def read(node: Node | None) -> Fraction | None:
            found = self.end(node)
            return None if found is None else Fraction(found)

        return resolve_nulls(
            entry,
            (Fraction(bounds[0]), Fraction(bounds[1])),
            lambda found: self._write(int(found)),
            read,
            self._context,
        )
