"""One difference between two plans, and how grave it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
