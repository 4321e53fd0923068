"""What the manual says of one code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What the manual says of a code: title, cause, a wrong and a right example."""

    title: str
    cause: str
    wrong: str = ""
    right: str = ""
