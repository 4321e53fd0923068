"""Every page of the manual can be shown."""

from __future__ import annotations

import pytest
from cli.started import dpql, fine

from dpql.cli.commands.explain.pages import page, titles
from dpql.manual import CODES
from dpql.manual.terms import TERMS

pytestmark = pytest.mark.cli


def test_every_page_can_be_shown() -> None:
    """Each title leads to a page with text."""
    assert set(CODES) | set(TERMS) <= set(titles())
    for name in titles():
        found = page(name)
        assert found is not None
        assert found.text.strip()
    assert len(fine(dpql("explain")).splitlines()) == len(titles())


def test_every_code_shows_what_is_wrong_and_what_is_right() -> None:
    """No code of the manual is without its two examples."""
    assert [] == [name for name, code in CODES.items() if not code.wrong]
    assert [] == [name for name, code in CODES.items() if not code.right]
