"""Derived columns: in order, with names of their own, usable like declared ones."""

from __future__ import annotations

import pytest
from language.flights import FLIGHTS, faults, flights, spec_of

from dpql.language import format_text, load_text, print_spec
from dpql.model.spec import BooleanColumn, CategoryColumn, NumberColumn


def several(*lines: str) -> str:
    """Return the spec with these derived columns, and nothing to ask of them."""
    block = "\n".join(f"    {line}" for line in lines)
    text = FLIGHTS.replace("    d: DERIVED", block)
    return text.replace(", where: WHERE", "")


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("arr_delay > 15", BooleanColumn),
        ("big or UA", BooleanColumn),
        ("arr_delay - dep_delay", NumberColumn),
        ("case(big, 1, 0)", NumberColumn),
        ("hour(left)", CategoryColumn),
        ("carrier", CategoryColumn),
        ("bands(distance, [1, 500, 5_000])", CategoryColumn),
        ("map(carrier, {UA: big}, else: small)", CategoryColumn),
    ],
)
def test_a_derived_column_is_like_a_declared_one(
    expression: str, kind: type[object]
) -> None:
    """Its type follows from the expression."""
    assert isinstance(spec_of(expression).data.column("d"), kind)


def test_columns_name_those_above() -> None:
    """Not themselves, and none below."""
    assert [] == faults(several("a: arr_delay + 1", "b: a + 1"))
    for lines in (("b: a + 1", "a: arr_delay + 1"), ("a: a + 1",)):
        (fault,) = faults(several(*lines))
        assert fault.code == "DPQL364"
        assert fault.message == "`a` is not declared above"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("arr_delay: dep_delay + 1", "DPQL364"),
        ("a: when", "DPQL364"),
        ("a: 1 + 2", "DPQL364"),
        ("a: true", "DPQL364"),
        ("a: \"'x'\"", "DPQL364"),
        ("аrr_delay: dep_delay + 1", "DPQL322"),
        ("a: arr_delay +", "DPQL122"),
        ("a: arr_delay -- gained", "DPQL126"),
        ("a: {b: c}", "DPQL203"),
        ("a: ''", "DPQL204"),
        (f"a: {'abs(' * 40}arr_delay{')' * 40}", "DPQL125"),
        (f"a: {'arr_delay + ' * 400}1", "DPQL212"),
    ],
)
def test_what_cannot_be_derived_is_refused(line: str, code: str) -> None:
    """Each with a code of its own."""
    assert code in [fault.code for fault in faults(several(line))]


def test_one_fault_is_noted_once() -> None:
    """Columns that are made of one that is at fault say no more."""
    lines = ("a: arr_dely + 1", "b: a + 1", "c: b > 1")
    assert ["DPQL301"] == [fault.code for fault in faults(several(*lines))]


@pytest.mark.parametrize("form", ["yaml", "dpql"])
def test_both_forms_mean_the_same(form: str) -> None:
    """Formatting, converting and printing change no meaning."""
    lines = (
        "late: arr_delay > 15",
        "gained: -(dep_delay - arr_delay)*2",
        "far: bands(distance, [1,500,5_000])",
        "\"region\": 'map(carrier, {UA: big, ''AA'': ''very big''}, else: small)'",
        "odd: case(late and carrier != 'UA', `odd name`, 0)",
        "spring: when between 2013-03-01 and 2013-05-31 and left < 2013-04-01 12:00",
    )
    text = several(*lines)
    spec = load_text(text, form="yaml")
    there = format_text(text, form="yaml", to=form)
    assert spec == load_text(there, form=form)
    assert there == format_text(there, form=form)
    assert spec == load_text(print_spec(spec, form), form=form)


def test_the_text_form_defines_with_a_colon_and_an_equals_sign() -> None:
    """Derived columns stand below the declared ones, and go on over lines."""
    text = format_text(flights(derived="arr_delay > 15"), form="yaml", to="dpql")
    assert "\n  d           := arr_delay > 15\n" in text
    broken = text.replace(
        "arr_delay > 15", "max(arr_delay,\n    dep_delay)\n    + 1 > 16"
    )
    found = load_text(broken, form="dpql").data.derived
    assert (
        load_text(
            flights(derived="max(arr_delay, dep_delay) + 1 > 16"), form="yaml"
        ).data.derived
        == found
    )


def test_a_comment_stays_at_its_column() -> None:
    """In either form, and through conversion."""
    text = several("a: arr_delay + 1  # one more", "# for reviewers", "b: a + 1")
    there = format_text(text, form="yaml", to="dpql")
    assert "a           := arr_delay + 1  -- one more\n  -- for reviewers\n" in there
    assert format_text(text, form="yaml") == format_text(there, form="dpql", to="yaml")
