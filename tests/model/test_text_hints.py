"""Hints of a .dpql file are written in its form."""

from __future__ import annotations

import pytest

from dpql.model.text_hints import in_text_form


@pytest.mark.parametrize(
    ("yaml", "text"),
    [
        ("write `bounds: [0, 100]`", "write `[0, 100]`"),
        ("declare `rows: {exactly: N}`, or", "declare `exactly N rows`, or"),
        ("`rows: {at_most: 5}`", "`at most 5 rows`"),
        (
            "add `contributes: {rows: 1, groups: 2}`; it",
            "add `giving at most 1 row in at most 2 groups`; it",
        ),
        ("`nulls: {as: 50}` or `nulls: drop`", "`nulls as 50` or `drop nulls`"),
        ("write `spend: {share: 1}`", "write `spend share 1`"),
        ("write `mechanism: geometric`", "write `using geometric`"),
        ("promise `at_least: ROWS`", "promise `at least ROWS rows`"),
        ("write `neighbours: add_remove`", "write `under add_remove`"),
        ("add `at: [1/4, 1/2]`", "add `at [1/4, 1/2]`"),
        ("`keys: [true, false]`", "`{true, false}`"),
        ("declare `keys: private`", "declare `category private`"),
        ("delete `others: true`", "delete `with others`"),
        ("`shown_from` belongs to `list`", "`shown from` belongs to `list`"),
        ("`alpha: 0.05`, `delta: 0`", "`alpha 0.05`, `delta 0`"),
        ("`data: NAME`", "`from NAME`"),
        ("write `count: rows`", "write `count rows`"),
        (
            "write `rows: 3` or `groups: 2`",
            "write `at most 3 rows` or `in at most 2 groups`",
        ),
        ("did you mean `wage`? no: yes", "did you mean `wage`? no: yes"),
    ],
)
def test_snippets_are_written_in_the_text_form(yaml: str, text: str) -> None:
    """What stands in backquotes changes, and nothing else."""
    assert text == in_text_form(yaml)
