"""Flights: a spec whose columns are of every type, for tests of expressions."""

from __future__ import annotations

from pathlib import Path

from dpql.errors import Diagnostic, SpecError
from dpql.language import load_text
from dpql.model.spec import Expression, Spec

FLIGHTS = """\
dpql: 1
release: flights
purpose: Delays of flights.
data:
  source: flights
  rows: {at_most: 500_000}
  columns:
    tailnum:   {type: id}
    carrier:   {type: category, keys: [UA, AA, DL]}
    UA:        {type: boolean, nulls: drop}
    big:       {type: boolean, nulls: {as: true}}
    month:     {type: category, keys: 1..12}
    when:      {type: date, bounds: [2013-01-01, 2013-12-31], nulls: drop}
    due:       {type: date, bounds: [2013-01-01, 2013-12-31], nulls: {as: 2013-06-01}}
    left:      {type: time, bounds: [2013-01-01, 2013-12-31], step: minute, nulls: drop}
    arr_delay: {type: float, bounds: [-60, 240], unit: min, nulls: drop}
    dep_delay: {type: float, bounds: [-60, 240], unit: min, nulls: drop}
    air_time:  {type: integer, bounds: [1, 700], unit: min, nulls: drop}
    distance:  {type: integer, bounds: [1, 5_000], unit: mile, nulls: {as: 1_000}}
    "odd name": {type: decimal, bounds: [0, 1], step: 0.1, nulls: drop}
  derived:
    d: DERIVED
privacy:
  unit: tailnum
  contributes: {rows: 10, groups: 3}
  epsilon: 1
statistics:
  n: {count: rows, where: WHERE, spend: {share: 1}}
"""
"""A spec with one derived column and one condition to put in."""

WRITTEN = {"DERIVED": "arr_delay - dep_delay", "WHERE": "distance > 100"}


def flights(*, derived: str | None = None, where: str | None = None) -> str:
    """Return the spec with an expression in its place."""
    text = FLIGHTS
    for name, given in (("DERIVED", derived), ("WHERE", where)):
        written = WRITTEN[name] if given is None else given
        escaped = written.replace("\\", "\\\\").replace('"', '\\"')
        text = text.replace(name, f'"{escaped}"')
    return text


def derived(expression: str) -> Expression:
    """Return what a derived column means."""
    (column,) = load_text(flights(derived=expression), form="yaml").data.derived
    return column.expression


def where(condition: str) -> Expression | None:
    """Return what a condition means."""
    return load_text(flights(where=condition), form="yaml").statistics[0].where


def spec_of(expression: str) -> Spec:
    """Return the spec with a derived column."""
    return load_text(flights(derived=expression), form="yaml")


def faults(text: str, beside: Path | None = None) -> list[Diagnostic]:
    """Return what is wrong with a spec."""
    read = None if beside is None else lambda name: (beside / name).read_bytes()
    try:
        load_text(text, form="yaml", beside=read)
    except SpecError as error:
        return list(error.diagnostics)
    return []


def marked(expression: str) -> list[tuple[str, str]]:
    """Return the code of every fault of a derived column, and the words it marks."""
    text = flights(derived=expression)
    return [_marked(fault) for fault in faults(text)]


def marked_where(condition: str) -> list[tuple[str, str]]:
    """Return the same of a condition."""
    return [_marked(fault) for fault in faults(flights(where=condition))]


def _marked(fault: Diagnostic) -> tuple[str, str]:
    assert fault.span is not None
    assert fault.hint
    line = fault.span.first_line
    return fault.code, line[fault.span.column - 1 : fault.span.end_column - 1]
