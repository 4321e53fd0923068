"""What a spec may leave out, and what counts then."""

from __future__ import annotations

from fractions import Fraction

import pytest
from language.flights import flights
from language.samples import KNOWN_N, REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load_text
from dpql.model.spec import MechanismName, Neighbours
from dpql.planner import plan

LINES = (
    "  neighbours: add_remove\n",
    "  delta: 0\n",
    "defaults: {alpha: 0.05, gamma: 1e-9}\n",
)
SHORT = REFERENCE
for line in LINES:
    SHORT = SHORT.replace(line, "")
FORMS = ("yaml", "dpql")


def in_form(text: str, form: str) -> str:
    """Return a YAML text in a form."""
    return format_text(text, form="yaml", to=form)


def faults(text: str, form: str) -> list[str]:
    """Return the codes of all faults of a text."""
    try:
        load_text(text, form=form)
    except SpecError as error:
        return [fault.code for fault in error.diagnostics]
    return []


@pytest.mark.parametrize("form", FORMS)
def test_what_is_left_out_counts_as_the_language_says(form: str) -> None:
    """Both forms fill in the same values."""
    spec = load_text(in_form(SHORT, form), form=form)
    assert spec.privacy.neighbours is Neighbours.ADD_REMOVE
    assert spec.privacy.delta == 0
    assert spec.signer is None
    first = spec.statistics[0]
    expected = (Fraction(1, 20), Fraction(1, 10**9), MechanismName.AUTO)
    assert expected == (first.alpha, first.gamma, first.mechanism)


@pytest.mark.parametrize("form", FORMS)
def test_spec_means_the_same_with_its_defaults_written_out(form: str) -> None:
    """Leaving a default out changes neither the spec nor the digest of its plan."""
    short = load_text(in_form(SHORT, form), form=form)
    full = load_text(in_form(REFERENCE, form), form=form)
    assert full == short
    assert plan(full).digest == plan(short).digest


@pytest.mark.parametrize("form", FORMS)
def test_spec_says_what_was_filled_in(form: str) -> None:
    """Each filled in value is named, with its statistics where only some take it."""
    some = "of headcount, wage_mean, prime_age, people"
    spec = load_text(in_form(SHORT, form), form=form)
    expected = (
        "neighbours add_remove",
        "delta 0",
        "alpha 0.05",
        "gamma 1e-9",
        f"mechanism auto {some}",
    )
    assert expected == spec.filled_in


def test_plan_shows_what_was_filled_in() -> None:
    """The reviewer reads it under the table."""
    text = SHORT.replace("    mechanism: geometric\n", "")
    shown = str(plan(load_text(text, form="yaml")))
    line = next(line for line in shown.splitlines() if "filled in" in line)
    words = "neighbours add_remove, delta 0, alpha 0.05, gamma 1e-9, mechanism auto"
    assert f"filled in  {words}" == line.strip()


def test_nothing_is_filled_in_where_all_is_said() -> None:
    """A default that is written is not filled in."""
    text = REFERENCE.replace("gamma: 1e-9}", "gamma: 1e-9, mechanism: auto}")
    assert load_text(text, form="yaml").filled_in == ()


def test_own_setting_of_a_statistic_counts_without_defaults() -> None:
    """A statistic's own level is used whether or not there are defaults."""
    text = SHORT.replace("at_least: 500", "at_least: 500\n    alpha: 0.1")
    spec = load_text(text, form="yaml")
    assert [Fraction(1, 10), Fraction(1, 20)] == [
        spec.statistics[1].alpha,
        spec.statistics[2].alpha,
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [REFERENCE, KNOWN_N])
def test_one_missing_line_gives_few_faults(text: str, form: str) -> None:
    """Whichever line is missing, its absence is noted and not each of its effects."""
    lines = in_form(text, form).splitlines(keepends=True)
    for index in range(len(lines)):
        found = faults("".join(lines[:index] + lines[index + 1 :]), form)
        assert len(found) <= 6, lines[index]


def test_undeclared_column_is_noted_once() -> None:
    """Other uses are in the hint of the first one."""
    text = REFERENCE.replace("    age: ", "    aeg: ")
    with pytest.raises(SpecError) as caught:
        load_text(text, form="yaml")
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.hint) == (
        "DPQL301",
        "did you mean `wage`? (also in lines 31, 34)",
    )


def test_spec_without_columns_has_one_fault() -> None:
    """Where no column is declared, their uses say nothing more."""
    start, end = REFERENCE.index("  columns:"), REFERENCE.index("privacy:")
    assert faults(REFERENCE[:start] + REFERENCE[end:], "yaml") == ["DPQL201"]


@pytest.mark.parametrize("form", FORMS)
def test_comments_survive_where_neighbours_are_left_out(form: str) -> None:
    """A comment on the budget's line is kept in either form."""
    text = SHORT.replace("epsilon: 1.0", "epsilon: 1.0  # agreed in May")
    there = in_form(text, form)
    assert "agreed in May" in there
    assert format_text(there, form=form, to="yaml") == format_text(text, form="yaml")


def test_the_zone_of_times_is_filled_in() -> None:
    """A reader of the plan sees whose clock it is."""
    assert "zone +00:00 of left" in load_text(flights(), form="yaml").filled_in
    zoned = flights().replace("step: minute", "step: minute, zone: '+01:00'")
    assert not [one for one in load_text(zoned, form="yaml").filled_in if "zone" in one]
