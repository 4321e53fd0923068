"""Which objects of a cloud a URL names: decided by names and listings alone."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from dpql.curator.engines.cloud_systems import (
    SYSTEMS,
    Address,
    address_of,
    scheme_of,
    system_of,
)
from dpql.curator.engines.places import may_hold_rows, no_file
from dpql.model.spec import Data

T = TypeVar("T")

_SECONDS = 60
"""How long a cloud may take to say whether something is there."""

_VERSION = {"etag", "generation", "last-modified"}
"""What a cloud says of an object that differs when it is written anew."""


@dataclass(frozen=True, slots=True)
class Object:
    """One object of a cloud."""

    system: Any = field(repr=False)
    path: str = field(repr=False)

    def whole(self) -> bytes:
        """Return all bytes.

        Raises:
            OSError: it cannot be read, or is written at the same time.
        """
        try:
            with self.opened() as file:
                version = _version(file)
                content: bytes = file.read()
            with self.opened() as file:
                same = (version, len(content)) == (_version(file), file.size())
        except Exception:  # noqa: BLE001  whatever it says
            raise OSError("an object of a cloud cannot be read") from None
        if not same:
            raise OSError("an object of a cloud changes while it is read")
        return content

    def opened(self) -> Any:
        """Return a file of pyarrow with random access, one of its own each time.

        Raises:
            OSError: it cannot be opened.
        """
        try:
            return self.system.open_input_file(self.path)
        except Exception:  # noqa: BLE001  whatever it says
            raise OSError("an object of a cloud cannot be opened") from None


def is_cloud(url: str) -> bool:
    """Tell whether the URL is one of a cloud that can be read."""
    return scheme_of(url) in SYSTEMS


def cloud_files(url: str, data: Data) -> tuple[str, dict[str, Object]]:
    """Return what a URL names: an object, all below a folder, or by a pattern.

    The first part is the folder below which the names of folders hold values. Names
    are those of places on this machine: with the same rules for patterns, for what is
    hidden and for what is empty.

    Raises:
        RunFault: DPQL501, nothing is there, it may not be read, or nobody answers.
    """
    try:
        address = address_of(url)
        system, path, info = _in_time(lambda: _contact(address))
        root, paths = _found(system, path, info)
    except Exception:  # noqa: BLE001  whatever it says, it may hold names and keys
        raise no_file(data) from None
    if not paths:
        raise no_file(data)
    return root, {path: Object(system, path) for path in sorted(paths)}


def _contact(address: Address) -> tuple[Any, str, Any]:
    """Return the filesystem, the path there and what the cloud knows of it.

    The last is None for a folder that is named as one: an object may bear its name.
    """
    parts = address.key.rstrip("/").split("/")
    # A library for the web would follow these; no object is reached by them.
    if not address.bucket or {".", ".."} & {address.bucket, *parts}:
        raise ValueError
    system, bucket = system_of(address)
    if glob.has_magic(bucket):
        raise ValueError
    path = f"{bucket}/{address.key}".rstrip("/")
    folder = address.key.endswith("/") and not glob.has_magic(path)
    return system, path, None if folder else system.get_file_info(path)


def _found(system: Any, path: str, info: Any) -> tuple[str, list[str]]:
    """Return the folder below which the names of folders count, and the objects."""
    types = import_module("pyarrow.fs").FileType
    if info is None or info.type == types.Directory:
        below = _below(system, path)
        return path, [name for name, rest in below if not any(map(_hidden, rest))]
    if info.type == types.File:
        return path.rpartition("/")[0], [path]
    parts = path.split("/")
    fixed = next((n for n, part in enumerate(parts) if glob.has_magic(part)), None)
    if fixed is None:
        return path, []
    root, pattern = "/".join(parts[:fixed]), parts[fixed:]
    below = _below(system, root)
    return root, [name for name, rest in below if _named(rest, pattern)]


def _below(system: Any, folder: str) -> Iterable[tuple[str, list[str]]]:
    """Yield the objects below a folder that may hold rows: paths, and their parts."""
    fs = import_module("pyarrow.fs")
    selector = fs.FileSelector(folder, allow_not_found=True, recursive=True)
    for info in system.get_file_info(selector):
        if info.type == fs.FileType.File and may_hold_rows(info.path, info.size):
            yield info.path, info.path[len(folder) + 1 :].split("/")


def _named(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a pattern names an object, or a folder in which it can be seen."""
    # An object is no folder, so it lies at least one step below one.
    own = [*pattern, "*"] if pattern[-1] == "**" else pattern
    return _fits(parts, own) or any(
        _fits(parts[:depth], pattern) and not any(map(_hidden, parts[depth:]))
        for depth in range(len(parts))
    )


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
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


def _hidden(part: str) -> bool:
    return part.startswith(".") or (part.startswith("_") and "=" not in part)


def _version(file: Any) -> dict[str, Any]:
    told = file.metadata().items()
    return {name: value for name, value in told if name.lower() in _VERSION}


def _in_time(task: Callable[[], T]) -> T:
    """Return what the task returns, within the time that a cloud may take.

    Not all libraries of clouds give up; a thread that waits on is left behind.
    """
    answers: SimpleQueue[T | Exception] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(task())
        except Exception as error:  # noqa: BLE001  raised where it is waited for
            answers.put(error)

    Thread(target=run, daemon=True).start()
    try:
        answer = answers.get(timeout=_SECONDS)
    except Empty:
        raise TimeoutError from None
    if isinstance(answer, Exception):
        raise answer
    return answer
