"""A type gives the JSON Schema of exactly the documents that the codec writes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

from dpql.model.codec import Members, encode
from dpql.model.schema import schema_of


class Colour(StrEnum):
    """A closed vocabulary."""

    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A leaf."""

    weight: Fraction
    colour: Colour | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A tree of members.

    More words that are not in the schema.
    """

    name: str
    count: int
    labels: Members
    below: tuple[Leaf | Tree, ...]


LEAF = Leaf(weight=Fraction(-1, 3), colour=Colour.RED)
BARE = Tree(name="", count=0, labels=(), below=())
TREE = Tree(name="t", count=-7, labels=(("a", "b"),), below=(LEAF, BARE))


def _schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    return {**schema_of(Tree, definitions), "$defs": definitions}


def _faults(document: object) -> int:
    return len(list(jsonschema.Draft202012Validator(_schema()).iter_errors(document)))


def test_what_the_codec_writes_is_valid() -> None:
    """Members of a union, nulls and a type within itself included."""
    assert 0 == _faults(encode(Tree, TREE))
    assert "A tree of members." == _schema()["$defs"]["tree"]["description"]


@pytest.mark.parametrize(
    "change",
    [
        {"count": 7},
        {"count": "07"},
        {"count": "1/2"},
        {"labels": {"a": 1}},
        {"below": {}},
        {"below": [{"kind": "leaf", "weight": "1/3", "colour": "blue"}]},
        {"below": [{"kind": "leaf", "weight": "1/03", "colour": None}]},
        {"below": [{"kind": "leaf", "weight": "1"}]},
        {"below": [{"weight": "1", "colour": None}]},
        {"more": ""},
    ],
)
def test_anything_else_is_not(change: dict[str, object]) -> None:
    """Numbers are exact text, words are of the vocabulary, members are complete."""
    document: dict[str, object] = encode(Tree, TREE)
    assert 0 < _faults(document | change)
    assert 0 < _faults({"name": "t"})
