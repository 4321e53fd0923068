"""The tables of a release as comma-separated text: one row a value, one column a key.

    statistic, a column for every key,
    value, noisy, lower, upper, accuracy, alpha, unit, note

`release.csv` has the rows of all statistics, and the columns of all their keys; the
table of one statistic has its own keys and no column that names it. A key column that
is called like one of the others gets ``by_`` before its name.

Numbers are exact where they have a short decimal, else rounded to 15 significant
digits. ``noisy`` is the value before it was clamped into its public range, for those
who add cells up; it is empty where a value is no single noisy number. Of a quantile
the promise is about ranks, so it has no interval and no accuracy here; keys that were
found without counts have no numbers at all. ``note`` marks
values that say nothing and groups that contradict a promised number of rows.

No text can become a formula: before whatever a spreadsheet might take for the beginning
of one stands an apostrophe. Tables of formats 1 to 3 had another form, in
`dpql.model.release_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from dpql.model.many_values import ManyValues
from dpql.model.notation import plain
from dpql.model.plan import Affine, Step
from dpql.model.promised_rows import condition_words, contradiction, noisy_rows
from dpql.model.vacuous import NOTE, is_vacuous

if TYPE_CHECKING:
    from dpql.model.release import Outcome, Result, Value

NUMBERS = ("value", "noisy", "lower", "upper", "accuracy", "alpha", "unit", "note")
"""The columns behind those of the keys."""

STATISTIC = "statistic"
"""The first column of the table of all statistics."""

TIDY_FROM = 4
"""The first format of plans whose releases have these tables."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_FORMULA = re.compile(
    r"(^|[;\t\r\n])([\"\s]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n])"
)
"""Where one may begin: at the start, and where a spreadsheet may begin a cell.

Quotes in front are no protection: where cells end at semicolons they close at once.
"""

_BARE = re.compile(r"[A-Za-z0-9_.-]*", re.ASCII)


def headings_of(step: Step) -> tuple[str, ...]:
    """Return the columns whose keys or bins name the cells, then `at` of quantiles."""
    return step.by + step.bin_columns + (("at",) if step.at else ())


def key_columns(step: Step) -> tuple[str, ...]:
    """Return the name of the table's column for every heading of a step."""
    headings = headings_of(step)
    groups = len(step.by)
    reserved = {STATISTIC, *NUMBERS}
    names: list[str] = []
    for index, heading in enumerate(headings):
        others = {*reserved, *headings[groups:]} if index < groups else reserved
        name = heading
        while name in others or (name != heading and name in headings):
            name = f"by_{name}"
        names.append(name)
    return tuple(names)


def all_key_columns(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the key columns of all steps, each once, in the order of the plan."""
    return tuple(dict.fromkeys(name for step in steps for name in key_columns(step)))


def all_csv(outcome: Outcome) -> str:
    """Return the values of all statistics as comma-separated text."""
    return _all(outcome, map(_numbers, outcome.results))


def statistic_csv(result: Result) -> str:
    """Return the values of one statistic as comma-separated text."""
    return _own(result, _numbers(result))


def csv_tables(outcome: Outcome) -> tuple[str, list[str]]:
    """Return the table of all statistics, and the table of each."""
    numbers = [_numbers(result) for result in outcome.results]
    tables = map(_own, outcome.results, numbers)
    return _all(outcome, numbers), list(tables)


def _all(outcome: Outcome, numbers: Iterable[Sequence[str]]) -> str:
    keys = all_key_columns(outcome.plan.steps)
    lines = [_line([_text(name) for name in (STATISTIC, *keys, *NUMBERS)])]
    for result, texts in zip(outcome.results, numbers, strict=True):
        own = key_columns(result.step)
        # Behind its own keys, a value has an empty one: that is what the others are.
        indices = [own.index(name) if name in own else len(own) for name in keys]
        name = _text(result.name)
        for cell, text in zip(_cells(result), texts, strict=True):
            cell.append("")
            lines.append(_line([name, *[cell[n] for n in indices], text]))
    return "".join(lines)


def _own(result: Result, numbers: Sequence[str]) -> str:
    lines = [_line([_text(name) for name in (*key_columns(result.step), *NUMBERS)])]
    pairs = zip(_cells(result), numbers, strict=True)
    lines += [_line([*cell, text]) for cell, text in pairs]
    return "".join(lines)


def noisy_value(result: Result, value: Value) -> Fraction | None:
    """Return the value before it was clamped, where it is one noisy number."""
    readout = result.step.readout
    if not isinstance(readout, Affine) or result.step.names_only:
        return None
    return readout.offset + readout.scale * value.noisy[0]


def note_of(step: Step, value: Value) -> str:
    """Return what a reader of a value must know, empty for most."""
    remarks = []
    if condition_words(step) is not None and step.parts:
        rows = noisy_rows(step.readout, value.noisy, step.parts[0].half_width)
        mark = contradiction(step.at_least, *rows)
        remarks += [] if mark is None else [mark]
    if is_vacuous(step, value):
        remarks.append(NOTE)
    return "; ".join(remarks)


def inert(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula; numbers stay numbers."""
    if _NUMBER.fullmatch(text):
        return text
    return _FORMULA.sub(r"\1'\2", text)


def _cells(result: Result) -> Iterator[list[str]]:
    """Yield the texts of the keys of every value."""
    key = cache(_text)
    for cell in ManyValues.of(result.values).cells:
        yield list(map(key, cell))


def _numbers(result: Result) -> Sequence[str]:
    """Return the text of the numbers of every value."""
    known = not result.step.picks
    stated = result.accuracy if known else None
    ends = [
        "" if stated is None else plain(stated),
        plain(result.alpha),
        _text(result.unit or ""),
    ]

    def written(value: Value) -> str:
        if result.step.names_only:
            return "," * (len(NUMBERS) - 1)
        noisy = noisy_value(result, value)
        cells = [
            plain(value.value),
            "" if noisy is None else plain(noisy),
            plain(value.lower) if known else "",
            plain(value.upper) if known else "",
            *ends,
            _text(note_of(result.step, value)),
        ]
        return ",".join(cells)

    return list(ManyValues.of(result.values).each(written))


def _text(text: str) -> str:
    """Return a text as a cell, in quotes unless it is plain."""
    safe = inert(text)
    if _BARE.fullmatch(safe):
        return safe
    doubled = safe.replace('"', '""')
    return f'"{doubled}"'


def _line(cells: Iterable[str]) -> str:
    return ",".join(cells) + "\n"
