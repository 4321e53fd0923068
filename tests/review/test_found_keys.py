"""A reviewer reads which keys will be shown; terminal, Markdown, page and JSON."""

from __future__ import annotations

from fractions import Fraction

import pytest
from private_specs import private_plan

from dpql.mechanisms import SEARCHES
from dpql.mechanisms.composition import budget
from dpql.model.spec import MechanismName
from dpql.planner.mechanism_choice import hiding
from dpql.review.alternatives import amount_for
from dpql.review.curves.page import page
from dpql.review.curves.points import error_curves, row_counts
from dpql.review.explain import explain
from dpql.review.found_keys import cells_text, delta_text, keys_lines, reach_text
from dpql.review.render import as_html, as_json, as_markdown, as_text
from dpql.review.what_if import render, what_if


def test_every_form_says_which_keys_are_shown() -> None:
    """The sentence of each search stands in all of them."""
    found = explain(private_plan(listed=True, others=True, shown_from=10))
    assert [line.statistic for line in found.keys] == ["found", "routes"]
    for line in found.keys:
        assert line.shown in as_text(found)
        assert line.shown in as_html(found)
        assert line.shown.replace("-", "\\-") in as_markdown(found).replace("-", "\\-")
    text = str(found.keys[0])
    assert text.startswith("dest, found by found: a key with fewer than 10 units is")
    assert text.endswith("no more than 125 000 keys; all else counts as others")
    # Nothing is grouped by the keys of the other one.
    assert "others" not in str(found.keys[1])


def test_the_table_has_cells_of_each_key() -> None:
    """Their number is known for each key alone; a list says from when on it shows."""
    plan = private_plan(listed=True, shown_from=10)
    assert ["1 a key", "1 a key", "2 a key", "1 a key", "1"] == [
        cells_text(step) for step in plan.steps
    ]
    search = plan.step("found").search
    assert search is not None
    text = as_text(explain(plan))
    assert f"shown from {search.usual} units on" in text
    assert "known after the run" not in text


def test_documents_have_the_numbers() -> None:
    """Exact texts for machines; plans without such keys have no such members."""
    plan = private_plan(shown_from=10)
    document = as_json(explain(plan))
    search = plan.step("flights").search
    assert search is not None
    (first, second) = document["keys"]
    assert first["columns"] == ["dest"]
    assert first["found_by"] == "flights"
    assert first["shown_from"] == "10"
    assert first["half"] == str(search.half)
    assert first["delta"] == "1/2000000"
    assert second["columns"] == ["origin", "dest"]
    by_name = {one["name"]: one for one in document["statistics"]}
    assert by_name["flights by dest"]["search"]["most"] == str(search.most)
    assert by_name["delays by carrier, dest"]["found_by"] == "flights"
    assert by_name["delays by carrier, dest"]["search"] is None
    assert "search" not in by_name["planes"]
    assert document["chance"].startswith("δ 1e-6 for keys")
    shared = as_json(explain(private_plan(mechanism="gaussian")))
    assert shared["delta"] == {"exact": "1/1000000", "decimal": "1e-6"}


def test_delta_is_divided_among_chance_and_accounts() -> None:
    """Where rho is shared, half of the delta turns it into epsilon."""
    pure = private_plan()
    assert delta_text(pure) == (
        "δ 1e-6 for keys that one unit alone has, to be shown by chance"
    )
    shared = private_plan(mechanism="gaussian")
    assert delta_text(shared) == (
        "δ 5e-7 for keys that one unit alone has, to be shown by chance; "
        "δ 5e-7 to turn ρ into ε"
    )
    assert explain(shared).in_rho
    assert delta_text(private_plan(listed=True)) is not None


def test_what_one_unit_reaches_is_said() -> None:
    """Keys spend epsilon each, or a rho together."""
    step = private_plan().step("flights")
    assert step.search is not None
    assert reach_text(step, step.search) == (
        "one unit can change 3 keys, so each spends ε 1/3"
    )
    step = private_plan(mechanism="gaussian").step("flights")
    assert step.search is not None
    assert reach_text(step, step.search) == (
        "one unit can change 3 keys: all of them together cost its ρ once"
    )
    notes = explain(private_plan(others=True)).notes
    assert "delays: for each key that flights shows, and for others." in notes
    assert any("it counts for at most 3 of them, chosen by lot" in n for n in notes)


def test_keys_that_hardly_any_data_show_are_warned_of() -> None:
    """With so little epsilon, a key would need more rows than there are."""
    notes = explain(private_plan(epsilon="0.01", rows="{at_most: 1000}")).notes
    assert any("hardly any will be; spend more on it" in note for note in notes)
    assert not any("hardly any" in note for note in explain(private_plan()).notes)


def test_other_noise_is_compared_at_the_same_cost() -> None:
    """A search has other mechanisms than a sum, and a list has none."""
    plan = private_plan(listed=True)
    notes = explain(plan).notes
    assert any(
        note.startswith("routes: gaussian_threshold would give") for note in notes
    )
    listed = [n for n in notes if n.startswith("found: ") and "would" in n]
    assert all("would show keys from" in note for note in listed)
    assert len(listed) == len(hiding(plan.spec, plan.spec.statistics[0])) - 1
    step = plan.step("routes")
    amount = amount_for(plan, step, "gaussian_threshold")
    half = budget(plan.epsilon, plan.delta / 2)
    assert amount == half * plan.cost(step) / plan.epsilon


def test_what_if_says_from_when_on_keys_are_shown() -> None:
    """A list keeps its mechanism, whatever is supposed of the others."""
    plan = private_plan(listed=True)
    more = what_if(plan, epsilon=Fraction(8))
    text = render(plan, {"epsilon": Fraction(8)}, "text", source="x")
    (line,) = [line for line in str(text).splitlines() if line.startswith(" found")]
    assert line.count("shown from") == 2
    assert "±" not in line
    assert more.steps[0].mechanism == "selection"
    other = what_if(plan, mechanism=MechanismName.GAUSSIAN)
    found, flights, *_ = other.steps
    assert found.mechanism in SEARCHES
    assert flights.mechanism == "gaussian"


@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
def test_the_page_draws_searches(mechanism: str) -> None:
    """Every card has its curve; of keys alone it is of units, without a sign."""
    plan = private_plan(listed=True, others=True, mechanism=mechanism)
    curves = error_curves(plan, (plan.cost(plan.steps[0]),), rows=1_000)
    names = {(curve.name, curve.mechanism) for curve in curves}
    assert ("found", "selection") in names
    assert ("routes", "truncated_geometric") in names
    assert (("routes", "gaussian_threshold") in names) == plan.in_rho
    assert all(curve.rows is None for curve in curves)
    assert row_counts(plan) == ()
    html = page(plan)
    found = keys_lines(plan)[0]
    assert found.shown in html
    assert f"shown from {found.search.usual} units on" in html
    assert html.count("<svg") == len(plan.steps)


def test_the_slider_leaves_the_delta_of_keys_out() -> None:
    """A rho gives epsilon at the delta that is left, as in the plan itself."""
    plan = private_plan(mechanism="gaussian")
    assert plan.spent == 4
    assert "so ε ≈ 4 at δ = 1e-6" in page(plan)
