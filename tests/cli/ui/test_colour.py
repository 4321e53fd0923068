"""Colours change no word, and can be declined."""

from __future__ import annotations

import re

import pytest
from cli.started import dpql, fine
from cli.terminal import shown_on_a_terminal

pytestmark = pytest.mark.cli


def test_terminals_get_colours_unless_declined() -> None:
    """Only a terminal gets escapes, and NO_COLOR is obeyed."""
    spec = "specs/income.yaml"
    assert "\x1b[32m" in shown_on_a_terminal(80, "check", spec)
    assert "\x1b" not in shown_on_a_terminal(80, "check", spec, NO_COLOR="1")
    assert "\x1b" not in fine(dpql("check", spec))


def test_tables_have_colours_that_change_no_word() -> None:
    """On a terminal the same words have colours; NO_COLOR takes them."""
    spec = "specs/district_wages.yaml"
    for arguments in (("plan", spec), ("diff", "specs/income.yaml", spec)):
        plain = shown_on_a_terminal(120, *arguments, NO_COLOR="1")
        coloured = shown_on_a_terminal(120, *arguments)
        assert "\x1b" not in plain
        assert plain != coloured
        assert plain == re.sub(r"\x1b\[[0-9;]*m", "", coloured)
