"""What a reader cannot see is refused."""

from __future__ import annotations

import pytest
from language.samples import REFERENCE

from dpql.diagnostics import is_hidden, shown
from dpql.errors import SpecError
from dpql.language import load_text

INVISIBLE = [
    *("\u00ad", "\u034f", "\u115f", "\u1160", "\u17b4", "\u180b", "\u180f", "\u200b"),
    *("\u202e", "\u2060", "\u206f", "\u2800", "\u3164", "\ufe0f", "\uffa0", "\ufff0"),
    *("\U0001d173", "\U000e0100", "\U000e0fff"),
]


def codes(text: str, form: str = "yaml") -> set[str]:
    """Return the codes that a text provokes."""
    with pytest.raises(SpecError) as caught:
        load_text(text, form=form)
    return {fault.code for fault in caught.value.diagnostics}


@pytest.mark.parametrize("character", INVISIBLE, ids=lambda c: f"{ord(c):04x}")
def test_invisible_characters_are_refused_and_escaped(character: str) -> None:
    """They are refused in columns, keys and purposes, raw and as YAML escapes."""
    escaped = f"\\U{ord(character):08x}"
    for written in (character, escaped):
        for right, wrong in (
            ("    age:", f'    "ag{written}e": {{type: id}}\n    age:'),
            ("[north,", f'[north, "north{written}",'),
            ("Monthly wage tables by district.", f'"Monthly{written}"'),
        ):
            assert codes(REFERENCE.replace(right, wrong, 1)) == {"DPQL106"}
    assert shown(f"a{character}b") == f"a\\u{{{ord(character):x}}}b"


@pytest.mark.parametrize("character", "a~ é中ß\u0332€\ua4d0𝒜")
def test_visible_characters_are_left_alone(character: str) -> None:
    """Letters, marks and spaces that show are not hidden."""
    assert not is_hidden(character)
