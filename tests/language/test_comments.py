"""Comments and where they belong."""

from __future__ import annotations

from language.samples import REFERENCE

from dpql.language import format_text


def test_comments_beside_a_folded_text_are_kept() -> None:
    """The first line of a folded text may end in a comment."""
    text = REFERENCE.replace(
        "purpose: Monthly wage tables by district.",
        "purpose: >  # why\n  Monthly # tables.\n# next",
    )
    formatted = format_text(text, form="yaml")
    assert 'purpose: "Monthly # tables."  # why\n# next\ndata:\n' in formatted


def test_comments_at_neighbouring_ends_are_aligned() -> None:
    """Comments at the ends of neighbouring lines stand one below the other."""
    text = REFERENCE.replace("epsilon: 1.0", "epsilon: 1.0 # a").replace(
        "delta: 0", "delta: 0   #b"
    )
    assert "  epsilon: 1.0  # a\n  delta: 0      # b\n" in format_text(
        text, form="yaml"
    )
