"""Thrift's compact protocol: what is written is read again, and nothing is trusted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.engines.thrift import (
    BYTES,
    INT32,
    INT64,
    LIST,
    STRUCT,
    Damaged,
    Field,
    integer,
    items,
    read_struct,
    struct,
    text,
    varint,
)

NUMBERS = st.integers(0, 2**62)


def _spelt(value: Any) -> tuple[int, bytes]:
    """Return the type of a value and how it is written."""
    if isinstance(value, int):
        return INT64, integer(value)
    if isinstance(value, bytes):
        return BYTES, text(value)
    if isinstance(value, dict):
        return STRUCT, _struct(value)
    kinds = {_spelt(item)[0] for item in value} or {INT32}
    (kind,) = kinds
    return LIST, items(kind, (_spelt(item)[1] for item in value))


def _struct(fields: dict[int, Any]) -> bytes:
    held: list[Field] = [(n, *_spelt(fields[n])) for n in sorted(fields)]
    return struct(*held)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    whole = st.dictionaries(st.integers(1, 15), inner, max_size=4)
    # Fields stand at most fifteen apart, so that a distance fits into its bits.
    return whole | st.lists(whole, max_size=20)


LEAVES = NUMBERS | st.binary(max_size=300) | st.lists(NUMBERS, max_size=20)
STRUCTS = st.dictionaries(
    st.integers(1, 15), st.recursive(LEAVES, _nested, max_leaves=12), max_size=6
)


@given(fields=STRUCTS, before=st.binary(max_size=3), after=st.binary(max_size=3))
def test_what_is_written_is_read_again(
    fields: dict[int, Any], before: bytes, after: bytes
) -> None:
    """From any place on, whatever follows."""
    told = _struct(fields)
    for data in (before + told + after, memoryview(before + told + after)):
        found, end = read_struct(data, len(before))
        assert (fields, len(before) + len(told)) == (found, end)


@given(fields=STRUCTS, data=st.data())
def test_a_struct_that_ends_early_is_none(fields: dict[int, Any], data: Any) -> None:
    """No end is made up."""
    told = _struct(fields)
    cut = data.draw(st.integers(0, len(told) - 1))
    with pytest.raises(Damaged):
        read_struct(told[:cut], 0)


@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_struct_or_damaged(data: bytes) -> None:
    """Nothing else comes of them."""
    try:
        _, end = read_struct(data, 0)
    except Damaged:
        return
    assert end <= len(data)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (b"\x15\x01\x00", {1: -1}),
        (b"\x15\x02\x00", {1: 1}),
        (b"\x11\x12\x00", {1: True, 2: False}),
        (b"\x05\x40\x07\x00", {32: -4}),
        (b"\x13\x7f\x17\x00\x00\x00\x00\x00\x00\xf0\x3f\x00", {1: 127, 2: None}),
        (b"\x19\x31\x01\x02\x01\x00", {1: [1, 2, 1]}),
    ],
    ids=str,
)
def test_other_forms_are_read(told: bytes, found: dict[int, Any]) -> None:
    """Negative numbers, booleans, far fields, bytes, doubles and lists of booleans."""
    held, end = read_struct(told, 0)
    assert len(told) == end
    assert {n: v for n, v in held.items() if found[n] is not None} == {
        n: v for n, v in found.items() if v is not None
    }


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"\x1c" * 100_000,
        b"\x19\xf9" * 100_000,
        b"\x19\xfc" + varint(2**60) + b"\x00" * 99,
        b"\x18" + varint(2**60) + b"x",
        b"\x15" + b"\xff" * 99 + b"\x00\x00",
        b"\x1b\x00\x00",
        b"\x1d\x00",
        b"\x17\x00\x00",
    ],
    ids=lambda told: str(told[:12]),
)
def test_what_lies_is_damaged(told: bytes) -> None:
    """Depth, lengths without end, numbers without end, types that there are not."""
    with pytest.raises(Damaged):
        read_struct(told, 0)
