"""The values of a statistic as HTML: a list, or a table of two keys, with plots.

Counts are bars from zero with their interval; everything else is an interval with its
value, on an axis that all values of the statistic share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from dpql.diagnostics import WHOLE
from dpql.model.release_tables import TIDY_FROM
from dpql.model.vacuous import NOTE
from dpql.reports.display import (
    Digits,
    cell_label,
    digits_of,
    has_numbers,
    heading_label,
    interval_text,
    key_label,
    marks,
    step_of,
    vacuous,
)
from dpql.reports.file_names import CSV_NAME, table_names
from dpql.reports.html_text import end, number, safe
from dpql.reports.plot import Axis, axis_from_zero, axis_of, bar_plot, interval_plot
from dpql.reports.predicate import CellValue, ReportPredicate, StatisticRecord

_ROWS = 500
"""Values that the page shows of a statistic; the tables hold them all."""

_MOST_ACROSS = 8
"""Keys that stand side by side."""

_COUNTS = frozenset({"count", "units", "distinct", "histogram"})


@dataclass(frozen=True, slots=True)
class _Drawing:
    """How the values of a statistic are drawn."""

    axis: Axis
    bars: bool

    def plot(self, value: CellValue) -> str:
        """Return the plot of a value."""
        draw = bar_plot if self.bars else interval_plot
        return draw(self.axis, value)


def values_html(
    predicate: ReportPredicate, statistic: StatisticRecord
) -> Iterator[str]:
    """Yield the values of a statistic, the first hundreds of many."""
    if not statistic.values:
        # What keys are found may be none.
        return
    if not has_numbers(predicate, statistic):
        yield from _keys(statistic)
        yield from _more(predicate, statistic)
        return
    bars = is_count(predicate, statistic)
    axis = axis_from_zero(statistic) if bars else axis_of(statistic)
    drawing = _Drawing(axis, bars)
    across = _across(statistic)
    if across is None:
        yield from _list(predicate, statistic, drawing)
    else:
        yield from _crossed(predicate, statistic, drawing, across)
    yield from _more(predicate, statistic)


def _more(predicate: ReportPredicate, statistic: StatisticRecord) -> Iterator[str]:
    hidden = len(statistic.values) - _ROWS
    if hidden > 0:
        count = f"{hidden:,}".replace(",", " ")
        file = safe(_file(predicate, statistic), limit=WHOLE)
        yield f'<p class="quiet">… and {number(count)} more in the table {file}</p>'


def is_count(predicate: ReportPredicate, statistic: StatisticRecord) -> bool:
    """Tell whether a statistic counts, so that its values are parts of a whole."""
    step = step_of(predicate, statistic)
    return step is not None and step.statistic in _COUNTS and step.lower >= 0


def _file(predicate: ReportPredicate, statistic: StatisticRecord) -> str:
    if predicate.plan.version < TIDY_FROM:
        return CSV_NAME
    return table_names(predicate.plan).get(statistic.name, CSV_NAME)


def _keys(statistic: StatisticRecord) -> Iterator[str]:
    """Yield a row for every key, without numbers."""
    yield '<div class="scroll"><table class="values"><thead><tr>'
    for heading in statistic.headings:
        yield f'<th scope="col">{safe(heading_label(heading), limit=WHOLE)}</th>'
    yield "</tr></thead><tbody>"
    for value in islice(statistic.values, _ROWS):
        keys = (safe(key_label(key), limit=WHOLE) for key in value.cell)
        yield f"<tr>{''.join(f'<td>{key}</td>' for key in keys)}</tr>"
    yield "</tbody></table></div>"


def _list(
    predicate: ReportPredicate, statistic: StatisticRecord, drawing: _Drawing
) -> Iterator[str]:
    """Yield a row for every value."""
    axis = drawing.axis
    yield '<div class="scroll"><table class="values"><thead><tr>'
    for heading in statistic.headings:
        yield f'<th scope="col">{safe(heading_label(heading), limit=WHOLE)}</th>'
    yield (
        f'<th scope="col" class="number">value</th>'
        f'<th scope="col" class="number">{interval_text(predicate, statistic)}</th>'
        f'<th scope="col" class="graph"><span class="ends">'
        f"<span>{end(axis.lower)}</span><span>{end(axis.upper)}</span></span></th>"
        "</tr></thead><tbody>"
    )
    span = len(statistic.headings) + 3
    for value, remark in _shown(predicate, statistic):
        digits = digits_of(value)
        keys = "".join(
            f"<td>{safe(key_label(key), limit=WHOLE)}</td>" for key in value.cell
        )
        yield (
            f'<tr>{keys}<td class="number">{number(digits.value)}</td>'
            f'<td class="number">{_between(digits)}</td>'
            f'<td class="graph">{drawing.plot(value)}</td></tr>'
        )
        if remark is not None:
            label = cell_label(statistic, value)
            words = safe(f"{label}: {remark}" if label else remark, limit=WHOLE)
            yield f'<tr class="mark"><td colspan="{span}">{words}</td></tr>'
    yield "</tbody></table></div>"


def _crossed(
    predicate: ReportPredicate,
    statistic: StatisticRecord,
    drawing: _Drawing,
    across: int,
) -> Iterator[str]:
    """Yield a table with the keys of one heading down and of the other across."""
    down = 1 - across
    rows: dict[str, dict[str, str]] = {}
    for value, remark in _shown(predicate, statistic):
        digits = digits_of(value)
        note = (
            ""
            if remark is None
            else (f'<span class="mark">{safe(remark, limit=WHOLE)}</span>')
        )
        rows.setdefault(value.cell[down], {})[value.cell[across]] = (
            f'<td><span class="value">{number(digits.value)}</span> '
            f'<span class="between">{_between(digits)}</span>'
            f"{drawing.plot(value)}{note}</td>"
        )
    columns = list(dict.fromkeys(key for cells in rows.values() for key in cells))
    names = [safe(heading_label(name), limit=WHOLE) for name in statistic.headings]
    axis = drawing.axis
    yield '<div class="scroll"><table class="crossed"><thead><tr>'
    yield f'<th scope="col">{names[down]}</th>'
    for key in columns:
        label = safe(key_label(key), limit=WHOLE)
        yield f'<th scope="col"><span class="over">{names[across]}</span> {label}</th>'
    yield "</tr></thead><tbody>"
    for key, cells in rows.items():
        label = safe(key_label(key), limit=WHOLE)
        found = "".join(cells.get(column, "<td></td>") for column in columns)
        yield f'<tr><th scope="row">{label}</th>{found}</tr>'
    yield (
        "</tbody></table></div>"
        f'<p class="quiet">Each cell: value, {interval_text(predicate, statistic)}, '
        f"and both on an axis from {end(axis.lower)} to {end(axis.upper)}.</p>"
    )


def _between(digits: Digits) -> str:
    """Return an interval; a quantile that stands for itself has none."""
    if digits.lower == digits.upper == digits.value:
        return ""
    return f"{number(digits.lower)} – {number(digits.upper)}"


def _across(statistic: StatisticRecord) -> int | None:
    """Return which of two headings goes across, None where there are not two.

    The one with fewer keys does, if they are few; the list is kept for more values
    than a page shows.
    """
    if len(statistic.headings) != 2 or len(statistic.values) > _ROWS:  # noqa: PLR2004
        return None
    first, second = (
        len({value.cell[index] for value in statistic.values}) for index in (0, 1)
    )
    whole = first * second == len(statistic.values)
    if not whole or min(first, second) < 2 or min(first, second) > _MOST_ACROSS:  # noqa: PLR2004
        return None
    return 0 if first < second else 1


def _shown(
    predicate: ReportPredicate, statistic: StatisticRecord
) -> Iterator[tuple[CellValue, str | None]]:
    """Yield the values that are shown, and what must be known of each."""
    first = replace(statistic, values=statistic.values[:_ROWS])
    contradicted = marks(predicate, first)
    empty = vacuous(predicate, first)
    found = zip(first.values, contradicted, empty, strict=True)
    for value, mark, says_nothing in found:
        remarks = [*([mark] if mark else []), *([NOTE] if says_nothing else [])]
        yield value, "; ".join(remarks) or None
