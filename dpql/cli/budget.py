"""What a plan would leave of a budget, as one more fact of its review."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.model.plan import Plan
    from dpql.planner.explain import Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Where the ledger is, if there is one to ask, and what the data are called."""

    location: str | None
    dataset: str | None

    def beside(self, explanation: Explanation, plan: Plan) -> Explanation:
        """Return the explanation with the ledger's fact after what is spent.

        Raises:
            LedgerFault: the ledger is missing, or does not know the data (7xx).
        """
        if self.location is None:
            return explanation
        from dpql.ledger import open_ledger
        from dpql.planner.figures import bar, rational

        name = self.dataset or plan.spec.data.source
        account = open_ledger(self.location).account(name)
        before, after = account.committed, account.committed + plan.spent
        words = f"{rational(before)} → {rational(after)} of {rational(account.cap)}"
        gauge = bar(after / account.cap) if after <= account.cap else "does not fit"
        fact = ("ledger", f"{shown(name)}   spent {words}   {gauge}")
        protects, spends, *others = explanation.facts
        return replace(explanation, facts=(protects, spends, fact, *others))
