"""A tree becomes YAML in canonical order, with quotes where YAML would misread."""

from __future__ import annotations

import pytest
import yaml
from language.samples import REFERENCE

from dpql.language.keys import SPEC
from dpql.language.source import Source
from dpql.language.tree import Entry, Mapping, Scalar, plain
from dpql.language.yaml_reader import YamlReader
from dpql.language.yaml_writer import in_order, yaml_lines


def _root(text: str) -> Mapping:
    """Return the tree of a YAML spec."""
    return YamlReader(Source("spec.yaml", text)).read()


def test_a_canonical_spec_is_written_as_it_was() -> None:
    """Lines have the path of what they hold."""
    lines = yaml_lines(_root(REFERENCE))
    assert REFERENCE == "".join(f"{line}\n" for _, line in lines)
    found = dict(lines)
    assert "    by: [district]" == found["statistics", "headcount", "by"]


def test_keys_are_in_the_order_of_the_manual() -> None:
    """Whatever the order of the author, that of the shape is written."""
    (first, *_, last) = [entry.name for entry, _ in in_order(_root(REFERENCE), SPEC)]
    turned = Mapping(_root(REFERENCE).entries[::-1], _root(REFERENCE).span)
    assert ("dpql", "statistics") == (first, last)
    assert yaml_lines(turned) == yaml_lines(_root(REFERENCE))


@pytest.mark.parametrize(
    "purpose", ["no", "on", "1e3", "a: b", "a #b", "[a]", "it's", '"', " x", "-", "é"]
)
def test_texts_read_back(purpose: str) -> None:
    """No text becomes a number, a truth or a comment of YAML."""
    root = _root(REFERENCE)
    entry = Entry(Scalar("purpose", root.span), Scalar(purpose, root.span))
    other = Mapping((entry,), root.span)
    (_, line), *_ = yaml_lines(other)
    assert {"purpose": purpose} == yaml.safe_load(line) == plain(other)
