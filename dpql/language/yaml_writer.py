"""A tree to canonical YAML: fixed order of keys, one fact per line."""

from __future__ import annotations

import json
import re

from dpql.language.comments import YAML_BLOCKS, Path, general
from dpql.language.dataset import shape_of
from dpql.language.key_lists import is_numeral
from dpql.language.tree import Entry, Mapping, Node, Scalar, Sequence
from dpql.model.shape import (
    Choice,
    Either,
    ListOf,
    Number,
    Record,
    Shape,
    Table,
    Text,
    Variants,
)

Line = tuple[Path, str]
"""A unit and its line."""

_MISREAD = frozenset(
    {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}
)
_TRUTHS = ("true", "false")
_NEVER_PLAIN = re.compile(r": |:$| #|^\s|\s$")
_ALIGNED = (("columns",), ("derived",))
_BRACKETS = re.compile(r"[,\[\]{}:#\"'&*?|<>=!%@`]")


def yaml_lines(root: Mapping) -> list[Line]:
    """Return the lines of a tree that has the shape of a spec or a dataset file."""
    return _block(root, shape_of(root), ())


def _block(node: Node, shape: Shape, path: Path) -> list[Line]:
    lines: list[Line] = []
    ordered = in_order(node, shape)
    keys = [_text(entry.name, flow=False) for entry, _ in ordered]
    aligned = max(map(len, keys), default=0) if path[-1:] in _ALIGNED else 0
    for key, (entry, inner) in zip(keys, ordered, strict=True):
        below = (*path, entry.name)
        start = "  " * len(path) + f"{key}:"
        if general(below) in YAML_BLOCKS and isinstance(entry.value, Mapping):
            lines += [(below, start), *_block(entry.value, inner, below)]
        else:
            gap = " " * max(1, aligned + 1 - len(key))
            lines.append((below, start + gap + _inline(entry.value, inner, flow=False)))
    return lines


def in_order(node: Node, shape: Shape) -> list[tuple[Entry, Shape]]:
    """Return the entries of a mapping in canonical order, each with its shape."""
    assert isinstance(node, Mapping)
    match shape:
        case Table(value=inner):
            return [(entry, inner) for entry in node.entries]
        case Variants(tag=tag, records=records):
            word = node.get(tag)
            assert isinstance(word, Scalar)
            return in_order(node, records[word.text])
        case Either(record=record):
            return in_order(node, record)
        case Record(fields=fields):
            known = {entry.name: entry for entry in node.entries}
            return [
                (known[field.name], field.shape)
                for field in fields
                if field.name in known
            ]
        case _:
            msg = "only mappings have an order"
            raise AssertionError(msg)


def _inline(node: Node, shape: Shape, *, flow: bool) -> str:
    match node:
        case Mapping():
            parts = (
                f"{_text(entry.name, flow=True)}: "
                f"{_inline(entry.value, inner, flow=True)}"
                for entry, inner in in_order(node, shape)
            )
            return f"{{{', '.join(parts)}}}"
        case Sequence(items=items):
            if isinstance(shape, Either) and shape.items is not None:
                shape = shape.items
            assert isinstance(shape, ListOf)
            parts = (_inline(item, shape.item, flow=True) for item in items)
            return f"[{', '.join(parts)}]"
        case Scalar(text=text):
            word = shape.word if isinstance(shape, Either) else shape
            bare = isinstance(word, Number) or (
                isinstance(word, Choice) and (text.isdigit() or text in _TRUTHS)
            )
            if isinstance(word, Text) and word.numbers:
                bare = not node.quoted and is_numeral(text)
            if isinstance(word, Text) and word.plain:
                bare = re.fullmatch(word.pattern, text) is not None
            return text if bare else _text(text, flow=flow)


def _text(text: str, *, flow: bool) -> str:
    plain = (
        (text[0].isalpha() or text[0] == "_")
        and text.isprintable()
        and text.lower() not in _MISREAD
        and not _NEVER_PLAIN.search(text)
        and not (flow and _BRACKETS.search(text))
    )
    return text if plain else json.dumps(text, ensure_ascii=False)
