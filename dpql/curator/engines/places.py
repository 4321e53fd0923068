"""Which files a place names, and of what format: decided by names alone.

The first bytes of a file may belong to data subjects, and so do the names of the
folders of a partitioned table, so neither decides how anything is read.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from dpql.errors import RunFault
from dpql.model.spec import Data

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".ipc": "ipc",
    ".arrow": "ipc",
    ".feather": "ipc",
}
"""Suffix -> format."""

_PACKED = {".gz", ".zst", ".zip", ".bz2", ".xz", ".lz4", ".snappy", ".z"}
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


_SPECIAL = "DPQL511"


class _SpecialFile(Exception):
    """A path leads to a pipe, a socket or a device; it never leaves this module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Files of one format below a folder.

    Names of folders below ``root`` may hold values: ``region=north``.
    """

    format: str
    files: tuple[str, ...]
    root: str


def find(place: str, data: Data) -> Place:
    """Return what a path, a pattern or a URL of this machine names.

    Raises:
        RunFault: DPQL501, it names nothing; DPQL502, no format or several; DPQL511,
            a pipe, a socket or a device.
    """
    if not place:
        raise no_file(data)
    if "://" not in place:
        return _local(place, data)
    try:
        parts = urlsplit(place)
    except ValueError:
        raise no_file(data) from None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise no_file(data)
    return _local(url2pathname(parts.path), data)


def refuse_special_file(frame: object, data: Data) -> None:
    """Refuse a path that leads to a pipe, a socket or a device; nothing is opened.

    Reading one might never end. Other faults are left to those who read.

    Raises:
        RunFault: DPQL511.
    """
    if isinstance(frame, str | Path):
        try:
            find(str(frame), data)
        except RunFault as fault:
            if fault.diagnostics[0].code == _SPECIAL:
                raise


def special_file(what: str) -> RunFault:
    """Return the fault of a pipe, a socket or a device instead of a file."""
    return RunFault.of(
        _SPECIAL,
        f"{what} may be read from regular files only, not from a pipe, a socket or a "
        "device",
        hint="write the rows to a file first, and name that file",
    )


def one_format(names: Iterable[str], data: Data, *, bare: bool = False) -> str:
    """Return the only format of files of these names.

    Raises:
        RunFault: DPQL502, no format or several, or they are compressed.
    """
    return _one({_format(name, bare=bare) for name in names}, data)


def no_file(data: Data) -> RunFault:
    """Return the fault of data that are not there or cannot be fetched."""
    return RunFault.of(
        "DPQL501",
        f"no file can be read for the data of `{data.source}`",
        hint="look at the path, the pattern or the URL, and at who may read it",
    )


def unreadable(data: Data) -> RunFault:
    """Return the fault of a file that is not what its name says."""
    return RunFault.of(
        "DPQL502",
        f"the data of `{data.source}` are not of the kind that their name says",
        hint="name files by what they hold, and do not compress them",
    )


def folder_values(root: str, file: str) -> dict[str, bytes | None]:
    """Return the values that the folders of a file below the root name."""
    values: dict[str, bytes | None] = {}
    for part in Path(file).relative_to(root).parts[:-1]:
        name, equals, value = part.partition("=")
        if equals:
            values[unquote(name)] = None if value == _NO_VALUE else _raw(value)
    return values


def _local(place: str, data: Data) -> Place:
    path = Path(place).absolute()
    try:
        root, found = _found(path)
        files = _once(found)
    except _SpecialFile:
        raise special_file(f"the data of `{data.source}`") from None
    except (OSError, ValueError):
        raise no_file(data) from None
    if not files:
        raise no_file(data)
    format_ = one_format([file.name for file in files], data, bare=path.is_dir())
    return Place(format=format_, files=tuple(map(str, files)), root=str(root))


def _found(path: Path) -> tuple[Path, list[Path]]:
    """Return the files, and the folder below which the names of folders count."""
    if path.is_dir():
        return path, _below(path)
    if path.exists():
        return path.parent, [path] if _is_regular(path) else []
    matches = map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207  at any depth
    files = [file for match in matches for file in _files(match)]
    return Path(*_fixed(path.parts)), files


def _once(files: Iterable[Path]) -> list[Path]:
    """Return each file under its first name, or its rows would count twice.

    A pattern may match a folder and what is in it; links are further names of a file.
    """
    known: dict[tuple[int, int], Path] = {}
    for file in sorted(files):
        status = file.stat()
        known.setdefault((status.st_dev, status.st_ino), file)
    return list(known.values())


def _fixed(parts: Iterable[str]) -> list[str]:
    """Return the parts of a pattern before the first that is one."""
    fixed = []
    for part in parts:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return fixed


def _files(match: Path) -> list[Path]:
    if match.is_dir():
        return _below(match)
    return [match] if _is_regular(match) and _holds_rows(match) else []


def _holds_rows(path: Path) -> bool:
    return may_hold_rows(path.name, path.stat().st_size)


def may_hold_rows(name: str, size: int) -> bool:
    """Tell whether a file of this size is part of a table.

    An empty file has no header and is left out. But lines of JSON have none to miss:
    if such a file were left out, whether there are data could depend on one row.
    """
    return size != 0 or FORMATS.get(Path(name).suffix.lower()) == "ndjson"


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


def _below(folder: Path) -> list[Path]:
    """Return the files below a folder that may hold rows and are not hidden.

    Links are followed, once. A folder that may not be read is a fault: its rows would
    be left out without a word.
    """
    found: list[Path] = []
    seen: set[tuple[int, int]] = set()
    for place, folders, names in os.walk(folder, onerror=_failing, followlinks=True):
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = [name for name in folders if not _hidden(name)]
        paths = [Path(place, name) for name in names if not _hidden(name)]
        found += [path for path in paths if _is_regular(path) and _holds_rows(path)]
    return found


def _failing(error: OSError) -> None:
    raise error


def _hidden(part: str) -> bool:
    return part[0] == "." or (part[0] == "_" and "=" not in part)


def _format(name: str, *, bare: bool = False) -> str:
    """Return the format; files of a table without any suffix are parquet."""
    suffix = Path(name).suffix.lower()
    if bare and not suffix:
        return "parquet"
    return FORMATS.get(suffix, "packed" if suffix in _PACKED else "")


def _one(formats: set[str], data: Data) -> str:
    """Return the only format."""
    if formats == {"packed"}:
        raise RunFault.of(
            "DPQL502",
            f"the data of `{data.source}` are compressed",
            hint="decompress them, or use parquet, which is compressed inside",
        )
    if len(formats) > 1:
        raise RunFault.of(
            "DPQL502",
            f"the data of `{data.source}` are files of several kinds",
            hint="name files of one kind, for instance with a pattern: *.parquet",
        )
    (only,) = formats
    if not only:
        raise RunFault.of(
            "DPQL502",
            f"the file of `{data.source}` is of no kind that can be read",
            hint="name it .parquet, .csv, .tsv, .ndjson, .arrow or .ipc",
        )
    return only


def _raw(value: str) -> bytes:
    """Return the bytes of a value, which need not be UTF-8."""
    return unquote(value, errors="surrogateescape").encode("utf-8", "surrogateescape")
