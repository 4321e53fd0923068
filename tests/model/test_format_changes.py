"""Members are added and taken away along a path, through lists, by kind."""

from __future__ import annotations

from typing import Any

import pytest

from dpql.model.codec import Malformed
from dpql.model.format_changes import Added, with_members, without_members

ADDED = (Added(("a", "b"), "new", []), Added(("c",), "flag", False, kind="x"))
OLD: dict[str, Any] = {
    "a": {"b": [{"p": "1"}, {"p": "2"}]},
    "c": [{"kind": "x"}, {"kind": "y"}, "word"],
}
NEW: dict[str, Any] = {
    "a": {"b": [{"p": "1", "new": []}, {"p": "2", "new": []}]},
    "c": [{"kind": "x", "flag": False}, {"kind": "y"}, "word"],
}


def test_members_come_and_go() -> None:
    """One is the inverse of the other; what is not there is let be."""
    assert NEW == with_members(OLD, ADDED)
    assert OLD == without_members(NEW, ADDED)
    assert {} == with_members({}, ADDED)


def test_a_member_that_says_something_cannot_be_left_out() -> None:
    """No planner of the earlier format made such a plan."""
    for wrong in ({"a": {"b": {"new": ["1"]}}}, {"c": {"kind": "x", "flag": True}}):
        with pytest.raises(Malformed):
            without_members(wrong, ADDED)
