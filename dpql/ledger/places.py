"""Where data are, and whether two places lead to the same data.

A ledger keeps the place of a dataset as text: a path with every link resolved, or an
address. Places on this machine are compared by what they lead to when they are
compared: a glob, a folder, a link, a second name of a file or a ``file:`` address all
lead to files, and a file is the same whatever it is called. Addresses are compared as
text in one spelling. The data themselves are never looked into.
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

from dpql.ledger.addresses import spelled

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_LOCAL = "file"
_WILD = re.compile(r"[*?\[]")

File = tuple[int, int]
"""What a file is, whatever its names are: its device and its number there."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of data: the text that a ledger keeps, and the paths it may mean here."""

    text: str
    paths: tuple[str, ...]

    def meets(self, other: Place) -> bool:
        """Tell whether the two may lead to the same data."""
        if not (self.paths and other.paths):
            return _addresses_meet(self.text, other.text)
        return _nested(self.text, other.text) or bool(self.files() & other.files())

    def lies_in(self, other: Place) -> bool:
        """Tell whether all that this place leads to belongs to the other."""
        if self.text == other.text:
            return True
        if not (self.paths and other.paths):
            folder = f"{other.text.rstrip('/')}/"
            return self.text.startswith(folder) or fnmatchcase(self.text, other.text)
        files = self.files()
        return bool(files) and files <= other.files()

    def files(self) -> set[File]:
        """Return every file that the place leads to now."""
        return {file for path in self.paths for file in _files(path)}


def place_of(frame: object) -> Place | None:
    """Return the place that a path or an address names; None for data in memory."""
    if not isinstance(frame, str | Path):
        return None
    text = str(frame)
    address = _address(text)
    if address is not None:
        return Place(address, ())
    paths = _spellings(text)
    meant = next((path for path in paths if any(_files(path))), paths[0])
    return Place(_resolved(meant), (_resolved(meant), *paths))


def _address(text: str) -> str | None:
    """Return an address in one spelling; None for the path of a file."""
    found = _SCHEME.match(text)
    if found is None or found[1].lower() == _LOCAL or "://" not in text:
        return None
    return spelled(text)


def _addresses_meet(one: str, other: str) -> bool:
    first, second = sorted((_root(one), _root(other)), key=len)
    if _WILD.search(one + other):
        return second.startswith(first)
    return second == first or second.startswith(f"{first.rstrip('/')}/")


def _root(address: str) -> str:
    """Return what every address begins with that a pattern stands for."""
    return _WILD.split(address)[0]


def _spellings(text: str) -> tuple[str, ...]:
    """Return the paths that a text may mean to one reader or another."""
    found = _SCHEME.match(text)
    if found is None or found[1].lower() != _LOCAL:
        return text, os.path.expanduser(text)  # noqa: PTH111  as engines do
    rest = text[found.end() :]
    if rest.startswith("//"):
        rest = rest[2:].partition("/")[2]
    path = "/" + rest.lstrip("/")
    return unquote(path), path, text


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
    if not os.path.isdir(path):  # noqa: PTH112  a text that may be no path
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
    """Yield what the file is that a path leads to, over links; nothing if none is."""
    try:
        status = os.stat(path)  # noqa: PTH116  links are followed on purpose
    except (OSError, ValueError):
        return
    yield status.st_dev, status.st_ino
