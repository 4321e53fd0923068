"""Files that are there wholly or not at all, whatever happens to the machine.

A file is written under another name in the same directory, synced, and then given its
name; the directory is synced too. No link is ever followed. Callers turn the `OSError`
of a full disk or a missing permission into a fault of their own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_CHUNK = 1 << 20
_WAIT = 60
"""Seconds that a writer waits for another one."""
_PAUSE = 0.02
_PART = re.compile(r"[a-z0-9_]{8}", re.ASCII)
"""What makes the name of an unfinished file unlike any other."""


def create(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a new file; FileExistsError when the name is taken, even by a link."""
    part = _written(path, data, mode)
    try:
        claim(part, path)
    finally:
        part.unlink(missing_ok=True)


def claim(part: Path, path: Path) -> None:
    """Give a finished file its name; FileExistsError when the name is taken."""
    try:
        os.link(part, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links. The name is claimed by an empty file
        # first, so that nobody else's can be overwritten.
        flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC
        os.close(os.open(path, flags, 0o600))
        part.replace(path)
    sync_directory(path.parent)


def replace(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file in place of the one of that name; a link of that name goes away."""
    part = _written(path, data, mode)
    try:
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    sync_directory(path.parent)


def sweep(path: Path) -> None:
    """Take away what killed writers of a file have left beside it.

    Only for a caller who keeps others from writing the file meanwhile.
    """
    with contextlib.suppress(OSError):
        for part in leftovers(path):
            part.unlink(missing_ok=True)


def leftovers(path: Path) -> list[Path]:
    """Return the unfinished files beside a file: left by the killed, or being written.

    Nothing is returned for a directory that cannot be read.
    """
    prefix = _prefix(path)
    try:
        with os.scandir(path.parent) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.name.startswith(prefix)
                and _PART.fullmatch(entry.name, len(prefix))
                and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []


def read(path: Path, *, limit: int) -> tuple[bytes, int]:
    """Return the bytes of a plain file and its mode; OSError for anything else.

    Bytes and mode are those of one open file, so neither can be swapped in between.
    A pipe or a device is refused rather than waited for.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path, flags)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
            raise OSError("not a plain file of moderate size")
        data = bytearray()
        while chunk := os.read(handle, min(_CHUNK, limit + 1 - len(data))):
            data += chunk
        if len(data) > limit:
            raise OSError("not a plain file of moderate size")
        return bytes(data), stat.S_IMODE(status.st_mode)
    finally:
        os.close(handle)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def alone_in(directory: Path) -> Iterator[bool]:
    """Keep other writers that ask the same out of a directory, and wait for them.

    False where the file system has no locks for directories: then nothing may be
    concluded about what others do. The lock goes with the process, however it ends.
    OSError when another writer holds the directory for too long.
    """
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield _locked(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    end = time.monotonic() + _WAIT
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
        except OSError:
            return False
        else:
            return True


def _written(path: Path, data: bytes, mode: int) -> Path:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path))
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return part


def _prefix(path: Path) -> str:
    return f".{path.name[:100]}."
