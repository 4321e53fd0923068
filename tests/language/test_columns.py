"""The meaning of column declarations."""

from __future__ import annotations

import pytest
from language.samples import REFERENCE

from dpql.errors import SpecError
from dpql.language import load_text


def codes(text: str, form: str = "yaml") -> set[str]:
    """Return the codes that a text provokes."""
    with pytest.raises(SpecError) as caught:
        load_text(text, form=form)
    return {fault.code for fault in caught.value.diagnostics}


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
