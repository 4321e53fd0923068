"""Names are words that a data engineer or a statistician knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

INSTEAD = {
    "ahead": "prefetch",
    "asks": "statistics",
    "book": "ledger",
    "contest": "bound",
    "deal": "partition",
    "dealt": "partitioned",
    "excerpt": "fragment",
    "excerpts": "fragments",
    "fitting": "width",
    "gathered": "prefetched",
    "habit": "known_mistake",
    "habits": "known_mistakes",
    "hand": "partition",
    "hands": "partitions",
    "lot": "priority",
    "lots": "priorities",
    "paint": "colour",
    "painted": "coloured",
    "place": "location, span, index or code",
    "places": "locations, spans, indices or codes",
    "portion": "batch",
    "portions": "batches",
    "race": "bound",
    "races": "bounds",
    "restate": "print_spec",
    "rooms": "buffers",
    "sheet": "derived",
    "sheets": "derived",
    "spelt": "encoded or escaped",
    "statuses": "exit_codes",
    "supposing": "what_if",
    "told": "metadata",
    "wording": "help_text",
}
"""Words that may not stand in a name, and what to say instead."""

FOLDERS = ("dpql", "tests", "benchmarks", "tools")

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(name: str) -> set[str]:
    """Return the words of a name, as in `book_page`, `BookPage` or `BOOK`."""
    return {word.lower() for word in _WORDS.findall(name)}


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield every name that a module gives to something, and its line.

    The name of a test is a sentence and may say that a page asks for nothing.
    """
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ) if not name.startswith("test_"):
                yield node.lineno, name
            case _:
                pass


def offenders(tree: ast.AST) -> list[str]:
    """Return the names of a module that have a word of the list."""
    return [
        f"line {line}: {name} (say {INSTEAD[word]})"
        for line, name in sorted(set(names(tree)))
        for word in sorted(words(name) & INSTEAD.keys())
    ]


def test_names_are_plain_words() -> None:
    """No function, class, parameter, attribute or variable has a word of the list."""
    found = [
        f"{path.relative_to(ROOT).as_posix()}, {offender}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for offender in offenders(ast.parse(path.read_text("utf-8")))
    ]
    assert [] == found


def test_files_have_plain_names() -> None:
    """No module and no folder has a word of the list."""
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if words(path.relative_to(ROOT).as_posix()) & INSTEAD.keys()
    ]
    assert [] == found


@pytest.mark.parametrize(
    "line",
    [
        "def dealt_by(): ...",
        "class RoomsOfFiles: ...",
        "PLACE = 1",
        "x.hands = 2",
        "def f(portion): ...",
        "lambda lots: 0",
        "import book as old_book",
        "for place, _ in []: ...",
        "match x:\n    case [*races]: ...",
        "with open() as sheet: ...",
        "try: ...\nexcept E as told: ...",
        "[ahead := 1]",
    ],
)
def test_planted_words_are_noticed(line: str) -> None:
    """The walk sees every way in which a name is given."""
    assert 1 == len(offenders(ast.parse(line)))


def test_parts_of_words_are_let_pass() -> None:
    """`replace`, `handle` and `pilot` hold no word of the list."""
    tree = ast.parse("replace = handle = pilot = trace_hash = 1")
    assert [] == offenders(tree)
