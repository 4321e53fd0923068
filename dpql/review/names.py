"""Names and texts of a spec as a review echoes them: visible, and never cut."""

from __future__ import annotations

from dpql.diagnostics import WHOLE, shown
from dpql.model.notation import name_text


def whole(text: str) -> str:
    """Return a text as it may be echoed, never cut: two texts must not look alike."""
    return shown(text, limit=WHOLE)


def column_name(name: str) -> str:
    """Return the name of a column as a condition writes it."""
    return whole(name_text(name))
