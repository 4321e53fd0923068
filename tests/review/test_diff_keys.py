"""What changes with private keys, and what it means for promise and output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from private_specs import private_plan, private_text

from dpql.language import load_text
from dpql.model.plan import Plan
from dpql.planner import plan as make_plan
from dpql.review.change import Change, Verdict
from dpql.review.diff import Difference, diff


def _changes(found: Difference, subject: str) -> list[Change]:
    return [change for change in found.changes if change.subject == subject]


def _edited(edit: Callable[[str], str], **options: object) -> Plan:
    text = private_text(**options)  # type: ignore[arg-type]
    assert edit(text) != text
    return make_plan(load_text(edit(text), form="yaml"))


def _declared(text: str) -> str:
    """Declare the keys of one column; without searches of it there is no `list`."""
    return text.replace("keys: private}", "keys: [a, b, c]}").replace(
        "delta: 1e-6", "delta: 0"
    )


def test_the_least_number_of_units_is_a_promise() -> None:
    """Fewer is weaker, more is stronger; both say which keys it concerns."""
    few, many = private_plan(shown_from=10), private_plan(shown_from=20)
    stronger = diff(few, many)
    assert stronger.verdict is Verdict.STRONGER
    (change,) = _changes(stronger, "shown_from")
    assert change.text == "flights 10 → 20"
    assert change.note == "keys of 10 to 19 units are never shown now"
    weaker = diff(many, few)
    assert weaker.verdict is Verdict.WEAKER
    (change,) = _changes(weaker, "shown_from")
    assert change.note == "keys of 10 to 19 units may be shown now"
    (change,) = _changes(weaker, "shown")
    assert change.verdict is Verdict.SAME
    assert change.note == "more keys are shown"
    assert "units on, in 95% of the runs from" in change.text


def test_keys_that_become_private_are_for_review() -> None:
    """What is shown then depends on the data, and takes a part of delta."""
    public, private = _edited(_declared), private_plan()
    found = diff(public, private)
    assert found.verdict is Verdict.WEAKER  # of delta
    dest, origin = _changes(found, "keys")
    assert dest.text == "dest, 3 declared keys → found in the data"
    assert dest.verdict is Verdict.REVIEW
    assert "those that few units have are not shown" in dest.note
    assert "origin" in origin.text
    groups = [change.text for change in _changes(found, "groups")]
    assert (
        "flights: dest (3 public keys) → dest (1 cell for each key that is found)"
        in groups
    )
    spends = [change.note for change in _changes(found, "spends")]
    assert "keys that one unit alone has are shown by chance" in spends
    assert not _changes(found, "other")


def test_keys_that_become_public_are_for_review() -> None:
    """Then every declared key has a value, and no other."""
    found = diff(private_plan(), _edited(_declared))
    assert found.verdict is Verdict.REVIEW
    dest, _ = _changes(found, "keys")
    assert dest.text == "dest, found in the data → 3 declared keys"
    assert "every declared key has a value" in dest.note
    assert not _changes(found, "other")


@pytest.mark.parametrize("public", [False, True])
def test_others_come_and_go(*, public: bool) -> None:
    """One more key of all else, for private and for public keys."""
    if public:
        without = private_plan()
        others = _edited(lambda x: x.replace("[UA, AA]", "[UA, AA], others: true"))
    else:
        without, others = private_plan(), private_plan(others=True)
    name = "carrier" if public else "dest"
    found = diff(without, others)
    assert found.verdict is Verdict.REVIEW
    (change,) = _changes(found, "keys")
    assert change.text == f"{name}, + others"
    assert "counted too" in change.note
    (change,) = _changes(diff(others, without), "keys")
    assert change.text == f"{name}, - others"
    assert change.note == "what is no key counts nowhere"
    assert not _changes(found, "other")


def test_declared_keys_beside_others_are_compared() -> None:
    """The last key is none of them."""
    some = _edited(lambda x: x.replace("[UA, AA]", "[UA, AA], others: true"))
    more = _edited(lambda x: x.replace("[UA, AA]", "[UA, AA, DL], others: true"))
    (change,) = _changes(diff(some, more), "keys")
    assert change.text == "carrier, 2 keys → 3"
    assert change.note == '+ "DL"'


def test_another_statistic_finds_the_keys() -> None:
    """What is grouped by them may have values of other keys."""
    found = diff(private_plan(), private_plan(listed=True))
    assert found.verdict is Verdict.REVIEW
    texts = [change.text for change in _changes(found, "finds")]
    assert texts == [
        "flights: finds its keys → the keys that found shows",
        "delays: the keys that flights shows → the keys that found shows",
    ]
    mechanisms = [change.text for change in _changes(found, "mechanism")]
    assert "flights: truncated_geometric → geometric" in mechanisms
    assert not _changes(found, "other")


def test_other_noise_and_another_delta_are_judged() -> None:
    """Another mechanism is for review; less delta shows fewer keys, more is weaker."""
    pure, less = private_plan(), private_plan(delta="1e-9")
    found = diff(pure, less)
    assert found.verdict is Verdict.STRONGER
    assert {"fewer keys are shown"} == {c.note for c in _changes(found, "shown")}
    assert diff(less, pure).verdict is Verdict.WEAKER
    gaussian = diff(pure, private_plan(mechanism="gaussian"))
    assert gaussian.verdict is Verdict.REVIEW
    assert any(
        change.text == "flights: truncated_geometric → gaussian_threshold"
        for change in _changes(gaussian, "mechanism")
    )
    for one in (found, gaussian):
        assert not _changes(one, "other")


def test_a_chance_at_another_level_is_shown() -> None:
    """With another alpha, what is meant by most of the runs is another thing."""
    found = diff(private_plan(), private_plan(alpha="0.01"))
    texts = [change.text for change in _changes(found, "shown")]
    assert any("in 95% → 99% of the runs from" in text for text in texts)
    assert found.verdict is Verdict.SAME


def test_a_search_that_nobody_explains_is_for_review() -> None:
    """A plan whose keys are of another number, and nothing says why."""
    plan = private_plan()
    step = plan.step("planes")
    other = replace(
        plan,
        steps=tuple(replace(s, l0=2) if s is step else s for s in plan.steps),
    )
    assert diff(plan, other).verdict is Verdict.REVIEW
    assert diff(plan, plan).verdict is Verdict.SAME
