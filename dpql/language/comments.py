"""Which comment belongs to which line of the canonical layout.

The canonical layout of each form has one line for each *unit*, a path into the tree.
A comment on a line of its own goes with the unit that follows it, a comment at the end
of a line with the unit before it. A blank line counts as a comment without words, so
that paragraphs survive. Printed again, every comment is found at the same unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dpql.language.source import Form, Source
from dpql.language.tree import Entry, Mapping
from dpql.language.yaml_reader import Stretch

Path = tuple[str, ...]
Words = str | None
"""The words of a comment, without its mark; None is a blank line."""

_ANY = "*"
YAML_BLOCKS: frozenset[Path] = frozenset(
    {
        (),
        ("data",),
        ("data", "columns"),
        ("data", "derived"),
        ("columns",),
        ("derived",),
        ("privacy",),
        ("statistics",),
        ("statistics", _ANY),
    }
)
"""The mappings that YAML spreads over lines; all others stand in braces."""

_TEXT_UNITS: frozenset[Path] = frozenset(
    {
        ("dpql",),
        ("release",),
        ("data",),
        ("data", "columns", _ANY),
        ("data", "derived", _ANY),
        ("privacy",),
        ("privacy", "epsilon"),
        ("defaults",),
        ("statistics", _ANY),
        ("report",),
    }
)
_NAMED = (("data", "columns"), ("data", "derived"))
_TEXT_HOMES: dict[Path, Path] = {
    ("purpose",): ("release",),
    ("privacy", "epsilon"): ("privacy", "epsilon"),
    ("privacy", "delta"): ("privacy", "epsilon"),
}
_QUOTED_OR_COMMENT = re.compile(
    r"""(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`)|--(?P<words>.*)"""
)
_HASH_OR_BLANK = re.compile(r"(?:^|(?<=[ \t\n]))#(?P<words>.*)|^[ \t]*\n", re.MULTILINE)
_BLANK = re.compile(r"^[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment and where it starts; ``alone`` when nothing precedes it on its line."""

    start: int
    words: Words
    alone: bool


@dataclass(slots=True)
class Notes:
    """The comments of one unit: lines before it, and words at the end of its line."""

    before: list[Words] = field(default_factory=list)
    after: str | None = None

    def add(self, other: Notes) -> None:
        """Take in the comments of a unit that shares the line."""
        self.before += other.before
        self.trail(other.after)

    def trail(self, words: str | None) -> None:
        """Put words at the end of the line, or before it when the end is taken."""
        if words is not None and self.after is None:
            self.after = words
        elif words is not None:
            self.before.append(words)


@dataclass(slots=True)
class Commentary:
    """All comments of a source, by unit; ``tail`` follows the last unit."""

    notes: dict[Path, Notes] = field(default_factory=dict)
    tail: list[Words] = field(default_factory=list)

    def of(self, path: Path) -> Notes:
        """Return the notes of a unit."""
        return self.notes.setdefault(path, Notes())

    def words(self) -> list[str]:
        """Return every comment, sorted: what a formatter must not lose."""
        found = [words for words in self.tail if words is not None]
        for notes in self.notes.values():
            found += [words for words in notes.before if words is not None]
            found += [notes.after] if notes.after is not None else []
        return sorted(found)


def in_yaml(source: Source, gaps: Iterable[Stretch]) -> Iterator[Comment]:
    """Yield the comments of YAML: a hash after a space that is inside no scalar."""
    for gap in gaps:
        for match in _HASH_OR_BLANK.finditer(source.text, gap.start, gap.end):
            yield _comment(source, match)


def in_text(source: Source) -> Iterator[Comment]:
    """Yield the comments of query text: two dashes outside quotation marks."""
    found = [
        match
        for match in _QUOTED_OR_COMMENT.finditer(source.text)
        if match["words"] is not None
    ]
    marks = [*found, *_BLANK.finditer(source.text)]
    for match in sorted(marks, key=lambda match: match.start()):
        yield _comment(source, match)


def _comment(source: Source, match: re.Match[str]) -> Comment:
    if match.re is _BLANK or match["words"] is None:
        return Comment(match.start(), None, alone=True)
    start = match.start()
    line = source.text.rfind("\n", 0, start) + 1
    words = match["words"].rstrip().removeprefix(" ")
    return Comment(start, words, alone=not source.text[line:start].strip())


def attach(comments: Iterable[Comment], units: list[tuple[int, Path]]) -> Commentary:
    """Return the comments by unit, given where each unit starts."""
    commentary = Commentary()
    ordered = sorted(units)
    following = 0
    for comment in comments:
        while following < len(ordered) and ordered[following][0] <= comment.start:
            following += 1
        if comment.alone or following == 0:
            if following == len(ordered):
                commentary.tail.append(comment.words)
            else:
                commentary.of(ordered[following][1]).before.append(comment.words)
        else:
            commentary.of(ordered[following - 1][1]).trail(comment.words)
    return commentary


def units(root: Mapping, form: Form, source: Source) -> list[tuple[int, Path]]:
    """Return where each unit of the form starts."""
    starts = source.starts
    return [
        (starts[entry.key.span.line - 1] + entry.key.span.column - 1, path)
        for path, entry in _entries(root)
        if is_unit(path, form)
    ]


def is_unit(path: Path, form: Form) -> bool:
    """Tell whether the path has a line of its own in the canonical layout."""
    if form is Form.YAML:
        return general(path[:-1]) in YAML_BLOCKS
    return general(path) in _TEXT_UNITS


def general(path: Path) -> Path:
    """Return the path with the author's own names replaced by a star."""
    if path[:1] == ("statistics",) and len(path) > 1:
        return ("statistics", _ANY, *path[2:])
    if path[:2] in _NAMED and len(path) > 2:  # noqa: PLR2004  a name
        return (*path[:2], _ANY, *path[3:])
    return path


def carried(commentary: Commentary, root: Mapping, form: Form) -> Commentary:
    """Return the comments at the units of another form; none is lost."""
    moved = Commentary(tail=commentary.tail)
    for path, _ in _entries(root):
        notes = commentary.notes.get(path)
        if notes is not None:
            moved.of(_home(path, root, form)).add(notes)
    return moved


def _home(path: Path, root: Mapping, form: Form) -> Path:
    if is_unit(path, form):
        return path
    if path in _TEXT_HOMES:
        return _TEXT_HOMES[path]
    if path == ("statistics",):
        block = root.get("statistics")
        assert isinstance(block, Mapping)
        return (*path, block.entries[0].name)
    return _home(path[:-1], root, form)


def _entries(root: Mapping) -> Iterator[tuple[Path, Entry]]:
    pending: list[tuple[Path, Entry]] = [((e.name,), e) for e in root.entries[::-1]]
    while pending:
        path, entry = pending.pop()
        yield path, entry
        if isinstance(entry.value, Mapping):
            pending += [((*path, e.name), e) for e in entry.value.entries[::-1]]
