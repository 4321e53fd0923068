"""Whatever is in a file, verification answers with a value or with our refusal."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports.sample_releases import (
    DAY,
    OFFICER,
    STEWARD,
    TRUST,
    broad_plan,
    check,
    make_payload,
    small_plan,
)

from dpql.errors import VerifyFault
from dpql.model.codec import canonical
from dpql.reports.approval import approve, verify_approvals
from dpql.reports.display import unverified_view
from dpql.reports.envelope import peek, seal
from dpql.reports.statement import read_ledger_record

PLAN = small_plan()
STATEMENTS = [
    json.loads(make_payload(PLAN)),
    json.loads(make_payload(broad_plan())),
    json.loads(peek(approve(PLAN, OFFICER))),
]
TEXTS = st.one_of(
    st.sampled_from(
        ["", "0", "-1", "1/0", "0/1", "1/2", "9" * 5_000, "1" * 200 + "/" + "3" * 200]
    ),
    st.sampled_from(["1e9", "NaN", "inf", "٣", "snapping", "geometric", "auto", "row"]),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
VALUES = st.recursive(
    st.none() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=5,
)


def _paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = (
        list(node.items())
        if isinstance(node, dict)
        else list(enumerate(node))
        if isinstance(node, list)
        else []
    )
    for name, item in items:
        found += _paths(item, (*path, name))
    return found


PATHS = [_paths(statement) for statement in STATEMENTS]


def _attempts(payload: bytes) -> None:
    """Try every public reader on a payload that a trusted key has signed."""
    for attempt in (
        lambda: check(seal(payload, [STEWARD])),
        lambda: verify_approvals(
            [seal(payload, [OFFICER])], PLAN, TRUST, day=DAY, dataset="rows"
        ),
        lambda: unverified_view(seal(payload, [STEWARD]), ""),
        lambda: read_ledger_record(payload),
    ):
        try:
            attempt()
        except VerifyFault as refusal:
            assert refusal.diagnostics[0].code.startswith("DPQL6")  # noqa: PT017  either is fine


@pytest.mark.property
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutated_signed_statements_are_read_or_refused(data: st.DataObject) -> None:
    """Values replaced, members taken out or doubled, anywhere, then signed."""
    which = data.draw(st.integers(0, len(STATEMENTS) - 1))
    changed = copy.deepcopy(STATEMENTS[which])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(PATHS[which]))
        node = changed
        try:
            for name in path[:-1]:
                node = node[name]
            action = data.draw(st.sampled_from(["replace", "remove", "copy"]))
            if action == "remove":
                del node[path[-1]]
            elif action == "copy" and isinstance(node, list):
                node.append(copy.deepcopy(node[path[-1]]))
            elif isinstance(node, dict) == isinstance(path[-1], str):
                node[path[-1]] = data.draw(VALUES)
        except (KeyError, IndexError, TypeError):
            continue
    _attempts(canonical(changed))


@pytest.mark.property
@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No bytes raise anything but our refusal, signed or not."""
    with pytest.raises(VerifyFault):
        check(data)
    _attempts(data)


@pytest.mark.property
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_bytes_cut_or_doubled_are_refused(data: st.DataObject) -> None:
    """Any stretch of an envelope taken out, doubled or moved is refused."""
    envelope = seal(make_payload(PLAN), [STEWARD])
    start = data.draw(st.integers(0, len(envelope) - 1))
    end = data.draw(st.integers(start + 1, len(envelope)))
    cut = envelope[:start] + envelope[end:]
    doubled = envelope[:end] + envelope[start:]
    for changed in (cut, doubled, envelope[start:] + envelope[:start]):
        if changed != envelope:
            with pytest.raises(VerifyFault):
                check(changed)
