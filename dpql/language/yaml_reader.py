"""YAML text to tree: a strict subset in which a text has one meaning only.

The parser's *events* are walked, never its composer or constructor: no object is ever
made from a tag, nothing recurses, and every scalar stays the text that was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dpql.diagnostics import shown
from dpql.errors import Span
from dpql.language.limits import too_many
from dpql.language.source import Source, hidden
from dpql.language.tree import Entry, Mapping, Node, Scalar, Sequence
from dpql.model.limits import DEEPEST, MOST_PARTS

_MERGE_KEY = "<<"

_TAB = re.compile(r"^ *\t(?=[ \t]*[^\s])", re.MULTILINE)
_HASH = re.compile(r"(?<=[ \t\n])#.*|^#.*|(?P<glued>#.*)", re.MULTILINE)

_PLAIN_WORDS = (
    ("tab", "indent with spaces; YAML refuses tabs there"),
    ("cannot start any token", "put the value in double quotes"),
    ("mapping values are not allowed", "put the value in double quotes, or indent"),
    ("end of stream", "close the quotation mark"),
    ("expected ',' or", "close the bracket, and separate items with commas"),
    ("expected <block end>", "line up this key with the others of its block"),
    ("did not find expected key", "line up this key with the others of its block"),
    ("could not find expected ':'", "write `key: value`"),
)
"""What the parser says, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the text, in characters."""

    start: int
    end: int


@dataclass(slots=True)
class _Open:
    """A collection whose end has not been seen; ``keys`` tells a mapping."""

    start: Any
    keys: dict[str, Scalar] | None
    children: list[Node] = field(default_factory=list)


class YamlReader:
    """Builds a tree from parser events and notes every fault of the subset."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._scalars: list[Stretch] = []
        self._stack: list[_Open] = []
        self._root: Node | None = None
        self._nodes = 0
        self._documents = 0

    def read(self) -> Node:
        """Return the tree; raise when the text is outside the subset."""
        import yaml

        loader = getattr(yaml, "CLoader", yaml.Loader)
        handlers = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._mapping,
            yaml.SequenceStartEvent: self._sequence,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }
        self._refuse_tabs()
        try:
            for event in yaml.parse(self.source.text, Loader=loader):
                handler = handlers.get(type(event))
                if handler:
                    handler(event)
        except yaml.YAMLError as error:
            raise self._syntax(error) from error
        self._refuse_glued_comments()
        self.source.check()
        if self._root is None:
            raise self.source.fail(
                "DPQL108",
                "the file is empty",
                self.source.span(0, 0, 0, 1),
                "start with `dpql: 1`",
            )
        return self._root

    def _refuse_tabs(self) -> None:
        match = _TAB.search(self.source.text)
        if match:
            raise self.source.fail(
                "DPQL108",
                "a tab stands before the first word of a line",
                self.source.stretch(match.end() - 1, match.end()),
                "indent with spaces; readers of YAML disagree on tabs",
            )

    def gaps(self) -> Iterator[Stretch]:
        """Yield what lies between the scalars; comments can only be there."""
        start = 0
        for scalar in sorted(self._scalars, key=lambda scalar: scalar.start):
            yield Stretch(start, scalar.start)
            start = scalar.end
        yield Stretch(start, len(self.source.text))

    def _refuse_glued_comments(self) -> None:
        """Refuse `]#...`: some parsers read a comment there, others do not."""
        for gap in self.gaps():
            for match in _HASH.finditer(self.source.text, gap.start, gap.end):
                if match["glued"]:
                    self.source.add(
                        "DPQL108",
                        "a comment starts without a space before it",
                        self.source.stretch(match.start(), match.end()),
                        "put a space before the `#`",
                    )

    def _span(self, start: Any, end: Any) -> Span:
        return self.source.span(start.line, start.column, end.line, end.column)

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1 or event.version or event.tags:
            what = "a second document" if self._documents > 1 else "a directive"
            raise self.source.fail(
                "DPQL113",
                f"{what} starts here",
                self._span(event.start_mark, event.end_mark),
                "keep one spec in one file, without `---` and `%` lines",
            )

    def _alias(self, event: Any) -> None:
        span = self._span(event.start_mark, event.end_mark)
        self.source.add(
            "DPQL110",
            f"the alias `*{shown(event.anchor)}` stands for text written elsewhere",
            span,
            "write the value out, so that a reviewer sees it here",
        )
        self._put(Scalar("", span), event)

    def _decorations(self, event: Any) -> None:
        span = self._span(event.start_mark, event.end_mark)
        if event.anchor:
            self.source.add(
                "DPQL109",
                f"the anchor `&{shown(event.anchor)}` is not part of the language",
                span,
                "delete it, and write values out where they are used",
            )
        if event.tag:
            self.source.add(
                "DPQL112",
                f"the tag `{shown(event.tag)}` is not part of the language",
                span,
                "delete the tag; types come from the spec's own keys",
            )

    def _mapping(self, event: Any) -> None:
        self._open(event, {})

    def _sequence(self, event: Any) -> None:
        self._open(event, None)

    def _open(self, event: Any, keys: dict[str, Scalar] | None) -> None:
        self._decorations(event)
        if len(self._stack) >= DEEPEST:
            raise self.source.fail(
                "DPQL114",
                f"the text is nested deeper than {DEEPEST} levels",
                self._span(event.start_mark, event.end_mark),
                "a spec needs five levels",
            )
        self._stack.append(_Open(event.start_mark, keys))

    def _close(self, event: Any) -> None:
        done = self._stack.pop()
        span = self._span(done.start, event.end_mark)
        children = done.children
        if done.keys is None:
            self._put(Sequence(tuple(children), span), event)
            return
        pairs = zip(children[::2], children[1::2], strict=True)
        entries = tuple(
            Entry(key, value) for key, value in pairs if isinstance(key, Scalar)
        )
        self._put(Mapping(entries, self._named() or span), event)

    def _named(self) -> Span | None:
        """Return the span of the key whose value ends here: that is where to point."""
        parent = self._stack[-1] if self._stack else None
        if parent is None or parent.keys is None or len(parent.children) % 2 == 0:
            return None
        return parent.children[-1].span

    def _scalar(self, event: Any) -> None:
        self._decorations(event)
        start, end = event.start_mark, event.end_mark
        span = self._span(start, end)
        text, offset = event.value, None
        if event.style in ("|", ">"):
            text = text.rstrip("\n")
            header = self.source.text.find("\n", start.index, end.index)
            self._scalars.append(Stretch(header, end.index))
        else:
            offset = 1 if event.style else 0
            if self.source.text[start.index + offset : end.index - offset] != text:
                offset = None
            self._scalars.append(Stretch(start.index, end.index))
        if "\n" in text:
            self.source.add(
                "DPQL117", "a value has line breaks in it", span, "write it on one line"
            )
        elif text == "-" and not event.style:
            self.source.add(
                "DPQL108",
                "a dash stands where a value should",
                span,
                "put it in double quotes",
            )
        elif any(hidden(text)):
            self.source.add(
                "DPQL106",
                f"`{shown(text)}` holds a hidden character",
                span,
                "delete it; a reviewer could not see it",
            )
        self._put(Scalar(text, span, offset, quoted=bool(event.style)), event)

    def _put(self, node: Node, event: Any) -> None:
        self._nodes += 1
        if self._nodes > MOST_PARTS:
            raise too_many(self.source, self._span(event.start_mark, event.end_mark))
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        if parent.keys is not None and len(parent.children) % 2 == 0:
            self._key(node, parent.keys, quoted=bool(getattr(event, "style", None)))
        parent.children.append(node)

    def _key(self, node: Node, keys: dict[str, Scalar], *, quoted: bool) -> None:
        if not isinstance(node, Scalar):
            self.source.add(
                "DPQL116", "a key must be a word", node.span, "write `word: value`"
            )
            return
        if node.text == _MERGE_KEY and not quoted:
            self.source.add(
                "DPQL111",
                "the merge key `<<` brings in text written elsewhere",
                node.span,
                "write the keys out, so that a reviewer sees them here",
            )
        first = keys.setdefault(node.text, node)
        if first is not node:
            self.source.add(
                "DPQL103",
                f"`{shown(node.text)}` is given twice",
                node.span,
                f"first given on line {first.span.line}; keep one",
            )

    def _missing_colon(self, problem: str, line: int) -> str | None:
        """Return a hint if the line before has no colon, and so goes on in this one."""
        if "mapping values are not allowed" not in problem or line == 0:
            return None
        words = self.source.lines[line - 1].split("#")[0].split()
        if not words or any(":" in word for word in words):
            return None
        return f"is a colon missing on line {line}, behind `{shown(words[0])}`?"

    def _syntax(self, error: Any) -> Exception:
        mark = getattr(error, "problem_mark", None) or getattr(
            error, "context_mark", None
        )
        line, column = (mark.line, mark.column) if mark else (0, 0)
        problem = str(getattr(error, "problem", "") or "")
        hint = self._missing_colon(problem, line) or next(
            (advice for words, advice in _PLAIN_WORDS if words in problem),
            "check the indentation, the colons and the quotation marks around here",
        )
        return self.source.fail(
            "DPQL108",
            "this is not well-formed YAML",
            self.source.span(line, column, line, column + 1),
            hint,
        )
