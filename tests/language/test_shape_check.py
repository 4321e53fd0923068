"""Faults of shape, in plain words."""

from __future__ import annotations

import pytest
from language.diagnostics import cases, diagnose
from language.samples import REFERENCE


@pytest.mark.parametrize(("right", "wrong", "expected"), cases("shape"))
def test_poor_shapes_are_explained_in_plain_words(
    right: str, wrong: str, expected: str
) -> None:
    """Each poor shape is named, never by a schema's own message."""
    assert right in REFERENCE
    assert expected in diagnose(REFERENCE.replace(right, wrong, 1))
