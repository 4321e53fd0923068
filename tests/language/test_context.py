"""What the parts of resolve share: faults are noted once, and nodes are read safely."""

from __future__ import annotations

from fractions import Fraction

import pytest
from language.samples import REFERENCE

from dpql.errors import Span, SpecError
from dpql.language import load_text
from dpql.language.context import (
    Context,
    distinct,
    entries,
    items,
    number,
    text,
    value,
    whole,
)
from dpql.language.source import Source
from dpql.language.tree import Entry, Mapping, Scalar, Sequence


def _span(line: int) -> Span:
    return Span("spec.yaml", line, 1, line, 2)


def _scalar(text: str, line: int = 1) -> Scalar:
    return Scalar(text, _span(line))


@pytest.fixture
def context() -> Context:
    """Return a context in which the columns `age` and `kind` are declared."""
    found = Context(Source("spec.yaml", "\n" * 20))
    found.types = {"age": "integer", "kind": "category"}
    return found


def _faults(context: Context) -> list[tuple[str, int, str | None]]:
    """Return code, line and hint of everything that was noted."""
    with pytest.raises(SpecError) as caught:
        context.source.check()
    found = []
    for one in caught.value.diagnostics:
        assert one.span is not None
        found.append((one.code, one.span.line, one.hint))
    return found


def test_an_unknown_column_is_noted_once(context: Context) -> None:
    """The first use is the fault; the others are named in its hint."""
    for line in (3, 5, 5, 9):
        assert context.declared("agee", _span(line)) is None
    context.note_unknown()
    hint = "did you mean `age`? (also in lines 5, 9)"
    assert [("DPQL301", 3, hint)] == _faults(context)


def test_without_columns_no_use_is_a_fault(context: Context) -> None:
    """That there are no columns has been said, and is enough."""
    context.types = {}
    context.declared("age", _span(1))
    context.note_unknown()
    context.source.check()


def test_a_column_of_another_type_is_noted(context: Context) -> None:
    """The hint names a column that would do, or the type that is needed."""
    assert context.typed("age", _span(1), ("integer",), "no use")
    assert not context.typed("kind", _span(2), ("integer",), "it has no mean")
    assert not context.typed("kind", _span(3), ("id",), "it is no id")
    hints = ["take `age`", "declare a column of type `id`"]
    assert [("DPQL302", 2, hints[0]), ("DPQL302", 3, hints[1])] == _faults(context)


def test_equal_scalars_are_noted(context: Context) -> None:
    """Each text counts once, in the order of the list."""
    given = (_scalar("a", 1), _scalar("b", 2), _scalar("a", 3))
    assert ("a", "b") == distinct(given, "`by`", context)
    assert [("DPQL305", 3, "keep one of them")] == _faults(context)


def test_nodes_of_another_kind_hold_nothing() -> None:
    """What the shape check refuses is passed over without a second fault."""
    one = _scalar("1")
    block = Mapping((Entry(_scalar("key"), one),), _span(1))
    listed = Sequence((one, block), _span(1))
    assert (block.entries, ()) == (entries(block), entries(one))
    assert ((one,), ()) == (items(listed), items(block))
    assert (one, None, None) == (value(block, "key"), value(block, "x"), value(one, ""))
    assert ("1", None, None) == (text(one), text(_scalar("")), text(listed))


@pytest.mark.parametrize(
    ("written", "exact", "count"),
    [("1_000", 1000, 1000), ("2.5", Fraction(5, 2), None), ("ten", None, None)],
)
def test_numbers_are_exact(
    written: str, exact: Fraction | None, count: int | None
) -> None:
    """A scalar that is no number, or no whole one, is None."""
    node = _scalar(written)
    assert (exact, count) == (number(node), whole(node))


def test_a_derived_column_at_fault_is_noted_once() -> None:
    """Where it is used there is nothing more to say."""
    text = REFERENCE.replace(
        "privacy:\n", "  derived:\n    old: agee > 65\nprivacy:\n", 1
    ).replace("by: [district]", "by: [old]")
    with pytest.raises(SpecError) as caught:
        load_text(text, form="yaml")
    assert ["DPQL301"] == [fault.code for fault in caught.value.diagnostics]
