"""Shows a run on the terminal: its debit, its stages, and how the debit ended."""

from __future__ import annotations

from collections.abc import Callable

from dpql.api.listener import Ending, Fate, RunListener, Stage
from dpql.cli.commands.run.debit_prompt import DebitPrompt
from dpql.cli.ui import console

_ENDINGS = {
    Fate.GIVEN_BACK: "nothing was drawn, nothing is spent",
    Fate.SPENT: "the run failed after its debit, which stays",
    Fate.HELD_BACK: "`dpql ledger recover` ends the run",
}


class TerminalListener(RunListener):
    """Announces the debit, then passes each stage to the progress bar."""

    def __init__(self, debit: DebitPrompt, show_stage: Callable[[Stage], None]) -> None:
        self._debit = debit
        self._show_stage = show_stage

    def reserved(self, number: int) -> None:
        """Show the number of the reservation in the ledger."""
        self._debit.announce()
        console.note(f" reserved     ledger #{number}\n")

    def entered(self, stage: Stage) -> None:
        """Show the stage."""
        self._debit.announce()
        self._show_stage(stage)

    def ended(self, ending: Ending) -> None:
        """Say what became of the debit of a run that failed."""
        why = _ENDINGS[ending.fate]
        console.note(f" {ending.fate:<12} ledger #{ending.entry}   {why}\n")
