"""What a reader cannot see or tell apart is refused, in names, keys and texts."""

from __future__ import annotations

import pytest
from language.samples import REFERENCE

from dpql.diagnostics import is_hidden, shown
from dpql.errors import SpecError
from dpql.language import load_text
from dpql.model.limits import MOST_ROWS

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
def test_invisible_characters_are_refused_and_spelled_out(character: str) -> None:
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


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("[north,", "[north, no\u0301rth, n\u00f3rth,", "DPQL322"),
        ("[north,", "[north, \uff4eorth,", "DPQL322"),
        ("[north,", "[north, oo, \u043e\u043e,", "DPQL322"),
        ("[north,", "[north, OX, \u039f\u03a7,", "DPQL322"),
        ("[north,", "[n\u043erth,", "DPQL324"),
        ("[north,", "[north, \u03bfl,", "DPQL324"),
        ("    age:", "    \u0430ge: {type: id}\n    age:", "DPQL324"),
        (
            "    age:",
            "    oo: {type: id}\n    \u043e\u043e: {type: id}\n    age:",
            "DPQL322",
        ),
    ],
)
def test_look_alikes_are_refused(right: str, wrong: str, code: str) -> None:
    """Two keys or columns that read as one, and a word of two alphabets."""
    assert code in codes(REFERENCE.replace(right, wrong, 1))


def test_words_of_one_alphabet_may_stand_side_by_side() -> None:
    """Greek beside Latin is one word each; a micro sign is no letter of Greek."""
    text = REFERENCE.replace(
        "[north,",
        "[north, \u03b1_level, \u00b5g, \u5317north, \u0441\u0435\u0432, A, a,",
    )
    load_text(text, form="yaml")


@pytest.mark.parametrize("key", ["' north'", "'north '", "'\u3000north'"])
def test_keys_have_no_space_at_their_ends(key: str) -> None:
    """A reader would not see it."""
    assert "DPQL208" in codes(REFERENCE.replace("[north,", f"[north, {key},"))


def test_rows_fit_in_sixty_two_bits() -> None:
    """The ceiling itself can be declared, one more cannot."""
    load_text(REFERENCE.replace("2_000_000", str(MOST_ROWS)), form="yaml")
    assert codes(REFERENCE.replace("2_000_000", str(MOST_ROWS + 1))) == {"DPQL325"}
