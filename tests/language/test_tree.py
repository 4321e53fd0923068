"""Trees find their entries, and say where each is."""

from __future__ import annotations

from dpql.errors import Span
from dpql.language.tree import Entry, Mapping, Scalar, Sequence, plain, spans


def _span(line: int, column: int = 1) -> Span:
    return Span("spec.yaml", line, column, line, column + 5)


def _entry(name: str, node: Scalar | Sequence | Mapping, line: int) -> Entry:
    return Entry(Scalar(name, _span(line)), node)


ONE = Scalar("1", _span(1, 7))
LISTED = Sequence((ONE, Scalar("b", _span(3, 9))), _span(3, 4))
INNER = Mapping((_entry("items", LISTED, 3),), _span(2))
ROOT = Mapping((_entry("one", ONE, 1), _entry("inner", INNER, 2)), _span(1))


def test_entries_are_found_by_name() -> None:
    """A name that is not there gives nothing."""
    assert (ONE, INNER, None) == (ROOT.get("one"), ROOT.get("inner"), ROOT.get("x"))


def test_a_plain_tree_has_no_spans() -> None:
    """Mappings, sequences and texts, and nothing else."""
    assert {"one": "1", "inner": {"items": ["1", "b"]}} == plain(ROOT)


def test_every_entry_has_a_span() -> None:
    """It is that of a value that is short, and else that of the key."""
    expected = {
        ("one",): ONE.span,
        ("inner",): _span(2),
        ("inner", "items"): LISTED.span,
    }
    assert expected == dict(spans(ROOT))


def test_a_part_of_a_scalar_has_its_own_span() -> None:
    """It starts behind the quote; where escapes moved it, it is the whole scalar."""
    inside = Scalar("age < 5", _span(4, 10), offset=1)
    part = inside.part(4, 5)
    assert (4, 15, 16) == (part.line, part.column, part.end_column)
    assert _span(4) == Scalar("age < 5", _span(4)).part(4, 5)
