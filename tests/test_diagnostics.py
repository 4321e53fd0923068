"""Faults as people see them."""

from __future__ import annotations

import pytest
from language.samples import REFERENCE

from dpql.diagnostics import render_concise, render_text, shown
from dpql.errors import Diagnostic, Span, SpecError
from dpql.language import load_text


def faults_of(text: str) -> tuple[Diagnostic, ...]:
    """Return the faults of a text named wages.yaml."""
    with pytest.raises(SpecError) as caught:
        load_text(text, source="wages.yaml", form="yaml")
    return caught.value.diagnostics


def test_full_rendering_points_at_the_span() -> None:
    """The line, a caret below the word, and a hint."""
    faults = faults_of(REFERENCE.replace("mean: wage", "mean: wages"))
    expected = """\
wages.yaml:25:11: DPQL301 no column `wages` in data `wages`
   |
25 |     mean: wages
   |           ^^^^^
   = hint: did you mean `wage`?"""
    assert expected == render_text(faults)


def test_concise_rendering_is_one_line() -> None:
    """Place, code, message and hint on one line each."""
    faults = faults_of(REFERENCE.replace("mean: wage", "mean: wages"))
    expected = (
        "wages.yaml:25:11: DPQL301 no column `wages` in data `wages` "
        "(did you mean `wage`?)"
    )
    assert expected == render_concise(faults)


def test_faults_are_separated_by_a_blank_line() -> None:
    """Several faults are distinguished."""
    faults = faults_of(REFERENCE.replace("wage\n", "wages\n").replace("1.0", "0"))
    assert render_text(faults).count("\n\n") == len(faults) - 1
    assert len(faults) > 1


def test_a_fault_without_a_span_is_shown_without_one() -> None:
    """A fault about a whole file has no line."""
    assert render_text([Diagnostic("DPQL101", "cannot read")]) == "DPQL101 cannot read"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("\x1b[31mred", "\\u{1b}[31mred"),
        ("a\nb", "a\\u{a}b"),
        ("\u202eevil", "\\u{202e}evil"),
        ("tab\there", "tab here"),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_echoed_text_is_escaped_and_clipped(text: str, expected: str) -> None:
    """Nothing that is echoed can move the cursor or flood the screen."""
    assert expected == shown(text)


def test_long_lines_are_shown_around_the_caret() -> None:
    """A line of a million characters is cut to a window around the fault."""
    line = "a" * 500 + "BAD" + "b" * 500
    span = Span("f", 1, 501, 1, 504, line)
    rendered = render_text([Diagnostic("DPQL205", "bad", span)])
    _, _, shown, caret = rendered.split("\n")
    assert len(shown) < 120
    assert shown[caret.index("^") :][:3] == "BAD"


def test_caret_stands_below_wide_and_escaped_characters() -> None:
    """Wide characters take two columns, hidden ones their spelling."""
    span = Span("f", 1, 3, 1, 4, "日\x1bX")
    rendered = render_text([Diagnostic("DPQL205", "bad", span)])
    _, _, shown, caret = rendered.split("\n")
    assert shown == "1 | 日\\u{1b}X"
    assert caret == "  |         ^"


def test_a_hidden_character_is_not_printed_raw() -> None:
    """The fault about a hidden character does not hide it again."""
    faults = faults_of(REFERENCE.replace("Monthly", "\u202eMonthly"))
    assert all(line.isprintable() for line in render_text(faults).split("\n"))
