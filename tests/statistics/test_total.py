"""Which statistics have a total, in both forms of a spec and in plans that are read."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from spec_text import ID, integer, spec_text

from dpql.errors import SpecError
from dpql.language import format_text, load_text
from dpql.language.print_spec import print_spec
from dpql.model.spec import Spec
from dpql.planner import plan
from dpql.statistics import total

COLUMNS = {
    "p": ID,
    "g": "{type: category, keys: [a, b, c]}",
    "x": integer(-3, 9, "drop"),
}
GROUPS = {"count": "rows", "by": "[g]", "spend": "{share: 2}"}
WHOLE = {"total": "heads", "spend": "{share: 2}"}


def _text(whole: dict[str, str], groups: dict[str, str], **options: str) -> str:
    return spec_text(COLUMNS, {"all": whole, "heads": groups}, **options)


def _spec() -> Spec:
    return load_text(_text(WHOLE, GROUPS), form="yaml")


def test_a_total_has_everything_from_its_groups_but_its_spend() -> None:
    """Filter, groups, columns and bounds are those of what it adds up."""
    groups = {"sum": "x", "by": "[g]", "where": "x > 1", "spend": "{epsilon: 0.1}"}
    whole = {"total": "heads", "spend": "{epsilon: 0.1}"}
    found, other = load_text(_text(whole, groups), form="yaml").statistics
    assert "heads" == found.total_of
    assert other == replace(found, name="heads", total_of=None)


def test_both_forms_and_the_printer_say_the_same() -> None:
    """It is one clause in the text form, and comes back as it was written."""
    spec = _spec()
    text = format_text(_text(WHOLE, GROUPS), form="yaml", to="dpql")
    assert "all   = total heads spend share 2" in text
    assert spec == load_text(text, form="dpql")
    assert spec == load_text(format_text(text, form="dpql", to="yaml"), form="yaml")
    for form in ("yaml", "dpql"):
        assert spec == load_text(print_spec(spec, form=form), form=form)


@pytest.mark.parametrize(
    ("whole", "groups", "options"),
    [
        ({"total": "nothing"}, {}, {}),
        ({"total": "all"}, {}, {}),
        ({"by": "[g]"}, {}, {}),
        ({"where": "x > 1"}, {}, {}),
        ({"spend": "{share: 1}"}, {}, {}),
        ({"spend": "{epsilon: 0.1}"}, {}, {}),
        ({"alpha": "0.01"}, {}, {}),
        ({"mechanism": "snapping"}, {}, {}),
        ({}, {"mechanism": "snapping"}, {}),
        ({}, {"by": ""}, {}),
        ({}, {"count": "", "mean": "x"}, {}),
        ({}, {"count": "", "histogram": "g", "by": ""}, {}),
        ({"spend": "{accuracy: 9}"}, {"spend": "{accuracy: 9}"}, {}),
        ({}, {}, {"neighbours": "replace_one", "rows": "{exactly: 9}"}),
    ],
    ids=str,
)
def test_what_has_no_total_is_refused(
    whole: dict[str, str], groups: dict[str, str], options: dict[str, str]
) -> None:
    """One code, at the total, with what cures it."""
    made = [
        {key: text for key, text in (one | change).items() if text}
        for one, change in ((WHOLE, whole), (GROUPS, groups))
    ]
    text = _text(*made, **options)
    if options:
        text = text.replace("drop", "{as: 0}")
    with pytest.raises(SpecError) as error:
        load_text(text, form="yaml")
    faults = error.value.diagnostics
    assert {"DPQL330"} == {fault.code for fault in faults}
    assert all(fault.hint and fault.span for fault in faults)


def test_groups_have_one_total() -> None:
    """A second one would pull them elsewhere."""
    statistics = {"all": WHOLE, "heads": GROUPS, "again": WHOLE}
    with pytest.raises(SpecError, match="DPQL330"):
        load_text(spec_text(COLUMNS, statistics), form="yaml")


def test_a_spec_inside_a_plan_is_checked_again() -> None:
    """Whoever writes a plan by hand gets no total of other rows."""
    spec = _spec()
    whole, groups = spec.statistics
    assert total.are_sound(spec)
    wrong = [
        replace(whole, total_of="nothing"),
        replace(whole, total_of="all"),
        replace(whole, where=None, by=()),
        replace(whole, kind="sum", columns=("x",)),
        replace(whole, alpha=Fraction(1, 9)),
    ]
    for each in wrong:
        assert not total.are_sound(replace(spec, statistics=(each, groups)))
    both = (whole, groups, replace(whole, name="again"))
    assert not total.are_sound(replace(spec, statistics=both))


def test_plan_and_difference_say_so() -> None:
    """Words of the plan name the groups, and what happens to both."""
    made = plan(_spec())
    assert "all groups of heads added up" in str(made)
    assert "costs nothing" in str(made)
    whole, groups = made.steps
    assert ("heads", None) == (whole.total_of, whole.total)
    assert (None, "all") == (groups.total_of, groups.total)
    assert ((), 1) == (whole.by, whole.cells)
