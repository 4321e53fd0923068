"""Is the tree shaped like a spec? Every fault is noted, in plain words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import assert_never

from dpql.diagnostics import shown
from dpql.language import numbers
from dpql.language.context import OPEN_TYPE
from dpql.language.hints import (
    as_list,
    as_number,
    block_for,
    misplaced,
    missing,
    several,
)
from dpql.language.source import Form, Source
from dpql.language.suggestions import did_you_mean, nearest, quoted
from dpql.language.tree import Entry, Mapping, Node, Scalar, Sequence
from dpql.model.limits import LARGEST_EXPONENT, LONGEST_NUMBER
from dpql.model.shape import (
    Choice,
    Either,
    Field,
    ListOf,
    Number,
    Record,
    Shape,
    Table,
    Text,
    Variants,
)

_MOST_HINTS = 3


def check(node: Node, shape: Shape, source: Source, what: str) -> None:
    """Note every way in which the node, known as ``what``, is not of the shape."""
    match shape:
        case Text():
            _text(node, shape, source, what)
        case Number():
            _number(node, shape, source, what)
        case Choice():
            _choice(node, shape, source, what)
        case ListOf():
            _list(node, shape, source, what)
        case Record():
            _record(node, shape, source, what)
        case Variants():
            _variants(node, shape, source, what)
        case Table():
            _table(node, shape, source, what)
        case Either():
            chosen: Shape = shape.word if isinstance(node, Scalar) else shape.record
            if isinstance(node, Sequence) and shape.items is not None:
                chosen = shape.items
            check(node, chosen, source, what)
        case _:
            assert_never(shape)


def _scalar(node: Node, source: Source, what: str, wanted: str) -> str | None:
    if not isinstance(node, Scalar):
        kind = "a list" if isinstance(node, Sequence) else "a block of keys"
        source.add(
            "DPQL203",
            f"{what} is {kind}, where {wanted} belongs",
            node.span,
            f"write {wanted} after the colon",
        )
        return None
    if not node.text:
        source.add("DPQL204", f"{what} is empty", node.span, f"write {wanted}")
        return None
    return node.text


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _text(node: Node, shape: Text, source: Source, what: str) -> None:
    text = _scalar(node, source, what, shape.what)
    if text is None:
        return
    if len(text) > shape.longest:
        source.add(
            "DPQL212",
            f"{what} is longer than {shape.longest} characters",
            node.span,
            "shorten it",
        )
    elif not _compiled(shape.pattern).fullmatch(text):
        source.add(
            "DPQL208",
            f"`{shown(text)}` is not {shape.what}",
            node.span,
            f"{shape.what} has {shape.rule}",
        )


def _number(node: Node, shape: Number, source: Source, what: str) -> None:
    wanted = "a whole number" if shape.whole else "a number"
    text = _scalar(node, source, what, wanted)
    if text is None:
        return
    if numbers.is_oversized(text):
        source.add(
            "DPQL206",
            f"{what} is a number that is too long or too large",
            node.span,
            f"at most {LONGEST_NUMBER} characters, and no exponent "
            f"beyond {LARGEST_EXPONENT}",
        )
    elif not numbers.is_number(text):
        source.add(
            "DPQL205",
            f"{what} is `{shown(text)}`, which is not a number",
            node.span,
            as_number(text)
            or "write it like `250`, `0.05`, `1e-9`, `2_000_000` or `1/3`",
        )
    elif shape.whole and not numbers.is_whole(text):
        source.add(
            "DPQL207",
            f"{what} is `{shown(text)}`, which is not a whole number",
            node.span,
            "write it in full, like `250` or `2_000_000`",
        )


def _choice(node: Node, shape: Choice, source: Source, what: str) -> None:
    text = _scalar(node, source, what, quoted(shape.words))
    if text is not None and text not in shape.words:
        close = did_you_mean(text, shape.words)
        source.add(
            "DPQL209",
            f"`{shown(text)}` is not {shape.what}",
            node.span,
            close or f"write {quoted(shape.words)}{shape.otherwise}",
        )


def _list(node: Node, shape: ListOf, source: Source, what: str) -> None:
    if not isinstance(node, Sequence):
        source.add(
            "DPQL203",
            f"{what} is not a list",
            node.span,
            as_list(node, shape),
        )
        return
    count, most = len(node.items), shape.longest
    if count < shape.shortest or (most is not None and count > most):
        wanted = (
            f"exactly {most}"
            if most == shape.shortest
            else f"at least {shape.shortest}"
            if count < shape.shortest
            else f"at most {most}"
        )
        source.add(
            "DPQL210",
            f"{what} has {count} items, where {wanted} belong",
            node.span,
            f"give {wanted}",
        )
    for item in node.items:
        check(item, shape.item, source, f"an item of {what}")


def _mapping(node: Node, source: Source, what: str, hint: str) -> Mapping | None:
    if isinstance(node, Mapping):
        return node
    source.add("DPQL203", f"{what} is not a block of keys", node.span, hint)
    return None


def _table(node: Node, shape: Table, source: Source, what: str) -> None:
    mapping = _mapping(node, source, what, "write one name and a colon on each line")
    if mapping is None:
        return
    if not mapping.entries:
        source.add("DPQL210", f"{what} has no entries", node.span, "name at least one")
    for entry in mapping.entries:
        check(entry.key, shape.key, source, f"a name in {what}")
        if not _is_open(entry.value):
            check(entry.value, shape.value, source, f"`{shown(entry.name)}`")
    if isinstance(shape.value, Variants):
        _note_open(mapping, shape.value, source)


def _is_open(node: Node) -> bool:
    """Tell whether a column has the type that stands for none yet."""
    kind = node.get("type") if isinstance(node, Mapping) else None
    return isinstance(kind, Scalar) and kind.text == OPEN_TYPE


def _note_open(mapping: Mapping, shape: Variants, source: Source) -> None:
    """Note all columns without a type at once, at the first of them."""
    found = [entry for entry in mapping.entries if _is_open(entry.value)]
    if found:
        names = several(entry.name for entry in found)
        have = "has" if len(found) == 1 else "have"
        source.add(
            "DPQL214",
            f"{names} {have} no type yet",
            found[0].key.span,
            f"write {quoted(shape.records)} in place of `{OPEN_TYPE}`; delete columns "
            "that no statistic needs",
        )


def _variants(node: Node, shape: Variants, source: Source, what: str) -> None:
    words = tuple(shape.records)
    mapping = _mapping(node, source, what, f"write `{{{shape.tag}: {words[-1]}, ...}}`")
    if mapping is None:
        return
    tag = mapping.get(shape.tag)
    record = shape.records.get(tag.text) if isinstance(tag, Scalar) else None
    if record is not None:
        _record(mapping, record, source, what)
    elif tag is None:
        source.add(
            "DPQL201",
            f"{what} has no `{shape.tag}`",
            node.span,
            f"write `{shape.tag}: ...`, one of {quoted(words)}",
        )
    else:
        choice = Choice(what=f"a {shape.tag}", words=words)
        _choice(tag, choice, source, f"`{shape.tag}`")


def _record(node: Node, shape: Record, source: Source, what: str) -> None:
    keys = " and ".join(f"`{field.name}`" for field in shape.fields[:3])
    hint = block_for(what, node) or f"{shape.what} has keys such as {keys}"
    mapping = _mapping(node, source, what, hint)
    if mapping is None:
        return
    unknown = [entry for entry in mapping.entries if shape.field(entry.name) is None]
    _unknown_keys(unknown, shape, source, what)
    words = [field.name for field in shape.fields]
    # What an unknown key was meant to be is not missing as well.
    meant = {nearest(entry.name, words) for entry in unknown}
    for entry in mapping.entries:
        field = shape.field(entry.name)
        if field is not None:
            check(entry.value, field.shape, source, f"`{entry.name}`")
    given = {entry.name for entry in mapping.entries}
    if len(given) < shape.fewest:
        source.add(
            "DPQL210", f"{what} has no entries", node.span, f"it has keys {keys}"
        )
    absent = [
        field
        for field in shape.fields
        if field.required and field.name not in given | meant
    ]
    if absent:
        _missing_keys(absent, node, shape, source, what)
    for names in shape.one_of:
        _exactly_one(mapping, names, source, what, guessed=not meant.isdisjoint(names))
    for name, others in shape.needs:
        entry_of = mapping.entry(name)
        if entry_of and (given | meant).isdisjoint(others):
            source.add(
                "DPQL211",
                f"`{name}` does not go with this statistic",
                entry_of.key.span,
                f"`{name}` belongs to {quoted(others)}",
            )


def _missing_keys(
    absent: list[Field], node: Node, shape: Record, source: Source, what: str
) -> None:
    """Note all keys that a block lacks at once."""
    *most, last = [f"no `{field.name}`" for field in absent]
    none = f"{', '.join(most)} and {last}" if most else last
    hints = [
        missing(
            shape,
            field.name,
            what,
            _example(field.examples[0]),
            text=source.form is Form.DPQL,
        )
        for field in absent
    ]
    if len(absent) > _MOST_HINTS:
        hints = ["add them; `dpql init` writes a spec that has all it needs"]
    source.add("DPQL201", f"{what} has {none}", node.span, "; ".join(hints))


def _example(value: object) -> str:
    match value:
        case dict():
            inner = ", ".join(f"{key}: {_example(item)}" for key, item in value.items())
            return f"{{{inner}}}" if inner else "..."
        case list():
            return f"[{', '.join(_example(item) for item in value)}]"
        case _:
            return str(value)


def _unknown_keys(
    entries: list[Entry], shape: Record, source: Source, what: str
) -> None:
    """Note the keys that a record does not have, many at once as one fault."""
    hint = misplaced(entries) if len(entries) > 1 else None
    if hint is None:
        for entry in entries:
            _unknown(entry, shape, source, what)
        return
    names = several(entry.name for entry in entries)
    message = f"{names} are not keys of {shape.what}"
    source.add("DPQL202", message, entries[0].key.span, hint)


def _unknown(entry: Entry, shape: Record, source: Source, what: str) -> None:
    names = [field.name for field in shape.fields]
    hint = did_you_mean(entry.name, names)
    source.add(
        "DPQL202",
        f"`{shown(entry.name)}` is not a key of {shape.what}",
        entry.key.span,
        hint or f"{what} takes {quoted(names)}",
    )


def _exactly_one(
    mapping: Mapping,
    names: tuple[str, ...],
    source: Source,
    what: str,
    *,
    guessed: bool,
) -> None:
    given = [entry for entry in mapping.entries if entry.name in names]
    if not given and not guessed:
        source.add(
            "DPQL213",
            f"{what} has none of {quoted(names)}",
            mapping.span,
            "give exactly one of them",
        )
    for entry in given[1:]:
        source.add(
            "DPQL213",
            f"{what} has both `{given[0].name}` and `{entry.name}`",
            entry.key.span,
            f"keep one of {quoted(names)}",
        )
