"""Tell whether two locations lead to the same data.

A ledger keeps the location of a dataset as text: a path with every link resolved, or a
canonical URL. Local paths are compared by the files they lead to at that moment: a
glob, a folder, a link, a second name of a file and a ``file:`` URL all lead to files,
and a file stays the same under any name. URLs are compared as canonical text. Nobody
reads the data.

    duckdb:/data/wages.duckdb#main.payslips         a file and a table in it
    postgresql:SYSTEM/DATABASE/OID schema.table     what a server said when it was asked
    spark:catalog.schema.table                      what a session said

A table of a database is known by what its server says, so its spellings meet. A name
behind a space is for people.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

from dpql.ledger.urls import canonical_url
from dpql.model.location import split_separator

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LOCAL = "file"
_DUCKDB = "duckdb:"
_TABLES = re.compile(r"postgresql:(?!//)|spark:")
"""Before what a server said of a table."""
_VIEW = "view:"
_WILD = re.compile(r"[*?\[]")

File = tuple[int, int]
"""A file under any of its names: the device, and the inode there."""


@dataclass(frozen=True, slots=True)
class DataIdentity:
    """A location of data: ``text`` as the ledger keeps it, and its local ``paths``.

    A URL has no paths. ``table`` is one table of a file that holds several; without it
    all that the file holds is meant.
    """

    text: str
    paths: tuple[str, ...]
    table: str = ""

    def overlaps(self, other: DataIdentity) -> bool:
        """Tell whether the two may lead to the same data."""
        if _is_table(self.text) or _is_table(other.text):
            return _key(self.text) == _key(other.text)
        if not (self.paths and other.paths):
            return _urls_overlap(self.text, other.text)
        if self.table and other.table and self.table != other.table:
            return False
        nested = _nested(self.paths[0], other.paths[0])
        return nested or bool(self.files() & other.files())

    def is_within(self, other: DataIdentity) -> bool:
        """Tell whether everything that this location leads to belongs to the other."""
        if _key(self.text) == _key(other.text):
            return True
        if _is_table(self.text) or _is_table(other.text):
            return False
        if other.table and self.table != other.table:
            return False
        if not (self.paths and other.paths):
            folder = f"{other.text.rstrip('/')}/"
            return self.text.startswith(folder) or fnmatchcase(self.text, other.text)
        files = self.files()
        return bool(files) and files <= other.files()

    def files(self) -> set[File]:
        """Return every file that the location leads to now."""
        return {file for path in self.paths for file in _files(path)}


def identify(data: object) -> DataIdentity | None:
    """Return the identity of data at a path or a URL; None for a table in memory."""
    if not isinstance(data, str | Path):
        return None
    _, text = split_separator(str(data))
    if _is_table(text):
        return DataIdentity(text, ())
    if text.startswith(_DUCKDB):
        return _duckdb_table(text)
    url = _url(text)
    if url is not None:
        return DataIdentity(url, ())
    paths = _candidates(text)
    meant = next((path for path in paths if any(_files(path))), paths[0])
    return DataIdentity(_resolved(meant), (_resolved(meant), *paths))


def _is_table(text: str) -> bool:
    """Tell whether a text is what a server said of one of its tables."""
    return _TABLES.match(text) is not None


def _key(text: str) -> str:
    """Return the part of a text that is compared."""
    return text.partition(" ")[0] if _is_table(text) else text


def _duckdb_table(text: str) -> DataIdentity:
    """Return a table of a database file; DuckDB takes names in any case."""
    file, mark, name = text.removeprefix(_DUCKDB).rpartition("#")
    if not mark:
        file, name = name, ""
    name = name.removeprefix(_VIEW).lower()
    if name and "." not in name:
        name = f"main.{name}"
    found = _resolved(file)
    return DataIdentity(f"{_DUCKDB}{found}#{name}", (found,), name)


def _url(text: str) -> str | None:
    """Return the canonical URL; None for the path of a file."""
    found = _SCHEME.match(text)
    if found is None or found[1].lower() == _LOCAL or "://" not in text:
        return None
    return canonical_url(text)


def _urls_overlap(one: str, other: str) -> bool:
    first, second = sorted((_prefix(one), _prefix(other)), key=len)
    if _WILD.search(one + other):
        return second.startswith(first)
    return second == first or second.startswith(f"{first.rstrip('/')}/")


def _prefix(url: str) -> str:
    """Return the part of a URL before its first wildcard."""
    return _WILD.split(url)[0]


def _candidates(text: str) -> tuple[str, ...]:
    """Return the paths that readers may take the text for."""
    found = _SCHEME.match(text)
    if found is None or found[1].lower() != _LOCAL:
        return text, _expanded(text)
    rest = text[found.end() :]
    if rest.startswith("//"):
        rest = rest[2:].partition("/")[2]
    path = "/" + rest.lstrip("/")
    return unquote(path), path, text


def _expanded(text: str) -> str:
    try:
        return os.path.expanduser(text)  # noqa: PTH111  as engines do
    except ValueError:
        return text


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def _nested(one: str, other: str) -> bool:
    """Tell whether one path is the other, or would be inside it."""
    first, second = sorted((one.rstrip(os.sep), other.rstrip(os.sep)), key=len)
    return second == first or second.startswith(first + os.sep)


def _files(path: str) -> Iterator[File]:
    """Yield the file at a path, or every file that a pattern or folder leads to."""
    try:
        yield from _below(path)
        if _WILD.search(path):
            for found in glob.iglob(path, recursive=True, include_hidden=True):  # noqa: PTH207
                yield from _below(found)
    except (OSError, ValueError):
        return


def _below(path: str) -> Iterator[File]:
    if not os.path.isdir(path):  # noqa: PTH112  the text may be no path
        yield from _identity(path)
        return
    seen: set[File] = set()
    for folder, folders, names in os.walk(path, followlinks=True):
        here = set(_identity(folder))
        if here <= seen:
            folders.clear()
            continue
        seen |= here
        for name in names:
            yield from _identity(f"{folder}{os.sep}{name}")


def _identity(path: str) -> Iterator[File]:
    """Yield the file that a path leads to through any links, if there is one."""
    try:
        status = os.stat(path)  # noqa: PTH116  links are followed on purpose
    except (OSError, ValueError):
        return
    yield status.st_dev, status.st_ino
