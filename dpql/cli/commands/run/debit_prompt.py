"""The debit of a run as a person sees it: the question, then the announcement."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from dpql.cli.ui import console
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.ledger import Account
    from dpql.model.plan import Plan


@dataclass(slots=True)
class DebitPrompt:
    """A debit in words. ``announced`` is True once a person has seen them."""

    text: str
    announced: bool = False

    @classmethod
    def of(cls, plan: Plan, account: Account | None) -> DebitPrompt:
        """Return the prompt for the debit that a run of the plan needs."""
        from dpql.model.figures import decimal, rational

        spent = rational(plan.spent)
        if account is None:
            return cls(f"ε = {spent} from no ledger at all, and no run is counted")
        from dpql.ledger.costs import cost_of

        cost = cost_of(plan, account)
        before = account.committed
        after = account.promise.amounts_to(account.sums.plus(cost))
        assert after is not None, "the run was not objected to"
        if cost.epsilon is None or cost.delta:
            spent = f"{spent}, δ = {decimal(plan.delta_spent, 3, up=True)}"
        return cls(
            f"ε = {spent} from {shown(account.dataset)} "
            f"({rational(before)} → {rational(after)} of {rational(account.cap)})"
        )

    def confirm(self, *, yes: bool) -> bool:
        """Ask whether to debit, unless ``yes`` has answered.

        Raises:
            UsageError: there is nobody to ask.
        """
        if yes:
            return True
        if not console.is_terminal(sys.stdin):
            raise click.UsageError(f"this would debit {self.text}: add --yes to agree")
        self.announced = True
        return console.confirm(f" debit        {self.text}   proceed?")

    def announce(self) -> None:
        """Say that the debit is made, once; nothing is said before it is made."""
        if not self.announced:
            console.note(f" debit        {self.text}\n")
        self.announced = True
