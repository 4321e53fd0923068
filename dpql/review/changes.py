"""One difference between two plans, with its weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from dpql.diagnostics import WHOLE, shown
from dpql.model.notation import name_text

_MOST_DIGITS = 1_000

_T = TypeVar("_T")


class Verdict(StrEnum):
    """How the new promise compares with the old one; the gravest comes first."""

    WEAKER = "WEAKER"
    REVIEW = "REVIEW"
    STRONGER = "STRONGER"
    SAME = "SAME"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference: what it concerns, how it reads, what it means.

    ``mark`` is ``!`` where a person must look, ``+`` and ``-`` for whole statistics.
    """

    verdict: Verdict
    subject: str
    text: str
    note: str
    mark: str

    @classmethod
    def of(
        cls, verdict: Verdict, subject: str, text: str, note: str = "", mark: str = ""
    ) -> Change:
        """Make a change; what weakens or needs review is marked."""
        alarm = verdict in (Verdict.WEAKER, Verdict.REVIEW)
        return cls(
            verdict=verdict,
            subject=subject,
            text=text,
            note=note,
            mark=mark or ("!" if alarm else " "),
        )


def contrast(old: _T, new: _T, show: Callable[[_T, int], str], digits: int) -> str:
    """Return `old → new` in ``digits`` digits, or in as many as tell them apart."""
    more = digits
    while more <= _MOST_DIGITS:
        before, after = show(old, more), show(new, more)
        if before != after:
            return f"{before} → {after}"
        more *= 2
    return f"{show(old, digits)} → another, alike in {_MOST_DIGITS} digits"


def whole(text: str) -> str:
    """Return a text as it may be echoed, never cut: two texts must not look alike."""
    return shown(text, limit=WHOLE)


def column_name(name: str) -> str:
    """Return the name of a column as a condition writes it."""
    return whole(name_text(name))
