"""The stages of a run and the end of its debit, for whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What a run does, in order; which one it is tells nothing of the data."""

    READING = "reading"
    DRAWING = "drawing"
    SEALING = "sealing"
    WRITING = "writing"


class Fate(StrEnum):
    """What becomes of the debit of a run that failed."""

    GIVEN_BACK = "given back"
    SPENT = "spent"
    HELD_BACK = "held back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The fate of a debit, and the number of the ledger's entry that decided it."""

    fate: Fate
    entry: int
