"""What one unit contributes: to all statistics, or to one."""

from __future__ import annotations

import pytest
from language.samples import KNOWN_N, REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load_text, print_spec
from dpql.model.spec import Contributes

OWN = REFERENCE.replace(
    "    by: [district]\n",
    "    by: [district]\n    contributes: {rows: 2, groups: 4, total: 5}\n",
    1,
)
FORMS = ("yaml", "dpql")


def faults(text: str, form: str = "yaml") -> list[tuple[str, str]]:
    """Return code and message of every fault."""
    with pytest.raises(SpecError) as caught:
        load_text(text, form=form)
    return [(fault.code, fault.message) for fault in caught.value.diagnostics]


@pytest.mark.parametrize("form", FORMS)
def test_a_statistic_has_its_own_bounds(form: str) -> None:
    """Others keep those of the spec."""
    spec = load_text(format_text(OWN, form="yaml", to=form), form=form)
    first, second = spec.statistics[:2]
    own = Contributes(rows=2, groups=4, total=5)
    assert (own, None) == (first.contributes, second.contributes)
    assert Contributes(rows=3, groups=1) == spec.contributes(second)
    assert own == spec.contributes(first)


@pytest.mark.parametrize("form", FORMS)
def test_bounds_are_printed_as_they_were(form: str) -> None:
    """A spec with bounds of a statistic and a total of its own survives printing."""
    text = OWN.replace("{rows: 3, groups: 1}", "{rows: 1, groups: 3, total: 2}")
    spec = load_text(text, form="yaml")
    assert spec == load_text(print_spec(spec, form), form=form)


def test_text_form_reads_well() -> None:
    """The clause is that of the unit, behind the groups."""
    shown = format_text(OWN, form="yaml", to="dpql")
    words = "by district giving at most 2 rows in at most 4 groups, at most 5 in all"
    assert words in shown
    assert format_text(shown, form="dpql", to="yaml") == format_text(OWN, form="yaml")


def test_clause_may_stand_on_a_line_of_its_own() -> None:
    """A line that starts with `giving` goes on with the one before."""
    text = format_text(OWN, form="yaml", to="dpql")
    folded = text.replace(" giving at most 2", "\n  giving at most 2")
    assert load_text(folded, form="dpql") == load_text(text, form="dpql")


@pytest.mark.parametrize(
    ("total", "message"),
    [
        (1, "`total` is 1, less than `rows`, which is 2"),
        (8, "`total` is 8, which is `rows` x `groups` anyway"),
        (9, "`total` is 9, which bounds nothing: `rows` x `groups` is less"),
    ],
)
def test_totals_that_say_nothing_are_refused(total: int, message: str) -> None:
    """A total is at least the rows of one group and less than those of all."""
    text = OWN.replace("total: 5", f"total: {total}")
    assert [("DPQL315", message)] == faults(text)


def test_bounds_of_a_statistic_need_an_id() -> None:
    """Where each row is a unit, there is nothing to bound."""
    text = KNOWN_N.replace(
        "    variance: age\n",
        "    variance: age\n    contributes: {rows: 1, groups: 1}\n",
    )
    message = "`contributes` says nothing here: each row is a unit of its own"
    assert [("DPQL315", message)] == faults(text)


def test_bounds_are_at_least_one() -> None:
    """A statistic of no row or no group is none."""
    text = OWN.replace("{rows: 2, groups: 4, total: 5}", "{rows: 0, groups: 4}")
    message = "`rows` is 0, and a unit contributes at least 1"
    assert [("DPQL315", message)] == faults(text)


def test_total_is_said_in_all() -> None:
    """Another word in its stead is a fault; `all` stays free for names."""
    text = format_text(OWN, form="yaml", to="dpql")
    other = text.replace("at most 5 in all", "at most 5 in total")
    assert [("DPQL120", "`total` does not belong here")] == faults(other, "dpql")
    named = text.replace("headcount", "all")
    assert "all" == load_text(named, form="dpql").statistics[0].name
