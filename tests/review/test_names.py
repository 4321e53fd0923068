"""Names and texts of a spec as a review echoes them."""

from __future__ import annotations

from dpql.review.names import column_name, whole


def test_long_texts_are_not_cut() -> None:
    """Two texts of one beginning stay two texts."""
    assert "x" * 5_000 + "y" == whole("x" * 5_000 + "y")


def test_what_cannot_be_seen_is_spelled_out() -> None:
    """No character of a spec moves the cursor or reorders the line."""
    assert r"a\u{1b}[2J\u{202e}b" == whole("a\x1b[2J\u202eb")


def test_columns_are_written_as_in_a_condition() -> None:
    """A name that is no plain word stands in backquotes."""
    assert "wage" == column_name("wage")
    assert "`hourly wage`" == column_name("hourly wage")
    assert "`where`" == column_name("where")
