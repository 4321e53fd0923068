"""What-ifs: their numbers, and the table beside the plan as it is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpql.errors import PlanFault
from dpql.language import load
from dpql.model.plan import Plan
from dpql.model.spec import MechanismName
from dpql.planner import plan
from dpql.review.what_if import render, what_if

SPECS = Path(__file__).parents[2] / "specs"


def planned(name: str) -> Plan:
    """Return the plan of a spec of the gallery."""
    return plan(load(SPECS / f"{name}.yaml"))


def test_what_if_says_what_another_total_would_give() -> None:
    """The same as planning the changed spec, but nothing that could be run."""
    made = planned("smallest_mean")
    supposed = what_if(made, epsilon=Fraction(2))
    privacy = replace(made.spec.privacy, epsilon=Fraction(2))
    expected = plan(replace(made.spec, privacy=privacy))
    assert supposed.spent == expected.spent == 2
    assert supposed.steps[0].accuracy == expected.steps[0].accuracy
    assert not hasattr(supposed, "to_json")


def test_what_if_takes_another_level_and_mechanism() -> None:
    """Less certainty or geometric noise gives a smaller error."""
    made = planned("smallest_mean")
    before = made.steps[0].accuracy
    assert before is not None
    looser = what_if(made, alpha=Fraction(1, 2)).steps[0]
    other = what_if(made, mechanism=MechanismName.GEOMETRIC).steps[0]
    assert looser.accuracy is not None
    assert other.accuracy is not None
    assert max(looser.accuracy, other.accuracy) < before
    assert other.mechanism == "geometric"


def test_what_if_refuses_what_cannot_be_planned() -> None:
    """Too small a total for the targets."""
    with pytest.raises(PlanFault, match="DPQL430"):
        what_if(planned("district_wages"), epsilon=Fraction(1, 10))


def test_the_table_has_the_plan_beside_it() -> None:
    """What it would be, what it is now, and the totals of both."""
    made = planned("smallest_mean")
    text = render(made, {"epsilon": Fraction(2)}, "text", source="mean.yaml")
    assert isinstance(text, str)
    assert text.startswith("mean.yaml   what if epsilon = 2 ")
    assert " spends     ε = 2 instead of 1\n" in text
    heading = text.splitlines()[2].split()
    assert ["statistic", "mechanism", "ε", "within", "now"] == heading


def test_markdown_is_a_table_with_a_heading() -> None:
    """For a pull request; the same cells as in the text."""
    made = planned("smallest_mean")
    text = render(made, {"epsilon": Fraction(2)}, "markdown", source="mean.yaml")
    assert isinstance(text, str)
    assert text.startswith("### What if epsilon = 2\n\n| statistic |")
    assert 1 + 1 + len(made.steps) == text.count("\n| ")


def test_the_document_has_exact_numbers() -> None:
    """Every number is a text, exact beside decimal."""
    made = planned("smallest_mean")
    document = render(made, {"epsilon": Fraction(2)}, "json", source="mean.yaml")
    assert isinstance(document, dict)
    assert {"epsilon": "2"} == document["supposing"]
    assert {"exact": "2", "decimal": "2"} == document["spent"]
    accuracy = what_if(made, epsilon=Fraction(2)).steps[0].accuracy
    assert str(accuracy) == document["statistics"][0]["accuracy"]["exact"]
