"""Which mechanism shows keys: the one that shows those of the fewest units."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpql.mechanisms import SEARCHES
from dpql.mechanisms.composition import budget
from dpql.model.plan import Plan
from dpql.model.spec import MechanismName
from dpql.planner import plan
from tests.planner.test_private_plans import COUNT, LISTED, UNITS, Case, private_spec

EPSILON, DELTA = "1", "0.000001"
FINDERS = {
    "keys alone": (LISTED, "selection", "gaussian_selection"),
    "with counts": (UNITS, "truncated_geometric", "gaussian_threshold"),
}


def _plan(
    groups: int,
    mechanism: str = "auto",
    relation: str = "add_remove",
    what: str = "keys alone",
) -> Plan:
    asked = FINDERS[what][0]
    case = Case(
        what,
        {"found": {**asked, "mechanism": mechanism}},
        epsilon=EPSILON,
        delta=DELTA,
        bounds=(1, groups, None),
        relation=relation,
    )
    return plan(private_spec(case))


@pytest.mark.parametrize("what", FINDERS)
@pytest.mark.parametrize("groups", [1, 2, 4, 10, 100])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_keys_are_shown_from_the_fewest_units(
    groups: int, relation: str, what: str
) -> None:
    """Pure noise where a unit has few keys, Gaussian noise where it has many."""
    (step,) = _plan(groups, relation=relation, what=what).steps
    assert step.search is not None
    keys = groups if relation == "add_remove" else 2 * groups
    epsilon, delta = Fraction(EPSILON), Fraction(DELTA)
    _, pure, normal = FINDERS[what]
    spends = {
        pure: (epsilon, delta),
        normal: (budget(epsilon, delta / 2), delta / 2),
    }
    usual = {
        name: SEARCHES[name].units_for(
            SEARCHES[name].calibrate_keys(spend, most, keys=keys), 1 - step.alpha
        )
        for name, (spend, most) in spends.items()
    }
    assert step.search.usual == min(usual.values())
    assert step.mechanism == min(usual, key=lambda name: usual[name])


@pytest.mark.parametrize(
    ("word", "mechanism"),
    [("geometric", "selection"), ("gaussian", "gaussian_selection")],
)
def test_words_mean_what_finds_keys(word: str, mechanism: str) -> None:
    """A spec says geometric or gaussian, of keys alone too."""
    (step,) = _plan(2, word).steps
    assert step.mechanism == mechanism
    assert MechanismName(word)


def test_keys_alone_have_no_number() -> None:
    """Whatever shows them, only 1 can be released of a key."""
    for groups in (1, 100):
        (step,) = _plan(groups).steps
        assert step.search is not None
        finder = SEARCHES[step.search.noise.mechanism]
        noise = finder.restore(dict(step.search.noise.parameters))
        assert [n for n in range(-3, 2000) if finder.is_outcome(noise, n)] == [1]
        assert step.upper == 1
        assert step.accuracy is None


def test_a_list_beside_other_steps_shares_their_rho() -> None:
    """Its delta is fixed before, whichever mechanism shows the keys."""
    case = Case(
        "beside",
        {"found": LISTED, "count": {**COUNT, "mechanism": "gaussian"}},
        epsilon=EPSILON,
        delta=DELTA,
        bounds=(1, 20, None),
    )
    made = plan(private_spec(case))
    found = made.step("found")
    assert found.mechanism == "gaussian_selection"
    assert found.delta == made.delta / 2
    assert replace(found, search=None).parts == ()
