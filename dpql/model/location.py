"""Locations of data as people write them: a separator may stand before a path or URL.

    semicolon:data/wages.csv

Names of files decide everything else about how they are read.
"""

from __future__ import annotations

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
"""Words before a location -> the separator of its cells."""


def split_separator(location: str) -> tuple[str | None, str]:
    """Return the separator that a location states, if it does, and the rest of it."""
    word, colon, rest = location.partition(":")
    if colon and word in SEPARATORS:
        return SEPARATORS[word], rest
    return None, location
