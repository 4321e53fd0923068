"""What a plan says of keys that are found, before there are any data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from private_specs import private_plan, private_text

from dpql.language import load_text
from dpql.mechanisms import SEARCHES
from dpql.model.key_text import (
    few_words,
    finder,
    from_text,
    has_others,
    most_text,
    not_shown_text,
    shown_text,
)
from dpql.model.plan import Plan, Search
from dpql.model.step_text import bound_text, losses_text
from dpql.planner import plan as make_plan


def _shown(plan: Plan, **change: object) -> str:
    step = plan.step("flights")
    assert step.search is not None
    search: Search = replace(step.search, **change)  # type: ignore[arg-type]
    return shown_text(plan, replace(step, search=search))


def test_a_sentence_tells_which_keys_are_shown() -> None:
    """Never, in half of the runs, in most of them, always: each in its units."""
    plan = private_plan(shown_from=10)
    text = _shown(plan, half=21, usual=24, certain=32)
    assert text == (
        "a key with fewer than 10 units is never shown, with 21 units in half of the "
        "runs, from 24 units on in 95%, from 32 units on always"
    )
    assert _shown(plan, half=24, usual=24, certain=None) == (
        "a key with fewer than 10 units is never shown, from 24 units on in 95%"
    )
    assert _shown(plan, half=24, usual=24, certain=24) == (
        "a key with fewer than 10 units is never shown, from 24 units on always"
    )


def test_a_key_of_one_unit_is_shown_by_chance_alone() -> None:
    """Where no number of units is too small, delta says how probable it is."""
    text = _shown(private_plan(), half=1_200, usual=1_300, delta=Fraction(1, 3 * 10**6))
    assert "a key with 1 unit is shown with a probability of at most 3.34e-7" in text
    assert "with 1 200 units in half" in text
    assert "never" not in text


def test_only_rows_that_pass_are_meant() -> None:
    """A condition of the statistic decides of which rows units are counted."""
    count = "  flights:\n    count: units\n"
    spec = private_text().replace(count, f"{count}    where: delay > 30\n")
    plan = make_plan(load_text(spec, form="yaml"))
    text = shown_text(plan, plan.step("flights"))
    assert text.startswith("of rows where delay > 30, a key with 1 unit is shown")


def test_rows_are_called_rows() -> None:
    """Without a unit it is rows that are counted."""
    plan = private_plan(unit="row", shown_from=10)
    step = plan.step("flights")
    text = shown_text(plan, step)
    assert "fewer than 10 rows" in text
    assert "unit" not in text
    assert "keys that few rows have are not shown" == few_words(step, 3)
    assert "rows on" in from_text(step, 7)


@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
def test_the_numbers_are_those_of_the_noise(mechanism: str) -> None:
    """One unit fewer is shown less often than the sentence says."""
    plan = private_plan(mechanism=mechanism, shown_from=10)
    search = plan.step("flights").search
    assert search is not None
    module = SEARCHES[search.noise.mechanism]
    noise = module.restore(dict(search.noise.parameters))
    for units, chance in (
        (search.half, Fraction(1, 2)),
        (search.usual, Fraction(19, 20)),
    ):
        assert module.chance(noise, units - 9) >= chance
        assert module.chance(noise, units - 10) < chance
    assert module.chance(noise, 1) <= search.delta
    assert module.chance(noise, 0) == 0
    if search.certain is not None:
        assert module.chance(noise, search.certain - 9) == 1
        assert module.chance(noise, search.certain - 10) < 1


def test_each_step_knows_what_finds_its_keys() -> None:
    """A list comes before a count; a number alone has no keys."""
    plan = private_plan(listed=True)
    found = {step.name: finder(plan, step) for step in plan.steps}
    names = {name: None if one is None else one.name for name, one in found.items()}
    assert names == {
        "found": "found",
        "flights": "found",
        "delays": "found",
        "routes": "routes",
        "planes": None,
    }
    assert [step.names_only for step in plan.steps] == [True, *[False] * 4]
    assert [step.per_key for step in plan.steps] == [*[True] * 4, False]


def test_what_is_not_shown_is_said() -> None:
    """Of the search, of what is grouped by its keys, and where the rest counts."""
    plan = private_plan(others=True)
    delays = plan.step("delays")
    assert has_others(plan, plan.step("flights"))
    few, rest = not_shown_text(plan, delays)
    assert few.startswith("Keys of dest that few units have are not shown: a key")
    assert rest == (
        "Rows whose dest is none of the keys that are shown count under others, those "
        "without one nowhere."
    )
    nowhere = private_plan()
    assert [*not_shown_text(nowhere, nowhere.step("delays"))][1].endswith(
        "count nowhere."
    )
    (only,) = not_shown_text(plan, plan.step("routes"))
    assert "origin and dest" in only
    assert [] == [*not_shown_text(plan, plan.step("planes"))]
    assert few in losses_text(plan, delays)
    assert few_words(delays, 0).startswith("no key is shown: ")


def test_bounds_do_not_count_keys_that_nobody_knows() -> None:
    """A unit is bounded in some groups, of which there may be any number."""
    plan = private_plan(listed=True)
    assert "each plane once in at most 3 groups" == bound_text(
        plan.step("found"), "plane"
    )
    assert "at most 2 rows of a plane in at most 3 groups" == bound_text(
        plan.step("delays"), "plane"
    )
    one = private_plan(contributes="{rows: 2, groups: 1}")
    assert "each plane once in at most 1 group" == bound_text(
        one.step("flights"), "plane"
    )


def test_the_most_keys_are_stated() -> None:
    """Thousands are set apart."""
    search = private_plan().step("flights").search
    assert search is not None
    assert most_text(replace(search, most=5_000)) == "no more than 5 000 keys"
    assert most_text(replace(search, most=1)) == "no more than 1 key"
