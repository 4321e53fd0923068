"""Which statistic finds the keys of private columns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from language.samples import PRIVATE

from dpql.language import load_text
from dpql.model.spec import MechanismName, Spec, Statistic
from dpql.statistics.searches import (
    are_sound,
    counting,
    found_by,
    is_search,
    search_among,
    searches_of,
)

SPEC = load_text(PRIVATE, form="yaml")
PEOPLE, DISTRICT = "people", frozenset({"district"})


def changed(spec: Spec, **statistics: dict[str, object]) -> Spec:
    """Return a spec some of whose statistics have other members."""
    return replace(
        spec,
        statistics=tuple(
            replace(one, **statistics.get(one.name, {})) for one in spec.statistics
        ),
    )


def named(spec: Spec, name: str) -> Statistic:
    """Return a statistic of a spec."""
    return next(one for one in spec.statistics if one.name == name)


def test_units_are_counted_as_rows_where_each_row_is_one() -> None:
    """The statistic that finds keys follows from whom the spec protects."""
    assert ("count", "units") == (counting(None), counting("person_id"))


def test_the_first_count_of_units_finds_keys_unless_they_are_listed() -> None:
    """Whatever else is grouped by these columns has the same keys."""
    assert {DISTRICT: PEOPLE} == {x: one.name for x, one in searches_of(SPEC).items()}
    headcount = named(SPEC, "headcount")
    assert not is_search(SPEC, headcount)
    assert found_by(SPEC, headcount) == named(SPEC, PEOPLE)
    assert found_by(SPEC, named(SPEC, "prime_age")) is None
    by_list = changed(SPEC, headcount={"kind": "keys"})
    assert is_search(by_list, named(by_list, "headcount"))
    assert not is_search(by_list, named(by_list, PEOPLE))


def test_groups_of_declared_keys_beside_private_ones_find_none() -> None:
    """Their units would be counted in more groups than one of a key."""
    mixed = replace(named(SPEC, PEOPLE), by=("district", "age"))
    assert {} == search_among(DISTRICT, "units", [mixed])


def test_a_total_finds_no_keys() -> None:
    """It has the groups of another statistic and no cells of its own."""
    total = replace(named(SPEC, PEOPLE), total_of="headcount")
    assert {} == search_among(DISTRICT, "units", [total])


@pytest.mark.parametrize(
    "statistics",
    [
        {PEOPLE: {"by": ()}},
        {PEOPLE: {"mechanism": MechanismName.SNAPPING}},
        {PEOPLE: {"kind": "count"}},
        {"headcount": {"shown_from": 2}},
        {"prime_age": {"shown_from": 2}},
        {"prime_age": {"kind": "keys"}},
        {"headcount": {"kind": "keys"}, PEOPLE: {"kind": "keys"}},
        {"headcount": {"total_of": PEOPLE}},
    ],
)
def test_specs_whose_keys_nothing_finds_are_unsound(
    statistics: dict[str, dict[str, object]],
) -> None:
    """So are those that would find keys without a price, or declared ones."""
    assert are_sound(SPEC)
    assert not are_sound(changed(SPEC, **statistics))


def test_private_keys_without_a_delta_are_unsound() -> None:
    """A key of one unit could appear then with no probability but 0."""
    pure = replace(SPEC, privacy=replace(SPEC.privacy, delta=0))
    assert not are_sound(pure)
    nobody = {one.name: {"by": ()} for one in SPEC.statistics if one.by}
    assert are_sound(changed(pure, **nobody))
