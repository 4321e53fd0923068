"""The keys of a category: a list, a range of whole numbers, or a file.

    keys: [north, south]                   texts
    keys: [0, 1], keys: 1..12              numbers, both ends included
    keys: [1..12, 99]                      the same
    keys: ["0", "1"], keys: [1, 2, other]  texts: one key is in quotes, or no number
    keys: {file: keys/carriers.txt}        one a line, with the same meaning
    keys: private                          nobody lists them: they are found in the data

A file lies below the folder of the text that names it. Its keys and its sha256 become
part of the plan, so a file that has changed makes another plan. Whoever writes a spec
has its lines published, so no other file than a list is read: neither tables of data
nor the keys that sign are called ``.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dpql.diagnostics import shown
from dpql.errors import Span, SpecError
from dpql.language.context import Context, distinct, text, value
from dpql.language.numbers import WHOLE_PATTERN, exact, is_whole
from dpql.language.source import Source, read_beside
from dpql.language.tree import Mapping, Node, Scalar, Sequence
from dpql.model import limits
from dpql.model.limits import LARGEST_WHOLE, LONGEST_NUMBER, MOST_CELLS
from dpql.model.shape import Either, Field, ListOf, Record, Text

RANGE_PATTERN = rf"{WHOLE_PATTERN}\.\.{WHOLE_PATTERN}"
_RANGE = re.compile(rf"({WHOLE_PATTERN})\.\.({WHOLE_PATTERN})")
_KEY = re.compile(limits.KEY.pattern)
PRIVATE = "private"
"""What is declared of keys that nobody can list."""

LIST = ".txt"
"""How the name of a list ends."""

_FEWEST_IN_RANGE = 3
"""So many numbers in a row are written as a range."""

KEY_LIST = Either(
    word=Text(
        what="a range of keys",
        longest=2 * LONGEST_NUMBER,
        pattern=rf"{RANGE_PATTERN}|{PRIVATE}",
        rule="a whole number, two dots and a whole number, such as `1..12`; other keys "
        "stand in a list, such as `[north, south]`; `private` keys are found in the "
        "data",
        numbers=True,
    ),
    record=Record(
        what="a file of keys",
        fields=(
            Field(
                name="file",
                shape=Text.of(
                    "a file", limits.FILE, rule="no tabs and no backslashes in it"
                ),
                summary="The file that holds one key a line, below the folder of the "
                "spec. The plan holds its keys and its sha256.",
                examples=("keys/carriers.txt",),
                required=True,
            ),
        ),
    ),
    items=ListOf(item=Text.of("a key", limits.KEY, numbers=True)),
)
"""How keys are declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What the declaration of keys means."""

    keys: tuple[str, ...]
    numeric: bool
    digest: str | None = None


def are_private(node: Node | None) -> bool:
    """Tell whether the keys are to be found in the data."""
    return isinstance(node, Scalar) and node.text == PRIVATE


def is_misread(node: Node) -> bool:
    """Tell whether a word stands for keys that means none, which has been noted."""
    word = node.text if isinstance(node, Scalar) else PRIVATE
    return word != PRIVATE and not is_numeral(word)


def resolve_keys(
    node: Node | None, context: Context
) -> tuple[tuple[Scalar, ...], Keys]:
    """Return the keys as they are written, and what they mean, and note faults."""
    digest = None
    if isinstance(node, Mapping):
        found, digest = _in_file(value(node, "file"), context)
    elif isinstance(node, Scalar):
        found = (node,) if node.text else ()
    else:
        items = node.items if isinstance(node, Sequence) else ()
        found = tuple(item for item in items if isinstance(item, Scalar))
    numeric = are_numbers(found)
    written = tuple(_numbers(found, context) if numeric else _texts(found, context))
    keys = distinct(written, "the keys", context)
    return written, Keys(keys=keys, numeric=numeric, digest=digest)


def are_numbers(items: tuple[Scalar, ...]) -> bool:
    """Tell whether such keys are compared as numbers."""
    return bool(items) and all(
        not item.quoted and is_numeral(item.text) for item in items
    )


def is_numeral(word: str) -> bool:
    """Tell whether a key, unless it is in quotes, is a number or a range of them."""
    return is_whole(word) or _ends(word) is not None


def marked(node: Node) -> Node:
    """Return keys with those in quotes that need them, and no others."""
    if isinstance(node, Scalar):
        return Scalar(node.text, node.span)
    if not isinstance(node, Sequence):
        return node
    items = tuple(item for item in node.items if isinstance(item, Scalar))
    if len(items) < len(node.items):
        return node
    numeric = are_numbers(items)
    return Sequence(
        tuple(
            Scalar(one.text, one.span, quoted=not numeric and is_numeral(one.text))
            for one in items
        ),
        node.span,
    )


def listed(keys: Keys, span: Span) -> Node:
    """Return how keys are declared in a spec; numbers in a row are a range."""
    if keys.numeric and len(keys.keys) >= _FEWEST_IN_RANGE:
        numbers = [int(key) for key in keys.keys]
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            return Scalar(f"{numbers[0]}..{numbers[-1]}", span)
    items = (
        Scalar(key, span, quoted=not keys.numeric and is_numeral(key))
        for key in keys.keys
    )
    return Sequence(tuple(items), span)


def _ends(word: str) -> tuple[int, int] | None:
    match = _RANGE.fullmatch(word) if len(word) <= 2 * LONGEST_NUMBER else None
    return None if match is None else (_whole(match[1]), _whole(match[2]))


def _whole(word: str) -> int:
    return int(exact(word))


def _texts(items: tuple[Scalar, ...], context: Context) -> Iterator[Scalar]:
    for item in items:
        if not item.quoted and _ends(item.text) is not None:
            context.add(
                "DPQL352",
                f"the range `{shown(item.text)}` stands among keys that are texts",
                item.span,
                "write its keys one by one, or all keys as whole numbers without "
                "quotes",
            )
        yield item


def _numbers(items: tuple[Scalar, ...], context: Context) -> Iterator[Scalar]:
    count = 0
    for item in items:
        ends = _ends(item.text)
        first, last = ends or (_whole(item.text),) * 2
        fault = _unusable(first, last)
        count += max(0, last - first + 1)
        if fault is None and count > MOST_CELLS:
            fault = f"there are more than {MOST_CELLS} keys", "declare fewer"
            count = 0
        if fault is not None:
            context.add("DPQL352", fault[0], item.span, fault[1])
            continue
        for number in range(first, last + 1):
            offset = None if ends else item.offset
            yield Scalar(str(number), item.span, offset)


def _unusable(first: int, last: int) -> tuple[str, str] | None:
    if first > last:
        return (
            f"the range starts at {first}, above its end {last}",
            f"write `{last}..{first}`",
        )
    if max(abs(first), abs(last)) > LARGEST_WHOLE:
        return (
            f"a key that is a number is at most {LARGEST_WHOLE}, below 0 or above",
            "put the keys in quotes: they are compared as texts then",
        )
    return None


def _in_file(
    node: Node | None, context: Context
) -> tuple[tuple[Scalar, ...], str | None]:
    """Return the keys of a file, with their places in it, and its digest."""
    name = text(node)
    if node is None or name is None:
        return (), None
    if not name.endswith(LIST):
        context.add(
            "DPQL350",
            f"cannot read `{shown(name)}`: it is called otherwise than a list of keys",
            node.span,
            "the lines of the file are published, so it must be called so: "
            "`keys/carriers.txt`",
        )
        return (), None
    try:
        source, digest = read_beside(context.texts[node.span.source], name)
    except SpecError as error:
        for fault in error.diagnostics:
            context.add(fault.code, fault.message, fault.span or node.span, fault.hint)
        return (), None
    keys = tuple(_lines(source))
    context.source.faults += source.faults
    if not keys and not source.faults:
        context.add("DPQL351", "the file holds no keys", node.span, "one key a line")
    return keys, digest


def _lines(source: Source) -> Iterator[Scalar]:
    lines = source.lines
    last = len(lines) - (lines[-1] == "")
    for number, line in enumerate(lines[:last]):
        quoted = len(line) > 1 and line[0] == line[-1] == '"'
        key = line[1:-1] if quoted else line
        span = source.span(number, 0, number, max(1, len(line)))
        if not key or len(key) > limits.KEY.longest or not _KEY.fullmatch(key):
            source.add(
                "DPQL351",
                "the line is empty" if not line else "the line is not a key",
                span,
                f"a line holds one key of at most {limits.KEY.longest} characters, "
                "without tabs, and without spaces at its ends",
            )
        else:
            yield Scalar(key, span, int(quoted), quoted=quoted)
