"""Ledgers that are being made, and what is left of those whose making was killed."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

PART = ".dpql-ledger."
_OLD_PART = ".ledger."
"""How the name of a ledger begins while it is made, and began in dpql 0.1."""

_NAME = re.compile(r"\.dpql-ledger\.[a-z0-9_]{8}(-wal|-shm|-journal)?", re.ASCII)


def drop_first_name(path: Path) -> None:
    """Take away the first name of a ledger whose making was killed at the last step."""
    with suppress(OSError):
        for prefix in (PART, _OLD_PART):
            for part in path.parent.glob(f"{prefix}*"):
                if not part.is_symlink() and part.samefile(path):
                    part.unlink()


def sweep_parts(folder: Path) -> None:
    """Take away the unfinished ledgers of makers that were killed.

    Only for a caller who keeps other makers out of the folder. A part that has a
    second name is a finished ledger.
    """
    with suppress(OSError):
        for part in folder.glob(f"{PART}*"):
            unfinished = _NAME.fullmatch(part.name) and part.lstat().st_nlink == 1
            if unfinished and part.is_file() and not part.is_symlink():
                part.unlink()
