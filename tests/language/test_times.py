"""Columns of truths, dates and times."""

from __future__ import annotations

from fractions import Fraction

import pytest
from language.flights import FLIGHTS, faults, flights

from dpql.language import format_text, load_text
from dpql.model.calendar import DAY, read_date
from dpql.model.spec import (
    BooleanColumn,
    Column,
    DateColumn,
    DropNulls,
    FillNulls,
    TimeColumn,
)


def declared(text: str) -> Column:
    """Return what a declaration means."""
    spec = load_text(_with(text), form="yaml")
    return spec.data.column("x")


def _with(text: str) -> str:
    return flights().replace("columns:\n", f"columns:\n    x: {{{text}}}\n")


def day(text: str) -> int:
    """Return the day of a date."""
    found = read_date(text)
    assert found is not None
    return found


FIRST = day("2013-01-01")


def test_booleans() -> None:
    """What is missing counts as false, as true, or not at all."""
    assert BooleanColumn(name="x", nulls=DropNulls()) == declared(
        "type: boolean, nulls: drop"
    )
    for word, value in (("true", 1), ("false", 0)):
        nulls = FillNulls(value=Fraction(value))
        expected = BooleanColumn(name="x", nulls=nulls)
        assert expected == declared(f"type: boolean, nulls: {{as: {word}}}")


def test_dates() -> None:
    """Bounds are days, both included."""
    assert DateColumn(
        name="x",
        first=FIRST,
        last=FIRST + 364,
        nulls=FillNulls(value=Fraction(FIRST + 1)),
    ) == declared(
        "type: date, bounds: [2013-01-01, '2013-12-31'], nulls: {as: 2013-01-02}"
    )


def test_times() -> None:
    """A step, and a zone, which is UTC if it is not said."""
    bounds = "bounds: [2013-01-01 00:00, 2013-01-02T12:30:15], nulls: drop"
    expected = TimeColumn(
        name="x",
        first=FIRST * DAY,
        last=FIRST * DAY + DAY + 45_015,
        step=60,
        zone=0,
        nulls=DropNulls(),
    )
    assert expected == declared(f"type: time, step: minute, {bounds}")
    found = declared(f"type: time, step: hour, zone: '-03:30', {bounds}")
    assert isinstance(found, TimeColumn)
    assert (3600, -210) == (found.step, found.zone)


SPRING = "bounds: [2013-02-01, 2013-05-01]"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("type: boolean", "DPQL201"),
        ("type: boolean, nulls: {as: 1}", "DPQL209"),
        ("type: boolean, bounds: [0, 1], nulls: drop", "DPQL202"),
        ("type: date, bounds: [2013-01-01, 2013-02-29], nulls: drop", "DPQL365"),
        ("type: date, bounds: [2013-01-01, 0000-01-01], nulls: drop", "DPQL365"),
        ("type: date, bounds: [2013-01-01, 12-31], nulls: drop", "DPQL208"),
        ("type: date, bounds: [2013-01-01], nulls: drop", "DPQL210"),
        ("type: date, bounds: [2013-02-01, 2013-01-01], nulls: drop", "DPQL303"),
        ("type: date, bounds: [2013-02-01, 2013-02-01], nulls: drop", "DPQL303"),
        (f"type: date, {SPRING}, nulls: {{as: 2014-01-01}}", "DPQL307"),
        (f"type: time, {SPRING}, nulls: drop", "DPQL201"),
        (f"type: time, {SPRING}, step: week, nulls: drop", "DPQL209"),
        (
            "type: time, bounds: [2013-01-01, 2013-01-01 24:00], step: day",
            "DPQL365",
        ),
        (f"type: time, {SPRING}, step: day, zone: '+19:00', nulls: drop", "DPQL365"),
        (f"type: time, {SPRING}, step: day, zone: Berlin, nulls: drop", "DPQL208"),
    ],
)
def test_impossible_declarations_are_refused(text: str, code: str) -> None:
    """Each with one fault."""
    assert code in [fault.code for fault in faults(_with(text))]


def test_dropped_rows_would_change_a_public_number() -> None:
    """Under replace_one a missing date or truth has a public value."""
    text = (
        FLIGHTS.replace("at_most: 500_000", "exactly: 500")
        .replace("  epsilon: 1\n", "  epsilon: 1\n  neighbours: replace_one\n")
        .replace("DERIVED", "big")
        .replace("WHERE", "big")
    )
    found = faults(text)
    assert {"DPQL308"} == {fault.code for fault in found}
    assert "give a public value instead, such as `nulls: {as: 2013-07-02}`" in [
        fault.hint for fault in found
    ]


def test_they_are_written_without_quotes() -> None:
    """Canonical YAML and query text have dates and truths as they are spoken of."""
    text = flights()
    assert (
        "{type: date, bounds: [2013-01-01, 2013-12-31], nulls: {as: 2013-06-01}}"
        in format_text(text, form="yaml")
    )
    there = format_text(text, form="yaml", to="dpql")
    assert "boolean, nulls as true\n" in there
    assert "date [2013-01-01, 2013-12-31], nulls as 2013-06-01\n" in there
    assert "time [2013-01-01, 2013-12-31] step minute, drop nulls" in there
    zoned = text.replace("step: minute", "step: minute, zone: '+01:00'")
    there = format_text(zoned, form="yaml", to="dpql")
    assert 'step minute at "+01:00", drop nulls' in there
    assert load_text(zoned, form="yaml") == load_text(there, form="dpql")
    explicit = format_text(text, form="yaml", explicit=True)
    assert 'step: minute, zone: "+00:00"' in explicit
