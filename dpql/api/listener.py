"""What a run reports while it goes on: its stages, and what became of its debit."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What a run does, in order; the stage says nothing about the data."""

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


class RunListener:
    """Watches a run; override what you want to hear.

    Whatever a method raises is ignored, so that nobody who watches a run can spoil it.
    Only a `KeyboardInterrupt` and the like still end the run.
    """

    def reserved(self, number: int) -> None:
        """Hear that the ledger holds the debit back, under this number."""

    def entered(self, stage: Stage) -> None:
        """Hear that a stage begins."""

    def progressed(self) -> None:
        """Hear now and then, from any thread, that rows are being read."""

    def ended(self, ending: Ending) -> None:
        """Hear what became of the debit of a run that failed."""


SILENT = RunListener()
"""Does nothing."""


class HarmlessListener(RunListener):
    """Passes everything on to another listener and ignores what that one raises."""

    def __init__(self, listener: RunListener) -> None:
        self._listener = listener

    def reserved(self, number: int) -> None:
        """Pass the number of the reservation on."""
        with contextlib.suppress(Exception):
            self._listener.reserved(number)

    def entered(self, stage: Stage) -> None:
        """Pass the stage on."""
        with contextlib.suppress(Exception):
            self._listener.entered(stage)

    def progressed(self) -> None:
        """Pass the progress on."""
        with contextlib.suppress(Exception):
            self._listener.progressed()

    def ended(self, ending: Ending) -> None:
        """Pass the end of the debit on."""
        with contextlib.suppress(Exception):
            self._listener.ended(ending)
