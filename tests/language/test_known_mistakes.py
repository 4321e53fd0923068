"""Known mistakes get a hint."""

from __future__ import annotations

import pytest
from language.diagnostics import cases, diagnose
from language.samples import REFERENCE

from dpql.language import format_text


@pytest.mark.parametrize(("right", "wrong", "expected"), cases("known_mistakes"))
def test_known_mistakes_get_a_hint(right: str, wrong: str, expected: str) -> None:
    """SQL, Python and YAML are recognised where the parser stops."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    assert right in text
    assert expected in diagnose(text.replace(right, wrong, 1), "dpql")
