"""Which files a path, a glob, a folder or a URL names, and their format.

Names alone decide. The first bytes of a file may belong to data subjects, and so do
the folder names of a partitioned table, so neither decides how anything is read.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from dpql.curator.sources import remote
from dpql.curator.sources.formats import (
    COLUMNAR,
    format_of,
    may_hold_rows,
    suffixes,
)
from dpql.curator.sources.remote import Bucket, Compressed
from dpql.curator.sources.stores import is_bucket, is_http
from dpql.errors import RunFault
from dpql.model.location import split_separator
from dpql.model.spec import Data

_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_SPECIAL_FILE = "DPQL511"


class Remote(Protocol):
    """A file on another machine."""

    def whole(self) -> bytes:
        """Return its content.

        Raises:
            OSError: it cannot be read; `Compressed`, the server compresses it.
        """

    def opened(self) -> Any:
        """Return a new pyarrow file with random access.

        Raises:
            OSError: it cannot be read; `Compressed`, the server compresses it.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file: its path, its bytes or a way to fetch them; its hive folder values."""

    content: str | bytes | Remote = field(repr=False)
    values: Mapping[str, bytes | None] = field(repr=False)
    compression: str | None = None


class _SpecialFile(Exception):
    """A path leads to a pipe, a socket or a device; it never leaves this module."""


def locate(location: str, data: Data) -> tuple[str, list[File]]:
    """Return the format and the files that a path, a glob, a folder or a URL names.

    Text on another machine is fetched here, since readers need all of it.

    Raises:
        RunFault: DPQL501, no file can be read; DPQL502, no format, several, or
            compressed; DPQL511, a pipe, a socket or a device.
    """
    contents: Mapping[str, str | Remote]
    if is_http(location) or is_bucket(location):
        read = _http_file if is_http(location) else _bucket_files
        root, contents = read(location, data)
        format_ = format_of(contents, data)
    else:
        root, format_, paths = _local(location, data)
        contents = {path: path for path in paths}
    declared = {column.name for column in data.columns}
    files = []
    for path, content in contents.items():
        values = _folder_values(root, path)
        kept = {name: value for name, value in values.items() if name in declared}
        read_ = _content(format_, content, data)
        compression = suffixes(path)[1]
        files.append(File(content=read_, values=kept, compression=compression))
    return format_, files


def refuse_special_file(frame: object, data: Data) -> None:
    """Refuse a path that leads to a pipe, a socket or a device, without opening it.

    Reading one might never end. Readers report all other faults.

    Raises:
        RunFault: DPQL511.
    """
    if isinstance(frame, str | Path):
        try:
            _local(split_separator(str(frame))[1], data)
        except RunFault as fault:
            if fault.diagnostics[0].code == _SPECIAL_FILE:
                raise


def special_file(what: str) -> RunFault:
    """Return the fault of a pipe, a socket or a device instead of a file."""
    return RunFault.of(
        _SPECIAL_FILE,
        f"{what} may be read from regular files only, not from a pipe, a socket or a "
        "device",
        hint="write the rows to a file first, and name that file",
    )


def no_file(data: Data) -> RunFault:
    """Return the fault of data that are not there or cannot be fetched."""
    return RunFault.of(
        "DPQL501",
        f"no file can be read for the data of `{data.source}`",
        hint="check the path, the pattern or the URL, and who may read it",
    )


def unreadable(data: Data) -> RunFault:
    """Return the fault of a file that is not of the format that its name states."""
    return RunFault.of(
        "DPQL502",
        f"the data of `{data.source}` are not of the kind that their name says",
        hint="name files by what they hold; text may be compressed as .csv.gz or "
        ".csv.zst",
    )


def _content(format_: str, content: str | Remote, data: Data) -> str | bytes | Remote:
    """Return a path, or bytes if the path is not UTF-8 or the file is remote text."""
    try:
        if isinstance(content, str):
            return content if _is_utf8(content) else Path(content).read_bytes()
        return content if format_ in COLUMNAR else content.whole()
    except Compressed:
        raise unreadable(data) from None
    except OSError:
        raise no_file(data) from None


def _is_utf8(path: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in path)


def _folder_values(root: str, path: str) -> dict[str, bytes | None]:
    """Return the values in the names of a file's folders below the root."""
    values: dict[str, bytes | None] = {}
    for part in Path(path).relative_to(root).parts[:-1]:
        name, equals, value = part.partition("=")
        if equals:
            values[unquote(name)] = None if value == _NULL_FOLDER else _decoded(value)
    return values


def _decoded(value: str) -> bytes:
    """Return the bytes of a percent-encoded value, which need not be UTF-8."""
    return unquote(value, errors="surrogateescape").encode("utf-8", "surrogateescape")


def _local(location: str, data: Data) -> tuple[str, str, list[str]]:
    """Return the root, the format and the paths of files on this machine."""
    if not location:
        raise no_file(data)
    if "://" in location:
        location = _file_url_path(location, data)
    path = Path(location).absolute()
    try:
        root, found = _local_files(path)
        files = _each_once(found)
    except _SpecialFile:
        raise special_file(f"the data of `{data.source}`") from None
    except (OSError, ValueError):
        raise no_file(data) from None
    if not files:
        raise no_file(data)
    names = [file.name for file in files]
    format_ = format_of(names, data, parquet_without_suffix=path.is_dir())
    return str(root), format_, [str(file) for file in files]


def _file_url_path(url: str, data: Data) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise no_file(data) from None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise no_file(data)
    # It would bring HTTP and TLS to every run.
    from urllib.request import url2pathname

    return url2pathname(parts.path)


def _local_files(path: Path) -> tuple[Path, list[Path]]:
    """Return the root, below which folder names hold values, and the files."""
    if path.is_dir():
        return path, _files_below(path)
    if path.exists():
        return path.parent, [path] if _is_regular(path) else []
    matches = map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207  at any depth
    files = [file for match in matches for file in _matched_files(match)]
    return Path(*path.parts[: _fixed_parts(path.parts)]), files


def _fixed_parts(parts: Sequence[str]) -> int:
    """Return how many parts of a path stand before the first that is a pattern."""
    return next(n for n, part in enumerate([*parts, "*"]) if glob.has_magic(part))


def _matched_files(match: Path) -> list[Path]:
    if match.is_dir():
        return _files_below(match)
    return [match] if _is_regular(match) and _holds_rows(match) else []


def _files_below(folder: Path) -> list[Path]:
    """Return the files below a folder that may hold rows and are not hidden.

    Each linked folder is followed once. A folder without read permission raises, since
    its rows would be left out silently.
    """
    found: list[Path] = []
    seen: set[tuple[int, int]] = set()
    for path, folders, names in os.walk(folder, onerror=_fail, followlinks=True):
        status = Path(path).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = [name for name in folders if not is_hidden(name)]
        files = [Path(path, name) for name in names if not is_hidden(name)]
        found += [file for file in files if _is_regular(file) and _holds_rows(file)]
    return found


def _fail(error: OSError) -> None:
    raise error


def _each_once(files: Iterable[Path]) -> list[Path]:
    """Return each file under its first name, or its rows would count twice.

    A glob may match a folder and the files in it; links are further names of a file.
    """
    known: dict[tuple[int, int], Path] = {}
    for file in sorted(files):
        status = file.stat()
        known.setdefault((status.st_dev, status.st_ino), file)
    return list(known.values())


def _is_regular(path: Path) -> bool:
    """Tell whether a path leads to a file; False if it leads nowhere.

    Raises:
        _SpecialFile: it leads to something that is neither a file nor a folder.
    """
    if path.is_file():
        return True
    if path.exists() and not path.is_dir():
        raise _SpecialFile
    return False


def _holds_rows(path: Path) -> bool:
    return may_hold_rows(path.name, path.stat().st_size)


def _http_file(url: str, data: Data) -> tuple[str, dict[str, Remote]]:
    """Return the file behind an HTTP URL, by its name; its folders hold no values."""
    try:
        name = urlsplit(url).path.rpartition("/")[2]
        return "", {name: remote.http_file(url)}
    except (OSError, ValueError):
        raise no_file(data) from None


def _bucket_files(url: str, data: Data) -> tuple[str, dict[str, Remote]]:
    """Return the root and the objects that a URL of an object store names."""
    try:
        bucket = remote.open_bucket(url)
        root, keys = _keys(bucket)
    except OSError:
        raise no_file(data) from None
    if not keys:
        raise no_file(data)
    return root, {key: bucket.file(key) for key in sorted(keys)}


def _keys(bucket: Bucket) -> tuple[str, list[str]]:
    """Return the root and the keys, by the rules of local files.

    A key with a slash at its end is a folder, even if an object has its name.
    """
    name = bucket.key.rstrip("/")
    parts = name.split("/") if name else []
    fixed = _fixed_parts(parts)
    is_folder = fixed == len(parts) and bucket.key.endswith("/")
    if name and not is_folder and bucket.has(name):
        return "/".join(parts[:-1]), [name]
    root = "/".join(parts[:fixed])
    below = len(root) + 1 if root else 0
    return root, [
        key
        for key, size in bucket.sizes(root).items()
        if key != root
        and may_hold_rows(key, size)
        and _matches(key[below:].split("/"), parts[fixed:])
    ]


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Tell whether a pattern names an object, or a folder in which it is not hidden.

    An empty pattern names the folder below which the parts begin.
    """
    # An object is no folder, so it lies at least one step below one.
    own = [*pattern, "*"] if pattern[-1:] == ["**"] else pattern
    return _fits(parts, own) or any(
        _fits(parts[:depth], pattern) and not any(map(is_hidden, parts[depth:]))
        for depth in range(len(parts))
    )


def _fits(parts: list[str], pattern: list[str]) -> bool:
    """Tell whether a path fits a pattern, by the rules of ``glob``."""
    if not pattern:
        return not parts
    if pattern[0] == "**" and _fits(parts, pattern[1:]):
        return True
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    if pattern[0] == "**":
        return _fits(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def is_hidden(name: str) -> bool:
    """Tell whether a file or folder is hidden; ``_column=value`` is not."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)
