"""Query text to the same tree that YAML gives."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from lark import Token, v_args

from dpql.diagnostics import shown
from dpql.errors import Span
from dpql.language.grammar import (
    Complaint,
    ConditionBuilder,
    SyntaxFault,
    parse,
)
from dpql.language.limits import refuse_too_many
from dpql.language.predicate import Piece, Predicate
from dpql.language.quoting import unquoted
from dpql.language.source import Source
from dpql.language.tree import Entry, Mapping, Node, Scalar, Sequence
from dpql.statistics import OPTIONS

_COUNTED = {
    "ROWS": "rows",
    "ROW": "rows",
    "GROUPS": "groups",
    "GROUP": "groups",
    "IN": "total",
}
"""What a number of `giving` counts, by the word behind it."""

_BETWEEN = re.compile(
    r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`)|--[^\n]*|\n"""
)
"""What is quoted, or else what a reader passes over."""

Parts = list[tuple[str, Entry]]
"""What a statement says: the block each entry belongs to, and the entry."""


def read(source: Source) -> Mapping:
    """Return the tree of a query text; raise when it is not in the grammar."""
    refuse_too_many(source)
    builder = TextBuilder(source)
    try:
        root: Mapping = parse("spec", source.text, builder, "DPQL120")
    except SyntaxFault as fault:
        _add(source, fault.complaint)
        raise source.error() from fault
    for complaint in builder.complaints:
        _add(source, complaint)
    source.check()
    return root


def _add(source: Source, complaint: Complaint) -> None:
    code, message, start, end, hint = complaint
    source.add(code, message, source.stretch(start, end), hint)


class TextBuilder(ConditionBuilder):
    """Makes the tree: one method for each rule of query.lark."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source

    def spec(self, children: list[Parts]) -> Mapping:
        """Collect the statements into the blocks of a spec."""
        blocks: dict[str, dict[str, Entry]] = {}
        for path, entry in (part for parts in children for part in parts):
            self._insert(blocks.setdefault(path, {}), entry)
        top = blocks.get("", {})
        for path in (
            "data.columns",
            "data.derived",
            "data",
            "privacy",
            "defaults",
            "statistics",
        ):
            if path not in blocks:
                continue
            *outer, name = path.split(".")
            entries = tuple(blocks[path].values())
            parent = blocks.setdefault(outer[0], {}) if outer else top
            key = Scalar(name, (parent.get(name) or entries[0]).key.span)
            parent[name] = Entry(key, Mapping(entries, key.span))
        if "data" in top:
            top["data"] = _with_dataset(top["data"])
        return Mapping(tuple(top.values()), self._source.span(0, 0, 0, 1))

    def _insert(self, block: dict[str, Entry], entry: Entry) -> None:
        first = block.setdefault(entry.name, entry)
        if first is not entry:
            self._source.add(
                "DPQL103",
                f"`{shown(entry.name)}` is given twice",
                entry.key.span,
                f"first given on line {first.key.span.line}; keep one",
            )

    @v_args(inline=True)
    def version(self, word: Token, number: Token) -> Parts:
        """`dpql 1`."""
        return [("", self._entry(word, "dpql", self._scalar(number)))]

    @v_args(inline=True)
    def release(
        self, word: Token, name: Scalar, purpose: Scalar | None = None
    ) -> Parts:
        """`release NAME "PURPOSE"`."""
        parts = [("", self._entry(word, "release", name))]
        if purpose is not None:
            parts.append(("", Entry(Scalar("purpose", purpose.span), purpose)))
        return parts

    def data(self, children: list[Any]) -> Parts:
        """`from SOURCE with at most N rows`."""
        word, name, *rest = children
        parts = [("", self._entry(word, "data", name))]
        parts.append(("data", self._entry(word, "source", name)))
        if rest:
            parts.append(("data", self._entry(rest[0], "rows", rest[1])))
        return parts

    def rows_at_most(self, children: list[Token]) -> Mapping:
        """`at most N rows`."""
        return self._block(self._entry(children[0], "at_most", children[2]))

    def rows_exactly(self, children: list[Token]) -> Mapping:
        """`exactly N rows`."""
        return self._block(self._entry(children[0], "exactly", children[1]))

    def column(self, children: list[Any]) -> Parts:
        """`NAME TYPE ...`."""
        name, word, *rest = children
        if word.text == "category":
            rest = [_as_keys(part) for part in rest]
        block = self._named(name, [Entry(Scalar("type", word.span), word), *rest])
        return [("data.columns", block)]

    @v_args(inline=True)
    def derived(self, name: Piece, _: Token, predicate: Predicate) -> Parts:
        """`NAME := EXPRESSION`."""
        block = Entry(self._scalar(name), self._condition(predicate))
        return [("data.derived", block)]

    def bounds(self, children: list[Any]) -> Entry:
        """`[LOWER, UPPER]`."""
        ends = self._list(children)
        return Entry(Scalar("bounds", ends.span), ends)

    @v_args(inline=True)
    def zone(self, word: Token, token: Token) -> Entry:
        """`at "ZONE"`."""
        return self._entry(word, "zone", token)

    def keys(self, children: list[Any]) -> Entry:
        """`{KEY, KEY}`."""
        items = self._list(children)
        return Entry(Scalar("keys", items.span), items)

    @v_args(inline=True)
    def key_range(self, token: Token) -> Entry:
        """`FIRST..LAST`."""
        return self._entry(token, "keys", token)

    @v_args(inline=True)
    def keys_file(self, word: Token, file: Token) -> Entry:
        """`from "FILE"`."""
        block = self._block(self._entry(file, "file", file))
        return self._entry(word, "keys", block)

    @v_args(inline=True)
    def others(self, word: Token, asked: Token) -> Entry:
        """`with others`."""
        self._expect("others", self._scalar(asked))
        return self._entry(word, "others", Scalar("true", self._scalar(asked).span))

    @v_args(inline=True)
    def measure(self, token: Token) -> Entry:
        """The unit of measure."""
        return self._entry(token, "unit", token)

    def drop_nulls(self, children: list[Token]) -> Entry:
        """`drop nulls`."""
        return self._entry(children[0], "nulls", children[0])

    @v_args(inline=True)
    def fill_nulls(self, word: Token, as_: Token, number: Token) -> Entry:
        """`nulls as N`."""
        block = self._block(self._entry(as_, "as", number))
        return self._entry(word, "nulls", block)

    def privacy(self, children: list[Any]) -> Parts:
        """`protect UNIT giving ... under ... spending ...`."""
        word, *rest = children
        head = self._scalar(word)
        parts = [("", Entry(Scalar("privacy", head.span), head))]
        if rest and isinstance(rest[0], Scalar):
            parts.append(("privacy", self._entry(word, "unit", rest.pop(0))))
        for part in rest:
            entries = part if isinstance(part, list) else [part]
            parts += [("privacy", entry) for entry in entries]
        return parts

    def giving(self, children: list[Any]) -> Entry:
        """`giving at most N rows in at most M groups, at most T in all`."""
        words = [child for child in children if isinstance(child, Token)]
        entries = [
            self._entry(token, _COUNTED[noun.type], token)
            for token, noun in pairwise(words)
            if token.type == "NUMBER"
        ]
        for word in children:
            if isinstance(word, Scalar):
                self._expect("all", word)
        return self._entry(children[0], "contributes", self._block(*entries))

    @v_args(inline=True)
    def under(self, word: Token, relation: Scalar) -> Entry:
        """`under RELATION`."""
        return self._entry(word, "neighbours", relation)

    def spending(self, children: list[Any]) -> list[Entry]:
        """`spending epsilon E, delta D`."""
        return children[1:]

    def defaults(self, children: list[Any]) -> Parts:
        """`default alpha A, gamma G, mechanism M`."""
        word, *settings = children
        head = self._entry(word, "defaults", self._block(*settings))
        return [("", head), *(("defaults", setting) for setting in settings)]

    @v_args(inline=True)
    def setting(self, word: Scalar, value: Scalar) -> Entry:
        """`WORD VALUE`."""
        return Entry(word, value)

    def statistic(self, children: list[Any]) -> Parts:
        """`NAME = KIND COLUMN, COLUMN ...`."""
        name, kind, *rest = children
        inputs = tuple(part for part in rest if isinstance(part, Scalar))
        clauses = [part for part in rest if isinstance(part, Entry)]
        span = inputs[0].span
        of = inputs[0] if len(inputs) == 1 else Sequence(inputs, span)
        return [("statistics", self._named(name, [Entry(kind, of), *clauses]))]

    def proportion(self, children: list[Any]) -> Parts:
        """`NAME = KIND CONDITION ...`."""
        name, kind, predicate, *clauses = children
        asked = self._entry(kind, str(kind), self._condition(predicate))
        return [("statistics", self._named(name, [asked, *clauses]))]

    def where(self, children: list[Any]) -> Entry:
        """`where CONDITION`, kept as text so that resolve reads both forms alike."""
        word, predicate = children
        return self._entry(word, "where", self._condition(predicate))

    def _condition(self, predicate: Predicate) -> Scalar:
        span = self._source.stretch(predicate.start, predicate.end)
        text = self._source.text[predicate.start : predicate.end]
        if "\n" not in text:
            return Scalar(text, span, 0)

        def within(start: int, end: int) -> Span:
            return self._source.stretch(predicate.start + start, predicate.start + end)

        # Blanks in place of remarks and line ends: no word changes its place.
        blank = _BETWEEN.sub(lambda found: found[1] or " " * len(found[0]), text)
        return Scalar(blank, span, within=within)

    def by(self, children: list[Any]) -> Entry:
        """`by COLUMN, COLUMN`."""
        word, *names = children
        columns = tuple(self._scalar(name) for name in names)
        return self._entry(word, "by", Sequence(columns, columns[0].span))

    def _clause(self, children: list[Any]) -> Entry:
        word, value = children
        return self._entry(word, str(word), value)

    step = alpha = gamma = _clause

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Entry:
        """Read an option: its words, and a number or a list of numbers."""
        assert any(option.name == data for option in OPTIONS)
        value = next(
            child
            for child in children
            if not isinstance(child, Token) or child.type == "NUMBER"
        )
        return self._entry(children[0], str(data), value)

    @v_args(inline=True)
    def using(self, word: Token, mechanism: Scalar) -> Entry:
        """`using MECHANISM`."""
        return self._entry(word, "mechanism", mechanism)

    def spend(self, children: list[Any]) -> Entry:
        """`spend WAY AMOUNT`."""
        word, way, number = children
        block = self._block(Entry(way, self._scalar(number)))
        return self._entry(word, "spend", block)

    @v_args(inline=True)
    def report(self, word: Token, _signed: Token, by: Token, signer: Scalar) -> Parts:
        """`report signed by SIGNER`."""
        block = self._block(self._entry(by, "signer", signer))
        return [("", self._entry(word, "report", block))]

    def numbers(self, children: list[Any]) -> Sequence:
        """`[N, N]`."""
        return self._list(children)

    def _leaf(self, children: list[Token]) -> Scalar:
        return self._scalar(children[0])

    word = kind = number = end = value = value_or_string = string = key = _leaf

    def subject(self, children: list[Token]) -> Scalar:
        """Return what a statistic is of, or who is protected."""
        (token,) = children
        if token not in ("row", "rows"):
            self.refuse_reserved(token)
        return self._scalar(token)

    def _expect(self, wanted: str, word: Scalar) -> None:
        """Note a word that is not the wanted one.

        It is no keyword, which could no longer be the name of a column.
        """
        if word.text != wanted:
            message = f"`{shown(word.text)}` does not belong here"
            self._source.add("DPQL120", message, word.span, f"expected `{wanted}`")

    def _scalar(self, value: Token | Piece) -> Scalar:
        if isinstance(value, Piece):
            span = self._source.stretch(value.start, value.end)
            return Scalar(value.text, span, None)
        span = self._source.stretch(value.start_pos or 0, value.end_pos or 0)
        return Scalar(unquoted(value), span, quoted=value[0] in "\"'")

    def _entry(self, word: Token, name: str, value: Token | Piece | Node) -> Entry:
        node = self._scalar(value) if isinstance(value, Token | Piece) else value
        key = Scalar(name, self._scalar(word).span)
        if isinstance(node, Mapping):
            node = Mapping(node.entries, key.span)
        return Entry(key, node)

    def _block(self, *entries: Entry) -> Mapping:
        return Mapping(entries, entries[0].key.span)

    def _list(self, children: list[Any]) -> Sequence:
        first, *items, last = children
        kept = tuple(item for item in items if isinstance(item, Scalar))
        span = self._source.stretch(first.start_pos, last.end_pos)
        return Sequence(kept, span)

    def _named(self, name: Piece, entries: list[Entry]) -> Entry:
        block: dict[str, Entry] = {}
        for entry in entries:
            self._insert(block, entry)
        key = self._scalar(name)
        return Entry(key, Mapping(tuple(block.values()), key.span))


def _as_keys(part: Entry) -> Entry:
    """Return a bare word behind `category` as its keys: they may be `private`."""
    bare = isinstance(part.value, Scalar) and not part.value.quoted
    if part.name != "unit" or not bare:
        return part
    return Entry(Scalar("keys", part.key.span), part.value)


def _with_dataset(data: Entry) -> Entry:
    """Return the block of the data; without a number of rows it names a dataset."""
    assert isinstance(data.value, Mapping)
    named, *others = data.value.entries
    if named.name != "source" or data.value.get("rows") is not None:
        return data
    if not others:
        return Entry(data.key, named.value)
    dataset = Entry(Scalar("dataset", named.key.span), named.value)
    return Entry(data.key, Mapping((dataset, *others), data.value.span))
