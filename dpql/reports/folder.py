"""The release folder: written wholly or not at all, mended, and read.

A folder is built under a temporary name and then renamed. Writers in one folder take
turns, so an unfinished folder there is from a writer that was killed, and is deleted.
An existing folder is mended only if it is certainly of this release.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from dpql.durable import alone_in, create, read, replace, sweep, sync_directory
from dpql.errors import VerifyFault
from dpql.model.limits import LARGEST_RELEASE
from dpql.reports.envelope import peek
from dpql.reports.file_names import (
    DICTIONARY_NAME,
    ENVELOPE_NAME,
    HTML_NAME,
    may_be_signed,
)

_UNFINISHED = ".dpql-release."
"""The prefix of the name of an unfinished folder."""


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write a release folder wholly or not at all; mend one of the same release.

    Returns the names of the files that were missing or altered and are now as they
    were signed; nothing for a new folder or a sound one. Files that are not of the
    release stay as they are.

    Raises:
        VerifyFault: the name is taken by something else, or cannot be written
            (DPQL630).
    """
    with _exclusive(folder.parent, contents) as locked:
        if os.path.lexists(folder):
            return _mended(folder, contents, locked=locked)
        _write_new(folder, contents)
        return ()


def write_numbered(
    folder: Path, contents: Mapping[str, bytes]
) -> tuple[Path, tuple[str, ...]]:
    """Write a release folder under a name that is free: ``-2``, ``-3``, … is added.

    Returns the folder and what `write_folder` returns. A name is chosen by taking it,
    so that writers at the same time get different names. A folder of this release that
    has one of the names is mended instead.

    Raises:
        VerifyFault: it cannot be written (DPQL630).
    """
    with _exclusive(folder.parent, contents) as locked:
        for number in itertools.count(1):
            name = folder.name if number == 1 else f"{folder.name}-{number}"
            path = folder.with_name(name)
            if os.path.lexists(path):
                if _is_of_release(path, contents):
                    return path, _mended(path, contents, locked=locked)
                continue
            try:
                _write_new(path, contents)
            except OSError as error:
                # Without locks on directories, another writer may have been faster.
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
                continue
            return path, ()
    raise AssertionError("there is always a next number")


def refuse_unwritable(folder: Path, *, numbered: bool) -> None:
    """Refuse a folder that a new release could not be written to.

    Nothing is left behind. ``numbered`` says that another name would do.

    Raises:
        VerifyFault: the name is taken, or nothing can be written there (DPQL630).
    """
    try:
        taken = os.path.lexists(folder) and (
            folder.is_symlink() or not folder.is_dir() or any(folder.iterdir())
        )
        if taken and not numbered:
            raise FileExistsError(errno.EEXIST, "the name is taken")
        above = folder.parent if numbered else folder
        while not os.path.lexists(above) and above != above.parent:
            above = above.parent
        probe = tempfile.mkdtemp(dir=above, prefix=_UNFINISHED)
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(probe)  # noqa: PTH106  as it was made
    except (OSError, ValueError) as error:
        taken = isinstance(error, FileExistsError)
        raise VerifyFault.of(
            "DPQL630",
            "the release folder is there already, and holds something else"
            if taken
            else "the release folder could not be written",
            hint="name another folder with --out; nothing was read or spent",
        ) from error


@contextlib.contextmanager
def _exclusive(parent: Path, contents: Mapping[str, bytes]) -> Iterator[bool]:
    """Keep other writers out of a folder; return False where it has no locks."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with alone_in(parent) as locked:
            if locked:
                _sweep(parent)
            yield locked
    except OSError as error:
        name = hashlib.sha256(contents.get(ENVELOPE_NAME, b"")).hexdigest()[:16]
        raise VerifyFault.of(
            "DPQL630",
            "the release folder cannot be written: its name is taken, or the disk "
            "refuses",
            hint="what a ledger debited is stored there, and costs nothing more: "
            f"`dpql ledger fetch DATASET {name} --out FOLDER`",
        ) from error


class FolderFiles(Mapping[str, bytes]):
    """The files of a folder that a release may sign, each read when it is asked for.

    A file that cannot be read as a plain file is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> bytes:
        if not may_be_signed(name):
            raise KeyError(name)
        try:
            return read(self._folder / name, limit=LARGEST_RELEASE)[0]
        except OSError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        with contextlib.suppress(OSError):
            names = os.listdir(self._folder)  # noqa: PTH208  names
            yield from sorted(filter(may_be_signed, names))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def read_folder(path: Path) -> tuple[bytes, Mapping[str, bytes] | None]:
    """Return the envelope of a release folder, and its tables and page.

    The path of an envelope has no tables and page: None.

    Raises:
        VerifyFault: there is no envelope to read (DPQL630).
    """
    try:
        if not path.is_dir():
            return read(path, limit=LARGEST_RELEASE)[0], None
        envelope, _ = read(path / ENVELOPE_NAME, limit=LARGEST_RELEASE)
    except OSError:
        raise VerifyFault.of(
            "DPQL630",
            "there is no report to read at that path",
            hint=f"give a release folder, or a {ENVELOPE_NAME}",
        ) from None
    return envelope, FolderFiles(path)


def unsigned_files(path: Path, signed: Collection[str]) -> tuple[str, ...]:
    """Return the names in a folder that are neither the envelope nor signed."""
    if not path.is_dir():
        return ()
    with contextlib.suppress(OSError):
        known = {ENVELOPE_NAME, *signed}
        return tuple(sorted(set(os.listdir(path)) - known))  # noqa: PTH208  names
    return ()


def _write_new(folder: Path, contents: Mapping[str, bytes]) -> None:
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_UNFINISHED))
    try:
        for name, data in contents.items():
            create(unfinished / name, data)
        unfinished.chmod(0o755)
        os.rename(unfinished, folder)  # noqa: PTH104  Path.rename follows no rule of its own
        sync_directory(folder.parent)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(unfinished)


def _mended(
    folder: Path, contents: Mapping[str, bytes], *, locked: bool
) -> tuple[str, ...]:
    if not _is_of_release(folder, contents):
        raise OSError("the name is taken, or the folder holds something else")
    found = _files_in(folder, contents)
    wrong = tuple(name for name in contents if found.get(name) != contents[name])
    for name in contents if locked else ():
        sweep(folder / name)
    for name in wrong:
        replace(folder / name, contents[name])
    return wrong


def _is_of_release(folder: Path, contents: Mapping[str, bytes]) -> bool:
    """Tell whether a folder is certainly of this release.

    Its envelope is of this release; or its page, which names the content of the
    envelope; or it holds nothing but tables of this release.
    """
    if folder.is_symlink() or not folder.is_dir():
        return False
    found = _files_in(folder, contents)
    there = found.get(ENVELOPE_NAME, b"")
    if there == contents[ENVELOPE_NAME]:
        return True
    if found.get(HTML_NAME) == contents[HTML_NAME]:
        # Another signer may have signed the same content: that is another release.
        return not _same_payload(there, contents[ENVELOPE_NAME])
    left = set(os.listdir(folder))  # noqa: PTH208  names
    # Every release of a plan has the same dictionary, and says no more with it.
    tables = set(contents) - {ENVELOPE_NAME, HTML_NAME, DICTIONARY_NAME}
    return left <= tables and all(found.get(name) == contents[name] for name in left)


def _same_payload(one: bytes, other: bytes) -> bool:
    try:
        return peek(one) == peek(other)
    except VerifyFault:
        return False


def _files_in(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return those of some files that a folder holds as plain files."""
    found: dict[str, bytes] = {}
    for name in names:
        with contextlib.suppress(OSError):
            found[name] = read(folder / name, limit=LARGEST_RELEASE)[0]
    return found


def _sweep(parent: Path) -> None:
    """Delete what killed writers have left; the caller keeps other writers out."""
    for path in _unfinished_folders(parent):
        with contextlib.suppress(OSError):
            shutil.rmtree(path)


def _unfinished_folders(parent: Path) -> Iterator[Path]:
    for path in parent.glob(f"{_UNFINISHED}*"):
        if path.is_dir() and not path.is_symlink():
            yield path
