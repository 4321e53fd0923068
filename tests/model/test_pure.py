"""Pure plans are written without the members that account for a delta."""

from __future__ import annotations

import pytest
from spec_text import integer, make_spec

from dpql.errors import PlanFault
from dpql.model.codec import Malformed, parse
from dpql.model.plan import LIMIT, Plan
from dpql.model.pure import ADDED, extended, reduced
from dpql.planner import plan, read

COLUMNS = {"x": integer(0, 10)}


def made(delta: str) -> Plan:
    """Return the plan of a sum and a mean."""
    statistics = {
        "total": {"sum": "x", "spend": "{share: 1}"},
        "middle": {"median": "x", "spend": "{share: 1}"},
    }
    return plan(make_spec(COLUMNS, statistics, delta=delta, mechanism="auto"))


def test_a_pure_plan_says_nothing_of_rho() -> None:
    """Its bytes have none of the members; in memory they are there, and empty."""
    pure = made("0")
    text = pure.to_json().decode()
    assert '"rho"' not in text
    assert '"squared"' not in text
    assert read(pure.to_json()) == pure
    assert {step.rho for step in pure.steps} == {None}


def test_a_plan_with_a_delta_has_them_all() -> None:
    """Every member is written, and read again."""
    other = made("1e-6")
    document = parse(other.to_json(), limit=LIMIT)
    for one in ADDED:
        found = document
        for name in one.path:
            found = found[name]
            if isinstance(found, list):
                found = next((item for item in found if item), None) or {}
            if not found:
                break
        else:
            assert one.name in found
    assert read(other.to_json()) == other


def test_nothing_is_lost_between_the_two() -> None:
    """Extending and reducing undo each other; what says something stays."""
    document = parse(made("0").to_json(), limit=LIMIT)
    assert reduced(extended(document)) == document
    forged = extended(document)
    forged["steps"][0]["rho"] = "1/100"
    with pytest.raises(Malformed, match="a member"):
        reduced(forged)


def test_a_pure_plan_with_a_rho_is_refused() -> None:
    """Bytes that add a member to a pure plan are not what dpql wrote."""
    data = made("0").to_json()
    forged = data.replace(b'"spent": "1"', b'"rho": null,\n  "spent": "1"', 1)
    forged = data.replace(b'  "release"', b'  "rho": null,\n  "release"', 1)
    assert forged != data or b'"release"' in data
    with pytest.raises(PlanFault):
        read(data.replace(b'  "spec":', b'  "rho": null,\n  "spec":', 1))
