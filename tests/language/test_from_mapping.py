"""Mappings of Python are specs like any other, and exact."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import yaml
from language.samples import REFERENCE

import dpql
from dpql.errors import SpecError
from dpql.language import form_of_text, format_text, load_mapping, load_text
from dpql.language.from_mapping import text_of
from dpql.model.spec import DateColumn, TimeColumn


def mapping(text: str = REFERENCE) -> dict[str, Any]:
    """Return a spec as a mapping, every scalar a text as dpql reads it."""
    found = yaml.load(text, yaml.BaseLoader)  # noqa: S506  it makes nothing but texts
    assert isinstance(found, dict)
    return found


def with_epsilon(epsilon: object) -> dict[str, Any]:
    """Return the mapping with another budget."""
    found = mapping()
    found["privacy"]["epsilon"] = epsilon
    return found


def test_a_mapping_means_what_its_text_means() -> None:
    """File, text of either form, and mapping are one spec."""
    spec = load_text(REFERENCE, form="yaml")
    assert spec == load_mapping(mapping())
    assert spec == dpql.load(mapping())
    assert spec == dpql.load(REFERENCE)
    assert spec == dpql.load(format_text(REFERENCE, form="yaml", to="dpql"))
    assert dpql.plan(mapping()) == dpql.plan(spec)


@pytest.mark.parametrize(
    "epsilon", [1, "1", "1.0", Fraction(1), Decimal("1.0"), Fraction(1, 3), "0.1"]
)
def test_numbers_are_exact(epsilon: object) -> None:
    """Whole numbers, texts, fractions and decimals are what they say."""
    spec = load_mapping(with_epsilon(epsilon))
    assert Fraction(str(epsilon)) == spec.privacy.epsilon


@pytest.mark.parametrize(
    ("epsilon", "message", "hint"),
    [
        (0.1, "`privacy.epsilon` holds the float 0.1", 'write "0.1"'),
        (float("nan"), "`privacy.epsilon` holds the float nan", "a Fraction"),
        (None, "`privacy.epsilon` holds None", "leave the key out"),
        (b"1", "`privacy.epsilon` holds a bytes", "write it as text"),
        ([1.5], "`privacy.epsilon` holds the float 1.5", "Decimal"),
        ({1: 2}, "`privacy.epsilon` holds the key 1", "keys are texts"),
    ],
)
def test_what_is_not_exact_is_refused(epsilon: object, message: str, hint: str) -> None:
    """The fault names the key, and what to write."""
    with pytest.raises(SpecError) as caught:
        dpql.load(with_epsilon(epsilon))
    (fault,) = caught.value.diagnostics
    assert ("DPQL118", message) == (fault.code, fault.message)
    assert hint in (fault.hint or "")


def test_dates_of_python_are_dates() -> None:
    """They become texts in ISO 8601, like any other."""
    found = mapping()
    found["data"]["columns"]["day"] = {
        "type": "date",
        "bounds": [date(2013, 1, 1), "2013-12-31"],
        "nulls": "drop",
    }
    found["data"]["columns"]["left"] = {
        "type": "time",
        "bounds": [datetime(2013, 1, 1, 5, 30), date(2013, 12, 31)],  # noqa: DTZ001  a clock
        "step": "minute",
        "nulls": {"as": datetime(2013, 1, 1, 5, 30)},  # noqa: DTZ001  the same
    }
    found["data"]["columns"]["late"] = {"type": "boolean", "nulls": {"as": True}}
    day, left = (dpql.load(found).data.column(name) for name in ("day", "left"))
    assert isinstance(day, DateColumn)
    assert isinstance(left, TimeColumn)
    assert (15_706, 16_070) == (day.first, day.last)
    assert (15_706 * 86_400 + 19_800, 16_070 * 86_400) == (left.first, left.last)


def test_a_mapping_in_itself_is_refused() -> None:
    """No depth ends in a traceback."""
    endless: dict[str, Any] = {}
    endless["data"] = endless
    with pytest.raises(SpecError, match="more levels than a spec has"):
        dpql.load(endless)


def test_faults_have_a_place() -> None:
    """The line of the text that the mapping became is shown."""
    found = mapping()
    found["statistics"]["headcount"]["count"] = "row"
    with pytest.raises(SpecError) as caught:
        dpql.load(found)
    (fault,) = caught.value.diagnostics
    assert fault.span is not None
    lines = text_of(found).split("\n")
    assert lines[fault.span.line - 1] == fault.span.first_line
    assert fault.span.source == "<mapping>"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("dpql 1\nrelease a", "dpql"),
        ("-- a remark\n\n  dpql 1 -- the version", "dpql"),
        ("dpql: 1\nrelease: a", "yaml"),
        ("# a remark\ndpql: 1", "yaml"),
        ("\n", "yaml"),
    ],
)
def test_the_form_of_a_text_is_seen(text: str, form: str) -> None:
    """The first word of the text form is dpql."""
    assert form == form_of_text(text)
