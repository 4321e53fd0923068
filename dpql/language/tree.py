"""The tree that both readers make: mappings, sequences and scalars with spans.

A scalar is text. Nothing here knows what a number or a column is; `shape` checks the
tree, `resolve` gives it meaning, and the printers write it down again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from dpql.errors import Span


@dataclass(frozen=True, slots=True)
class Scalar:
    """A piece of text; ``offset`` is where it starts inside its span.

    ``offset`` is None when the source writes the text differently (escapes, folded
    lines), so that a part of the text has no exact span of its own. ``quoted`` is a
    text in quotes; only of keys it makes a difference. ``within`` knows the spans of
    parts where the text goes over several lines.
    """

    text: str
    span: Span
    offset: int | None = None
    quoted: bool = False
    within: Callable[[int, int], Span] | None = field(
        default=None, compare=False, repr=False
    )

    def part(self, start: int, end: int) -> Span:
        """Return the span of ``text[start:end]``, or of the whole scalar."""
        if self.within is not None:
            return self.within(start, max(end, start + 1))
        if self.offset is None:
            return self.span
        column = self.span.column + self.offset
        return replace(
            self.span, column=column + start, end_column=max(end, start + 1) + column
        )


@dataclass(frozen=True, slots=True)
class Sequence:
    """Nodes in order."""

    items: tuple[Node, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: Scalar
    value: Node

    @property
    def name(self) -> str:
        """Return the text of the key."""
        return self.key.text


@dataclass(frozen=True, slots=True)
class Mapping:
    """Entries in the order of the text; no two have the same key.

    Its span is that of the key it belongs to, which is where a fault should point.
    """

    entries: tuple[Entry, ...]
    span: Span

    def entry(self, name: str) -> Entry | None:
        """Return the entry of that key."""
        return next((entry for entry in self.entries if entry.name == name), None)

    def get(self, name: str) -> Node | None:
        """Return the value of that key."""
        entry = self.entry(name)
        return entry.value if entry else None


Node = Scalar | Sequence | Mapping
Plain = str | list["Plain"] | dict[str, "Plain"]
"""A tree without spans: what is compared, printed to JSON and checked by a schema."""


def plain(node: Node) -> Plain:
    """Return the tree without its spans; nesting is bounded by the readers."""
    match node:
        case Scalar(text=text):
            return text
        case Sequence(items=items):
            return [plain(item) for item in items]
        case Mapping(entries=entries):
            return {entry.name: plain(entry.value) for entry in entries}


def spans(root: Mapping) -> Iterator[tuple[tuple[str, ...], Span]]:
    """Yield the path and the span of every entry.

    The span is that of the value where the value is short, else that of the key.
    """
    pending: list[tuple[tuple[str, ...], Mapping]] = [((), root)]
    while pending:
        path, mapping = pending.pop()
        for entry in mapping.entries:
            below = (*path, entry.name)
            if isinstance(entry.value, Mapping):
                pending.append((below, entry.value))
                yield below, entry.key.span
            else:
                yield below, entry.value.span
