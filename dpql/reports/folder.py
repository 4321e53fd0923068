"""The release folder: written wholly or not at all, mended, and read.

A folder is built under another name and then given its own. Writers of one place take
turns, so whatever an earlier writer left unfinished there belongs to nobody and goes.
A folder that is there already is mended only if it is known to be of this release.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from dpql.durable import alone_in, create, read, replace, sweep, sync_directory
from dpql.errors import VerifyFault
from dpql.reports.envelope import LIMIT
from dpql.reports.names import ENVELOPE_NAME, FOLDER, HTML_NAME, TABLES

_PART = ".dpql-release."
"""How the name of an unfinished folder begins."""


def write_folder(folder: Path, contents: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write a release folder wholly or not at all; mend one of the same release.

    Returns the names of the files that were missing or altered and are now as they
    were signed; nothing for a new folder or a sound one. Files that are not of the
    release stay as they are.

    Raises:
        VerifyFault: the name is taken by something else, or cannot be written
            (DPQL630).
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(folder.parent) as locked:
            if locked:
                _sweep(folder.parent)
            if folder.is_symlink() or folder.exists():
                return _mended(folder, contents, locked=locked)
            _write_new(folder, contents)
    except OSError as error:
        raise VerifyFault.of(
            "DPQL630",
            "the release folder cannot be written: its name is taken, or the disk "
            "refuses",
            hint="nothing is lost: run the same plan again with another --out",
        ) from error
    return ()


def read_folder(place: Path) -> tuple[bytes, dict[str, bytes] | None, bytes | None]:
    """Return envelope, tables and page of a release folder, or of an envelope alone.

    Raises:
        VerifyFault: there is no envelope to read (DPQL630).
    """
    try:
        if not place.is_dir():
            return read(place, limit=LIMIT)[0], None, None
        envelope, _ = read(place / ENVELOPE_NAME, limit=LIMIT)
    except OSError:
        raise VerifyFault.of(
            "DPQL630",
            "there is no report to read at that place",
            hint=f"give a release folder, or a {ENVELOPE_NAME}",
        ) from None
    found = _found(place)
    page = found.pop(HTML_NAME, None)
    return envelope, {name: found[name] for name in TABLES if name in found}, page


def strangers_in(place: Path) -> tuple[str, ...]:
    """Return the names in a release folder that are none of the release's files."""
    if not place.is_dir():
        return ()
    with contextlib.suppress(OSError):
        return tuple(sorted(set(os.listdir(place)) - set(FOLDER)))  # noqa: PTH208  names
    return ()


def _write_new(folder: Path, contents: Mapping[str, bytes]) -> None:
    part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_PART))
    try:
        for name, data in contents.items():
            create(part / name, data)
        part.chmod(0o755)
        os.rename(part, folder)  # noqa: PTH104  Path.rename follows no rule of its own
        sync_directory(folder.parent)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(part)


def _mended(
    folder: Path, contents: Mapping[str, bytes], *, locked: bool
) -> tuple[str, ...]:
    if folder.is_symlink() or not folder.is_dir():
        raise OSError("the name is taken")
    found = _found(folder)
    if not _is_of(folder, found, contents):
        raise OSError("the folder holds something else")
    wrong = tuple(name for name in contents if found.get(name) != contents[name])
    for name in contents if locked else ():
        sweep(folder / name)
    for name in wrong:
        replace(folder / name, contents[name])
    return wrong


def _is_of(
    folder: Path, found: Mapping[str, bytes], contents: Mapping[str, bytes]
) -> bool:
    """Tell whether a folder is of this release beyond doubt.

    Its envelope is; or its page, which names the envelope; or it has nothing but
    tables of this release, as after the loss of the other two.
    """
    for name in (ENVELOPE_NAME, HTML_NAME):
        if found.get(name) == contents[name]:
            return True
    left = set(os.listdir(folder))  # noqa: PTH208  names
    return left <= set(TABLES) and all(
        found.get(name) == contents[name] for name in left
    )


def _found(place: Path) -> dict[str, bytes]:
    """Return the files of a release that are there as plain files."""
    found: dict[str, bytes] = {}
    for name in FOLDER:
        with contextlib.suppress(OSError):
            found[name] = read(place / name, limit=LIMIT)[0]
    return found


def _sweep(parent: Path) -> None:
    """Take away what writers that were killed have left; nobody else is writing."""
    for part in _parts(parent):
        with contextlib.suppress(OSError):
            shutil.rmtree(part)


def _parts(parent: Path) -> Iterator[Path]:
    for path in parent.glob(f"{_PART}*"):
        if path.is_dir() and not path.is_symlink():
            yield path
