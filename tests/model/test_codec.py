"""The codec: every type there and back, every wrong document refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.model.codec import Malformed, Members, canonical, decode, encode, parse


class Colour(StrEnum):
    """A vocabulary."""

    RED = "red"


@dataclass(frozen=True)
class Leaf:
    """A member of a union."""

    number: Fraction


@dataclass(frozen=True)
class Branch:
    """A member of a union that holds members."""

    leaves: tuple[Leaf | Branch, ...]


@dataclass(frozen=True)
class Whole:
    """One of everything."""

    text: str
    count: int
    share: Fraction
    colour: Colour
    members: Members
    maybe: Fraction | None
    either: Fraction | str
    tree: Leaf | Branch
    list: tuple[str, ...]
    aside: str = field(default="", compare=False)


WHOLE = Whole(
    text="é",
    count=-3,
    share=Fraction(3, 20),
    colour=Colour.RED,
    members=(("a", "1"), ("b", "2")),
    maybe=None,
    either="text",
    tree=Branch((Leaf(Fraction(1)), Branch(()))),
    list=("a", "a"),
    aside="not written",
)
DOCUMENT = {
    "text": "é",
    "count": "-3",
    "share": "3/20",
    "colour": "red",
    "members": {"a": "1", "b": "2"},
    "maybe": None,
    "either": {"kind": "text", "value": "text"},
    "tree": {
        "kind": "branch",
        "leaves": [
            {"kind": "leaf", "number": "1"},
            {"kind": "branch", "leaves": []},
        ],
    },
    "list": ["a", "a"],
}


def test_a_value_is_written_and_read() -> None:
    """Every type has its form, and fields outside equality are left out."""
    assert encode(Whole, WHOLE) == DOCUMENT
    assert decode(Whole, DOCUMENT) == WHOLE


def test_a_document_has_one_text() -> None:
    """Members are sorted, two spaces, a newline at the end, letters as they are."""
    assert canonical({"b": "é", "a": []}) == '{\n  "a": [],\n  "b": "é"\n}\n'.encode()


@given(
    st.recursive(
        st.text() | st.none() | st.booleans() | st.integers(),
        lambda inner: (
            st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner)
        ),
    )
)
def test_the_text_is_that_of_the_standard_library(document: Any) -> None:
    """It is made faster here, and has the same bytes."""
    text = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False)
    assert canonical(document) == text.encode() + b"\n"


@pytest.mark.parametrize("name", list(DOCUMENT))
@pytest.mark.parametrize(
    "wrong",
    [None, "x\u0661", [], [1], {}, {"kind": "leaf"}, {"kind": "text"}, {"kind": []}, 7],
    ids=str,
)
def test_a_wrong_member_is_refused(name: str, wrong: Any) -> None:
    """Whatever is given for another member is malformed, or it fits after all."""
    document = DOCUMENT | {name: wrong}
    try:
        value = decode(Whole, document)
    except Malformed:
        return
    assert encode(Whole, value) == document


def test_members_cannot_be_missing_or_more() -> None:
    """An object has exactly its members."""
    with pytest.raises(Malformed):
        decode(Whole, {name: DOCUMENT[name] for name in list(DOCUMENT)[1:]})
    with pytest.raises(Malformed):
        decode(Whole, DOCUMENT | {"aside": "x"})
    with pytest.raises(Malformed):
        decode(Whole, DOCUMENT | {"either": {"kind": "text", "value": "a", "b": "c"}})


@given(st.fractions())
def test_numbers_are_exact(number: Fraction) -> None:
    """Any rational survives."""
    assert decode(Fraction, encode(Fraction, number)) == number


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_malformed(data: bytes) -> None:
    """Reading is total."""
    try:
        document = parse(data, limit=100)
    except Malformed:
        return
    assert len(data) <= 100
    canonical(document)


@pytest.mark.parametrize(
    "data", [b"[" * 101 + b"]" * 101, b'{"a": "1", "a": "2"}', b"[1]", b"[-Infinity]"]
)
def test_what_readers_could_read_differently_is_refused(data: bytes) -> None:
    """Depth, duplicates and numbers are refused."""
    with pytest.raises(Malformed):
        parse(data, limit=1000)


@pytest.mark.parametrize("text", [r"\ud800", r"a\udfff", r"\uDC00\uD800"])
def test_half_a_character_is_refused(text: str) -> None:
    """An escape can name half of a character; no UTF-8 text holds it."""
    with pytest.raises(Malformed):
        parse(f'["{text}"]'.encode(), limit=1000)
    assert parse(rb'["\ud83d\ude00"]', limit=1000) == ["\U0001f600"]


@pytest.mark.parametrize("end", ["", "\\"])
def test_a_text_that_is_cut_off_is_read_once(end: str) -> None:
    """To look for its end again from every quote in it would take for ever."""
    data = ('"' + '\\"' * 500_000 + end).encode()
    with pytest.raises(Malformed):
        parse(data, limit=len(data))


@pytest.mark.parametrize("number", ["1/1", "2/4", "1/0", "/2", "5/", "-", "-0", "01"])
def test_a_number_has_one_text(number: str) -> None:
    """Whole or not, it is in lowest terms and has no digit too many."""
    for hint in (int, Fraction):
        with pytest.raises(Malformed):
            decode(hint, number)


def test_brackets_in_texts_are_no_depth() -> None:
    """A text may hold any brackets, and quotes behind backslashes."""
    data = canonical(["[" * 500 + '\\"' + "{" * 500])
    assert parse(data, limit=10_000) == ["[" * 500 + '\\"' + "{" * 500]
