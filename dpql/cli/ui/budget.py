"""What plans would leave of a budget, beside their review and their difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpql.cli.inputs.options import LEDGER_NAME
from dpql.cli.inputs.project import current_project
from dpql.diagnostics import shown
from dpql.errors import LedgerFault

if TYPE_CHECKING:
    from dpql.ledger import Account
    from dpql.model.plan import Plan
    from dpql.review.diff import Difference
    from dpql.review.explain import Explanation


_OVER = "does not fit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Where the ledger is and what the data are called, as far as somebody said.

    If nobody did, the ledger of the project or of this folder is asked, and passed
    over where it does not know the data.
    """

    location: str | None
    dataset: str | None

    def account(self, plan: Plan) -> Account | None:
        """Return the budget that a plan would be debited from.

        Raises:
            LedgerFault: a ledger that was named is missing or unreadable, or does not
                know the data (7xx).
        """
        from dpql.ledger import open_ledger

        name = self.dataset or plan.spec.data.source
        project = current_project()
        kept = project and project.ledger
        if self.location is not None and (self.dataset or self.location != kept):
            return open_ledger(self.location).account(name)
        usual = kept or LEDGER_NAME
        if "://" not in usual and not Path(usual).is_file():
            return None
        try:
            return open_ledger(usual).account(name)
        except LedgerFault:
            return None

    def beside(self, explanation: Explanation, plan: Plan) -> Explanation:
        """Return the explanation with the ledger's fact after what is spent."""
        account = self.account(plan)
        if account is None:
            return explanation
        from dpql.model.figures import bar, rational

        after = _after(account, plan)
        ends = [rational(x) for x in (account.committed, after) if x is not None]
        words = f"{' → '.join(dict.fromkeys(ends))} of {rational(account.cap)}"
        gauge = _OVER
        if after is None:
            gauge += ": its δ is more than the budget keeps for it"
        elif after <= account.cap:
            gauge = bar(after / account.cap)
        if account.released(plan.digest):
            gauge += "   released already; running it again costs nothing"
        fact = ("ledger", f"{shown(account.dataset)}   spent {words}   {gauge}")
        protects, spends, *others = explanation.facts
        return replace(explanation, facts=(protects, spends, fact, *others))

    def after(self, difference: Difference, old: Plan, new: Plan) -> Difference:
        """Return the difference with what the ledger would hold after either plan."""
        account = self.account(new)
        if account is None:
            return difference
        from dpql.model.figures import rational
        from dpql.review.change import Change, Verdict

        afters = [_after(account, plan) for plan in (old, new)]
        ends = ["too much δ" if one is None else rational(one) for one in afters]
        words = " → ".join(dict.fromkeys(ends)) + f" of {rational(account.cap)}"
        if afters[1] is None or afters[1] > account.cap:
            words += f", {_OVER}"
        noted = tuple(
            replace(change, note=f"{change.note}   ledger after: {words}")
            if change.subject == "budget"
            else change
            for change in difference.changes
        )
        if noted == difference.changes:
            noted = (Change.of(Verdict.SAME, "ledger", f"after: {words}"), *noted)
        return replace(difference, changes=noted)

    def document(self, plan: Plan) -> dict[str, Any] | None:
        """Return what the ledger holds and would hold, for machines."""
        account = self.account(plan)
        if account is None:
            return None
        after = _after(account, plan)
        return {
            "dataset": account.dataset,
            "cap": str(account.cap),
            "before": str(account.committed),
            "after": None if after is None else str(after),
            "fits": after is not None and after <= account.cap,
        }


def _after(account: Account, plan: Plan) -> Fraction | None:
    """Return what would be spent or held back, None if no cap would hold it.

    A release is paid for once.
    """
    from dpql.ledger.costs import after

    return after(plan, account)
