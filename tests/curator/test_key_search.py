"""What an engine is asked for when it searches for keys."""

from __future__ import annotations

from dpql.curator.key_search import FoundColumn, KeySearch


def test_a_search_says_what_it_counts() -> None:
    """Units and their bound, or rows."""
    search = KeySearch(statistic="seen", columns=("dest",), unit="tailnum", most=3)
    assert "different tailnum at each key, of each at most 3 keys" in str(search)
    assert "keys of dest, for seen" in str(search)
    rows = KeySearch(statistic="seen", columns=("dest", "day"), unit=None, most=1)
    assert "rows at each key" in str(rows)
    assert "keys of dest and day" in str(rows)


def test_a_column_of_found_keys_has_a_code_for_all_others() -> None:
    """Its name is none that a spec can declare."""
    column = FoundColumn(
        columns=("dest", "day"),
        keys=(("GSP", "1"), ("SYR", "2")),
        others=True,
        statistic="seen",
    )
    assert ("`dest`, `day`", 3) == (column.name, column.size)
    assert "the keys that seen finds, and others" in str(column)
