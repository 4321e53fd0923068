"""Words that the help of every command shares."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Return the end of a help text: commands to try, each on a line of its own."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
