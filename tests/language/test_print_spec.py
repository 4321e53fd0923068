"""A spec printed in either form means the same."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from language.strategies import specs

from dpql.language import load_text, print_spec
from dpql.model.spec import Spec

relaxed = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.property
@relaxed
@given(specs())
def test_any_spec_survives_both_forms(spec: Spec) -> None:
    """Spec to text and back is the same spec, in both forms."""
    assert spec == load_text(print_spec(spec, "yaml"), form="yaml")
    assert spec == load_text(print_spec(spec, "dpql"), form="dpql")
