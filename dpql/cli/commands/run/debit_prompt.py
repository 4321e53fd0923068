"""What a person is asked and told about a debit, from the question to its end."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dpql.cli.ui import console
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.api.listener import Ending, Stage
    from dpql.cli.ui.progress import Watch
    from dpql.ledger import Account
    from dpql.model.plan import Plan

_ENDINGS = {
    "given back": "nothing was drawn, nothing is spent",
    "spent": "the run failed after its debit, which stays",
    "held back": "`dpql ledger recover` ends the run",
}


@dataclass(slots=True)
class Debit:
    """The words for a debit; nothing is said of one before it is made."""

    words: str
    said: bool = False

    @classmethod
    def of(cls, plan: Plan, account: Account | None) -> Debit:
        """Return the debit that a run of the plan would be."""
        from dpql.model.figures import rational

        spent = rational(plan.spent)
        if account is None:
            return cls(f"ε = {spent} from no ledger at all, and no run is counted")
        before, after = account.committed, account.committed + plan.spent
        return cls(
            f"ε = {spent} from {shown(account.dataset)} "
            f"({rational(before)} → {rational(after)} of {rational(account.cap)})"
        )

    def agreed(self, *, yes: bool) -> bool:
        """Ask, unless that was answered before.

        Raises:
            UsageError: there is nobody to ask.
        """
        if yes:
            return True
        if not console.is_terminal(sys.stdin):
            raise click.UsageError(
                f"this would debit {self.words}: --yes says you mean it"
            )
        self.said = True
        return console.agreed(f" debit        {self.words}   proceed?")

    def begun(self) -> None:
        """Say that the debit is made, once."""
        if not self.said:
            console.note(f" debit        {self.words}\n")
        self.said = True

    def before(self, watch: Watch) -> Watch:
        """Return the watch, which first hears that the debit is made."""

        def tell(stage: Stage) -> None:
            self.begun()
            watch(stage)

        return tell

    def reserved(self, number: int) -> None:
        """Say under which number the ledger has it."""
        self.begun()
        console.note(f" reserved     ledger #{number}\n")

    def ended(self, ending: Ending) -> None:
        """Say what became of the debit of a run that failed."""
        why = _ENDINGS[ending.fate]
        console.note(f" {ending.fate:<12} ledger #{ending.entry}   {why}\n")
