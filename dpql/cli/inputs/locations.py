"""Where files and data lie that a project file names, seen from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

_FILE_SCHEMES = ("duckdb:",)
"""Schemes before the name of a file."""


def key_beside(folder: Path, name: str) -> str:
    """Return what `--key` takes for a key that is named from a folder."""
    if os.sep not in name:
        return _joined(folder, f"keys{os.sep}{name}")
    path = _joined(folder, name)
    # A bare name would be looked for in the folder of keys.
    return path if os.sep in path else f".{os.sep}{path}"


def beside(folder: Path, location: str) -> str:
    """Return a location of data or of a ledger that is named from a folder.

    URLs stay as they are; so do tables of a server.
    """
    for scheme in _FILE_SCHEMES:
        if location.startswith(scheme):
            rest = location.removeprefix(scheme)
            file, mark, table = rest.rpartition("#")
            return f"{scheme}{_joined(folder, file)}{mark}{table}"
    if "://" in location or location.startswith("spark:"):
        return location
    return _joined(folder, location)


def _joined(folder: Path, name: str) -> str:
    joined = os.path.join(folder, name)  # noqa: PTH118  a pattern is no path
    return joined.removeprefix(f".{os.sep}")
