"""The folder of a release is named after the plan, and stays where releases are."""

from __future__ import annotations

import pytest

from dpql.reports.file_names import safe_name


@pytest.mark.parametrize(
    "name",
    [
        "/etc",
        "..",
        ".",
        ".hidden",
        "a/../../b",
        "a\\b",
        "c:d",
        "a\x00b",
        "é\u202e",
        "...",
    ],
)
def test_no_name_leaves_the_folder_of_releases(name: str) -> None:
    """No separator, no parent, no drive and nothing hidden is left of it."""
    safe = safe_name(name)
    assert set(safe) <= set("_.-") | {c for c in safe if c.isascii() and c.isalnum()}
    assert ".." not in safe
    assert not safe.startswith(".")


def test_an_ordinary_name_stays_as_it_is() -> None:
    """Every name that the language lets a release have is a folder's name already."""
    assert (
        safe_name("2026-11-16-district_wages_2025.v1")
        == "2026-11-16-district_wages_2025.v1"
    )
