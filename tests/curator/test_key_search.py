"""What an engine is asked for when it searches for keys."""

from __future__ import annotations

from dpql.curator.key_search import KeySearch


def test_a_search_says_what_it_counts() -> None:
    """Units and their bound, or rows; it reads no other column."""
    search = KeySearch(column="dest", unit="tailnum", most=3)
    assert "different tailnum at each key of dest" in str(search)
    assert ("tailnum", "dest") == search.reads
    rows = KeySearch(column="dest", unit=None, most=1)
    assert "rows at each key" in str(rows)
    assert ("dest",) == rows.reads
