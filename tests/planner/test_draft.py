"""What a draft keeps of delta for searches."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from private_specs import private_plan
from spec_text import make_spec

from dpql.planner.draft import Draft

COLUMNS = {"x": "{type: integer, bounds: [0, 9], nulls: drop}"}


@pytest.mark.parametrize("concentrated", [False, True])
def test_searches_have_all_of_delta_or_half(*, concentrated: bool) -> None:
    """The other half is what converting rho takes."""
    spec = private_plan().spec
    draft = replace(Draft(spec=spec), concentrated=concentrated)
    assert ("flights", "routes") == draft.searches
    assert spec.privacy.delta / (2 if concentrated else 1) == draft.events


def test_without_searches_nothing_is_kept() -> None:
    """All of delta is for accounting."""
    count = {"count": "rows", "spend": "{share: 1}"}
    draft = Draft(spec=make_spec(COLUMNS, {"all": count}, delta="1e-6"))
    assert () == draft.searches
    assert Fraction(0) == draft.events
