"""Who may run a plan and sign it, asked before anything is read or spent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from dpql.model.plan import Plan
from dpql.reports.approval import Approved, refuse_own_approval, verify_approvals
from dpql.reports.keys import Signer
from dpql.reports.report import refuse_signers
from dpql.reports.trust import Trust
from dpql.reports.verify import require_named_signer, signing_line


def require_signers(
    plan: Plan, signers: Sequence[Signer], trust: Trust | None, day: date
) -> None:
    """Refuse keys whose signature nobody would accept, before anything is spent.

    A key that the trust file does not know is left to those who verify.

    Raises:
        VerifyFault: there is no key, or one twice (DPQL615), or a known key has not
            the role, the day or the name (DPQL603, DPQL604, DPQL613).
    """
    refuse_signers(signers)
    lines = [
        signing_line(known, day)
        for signer in signers
        if trust is not None and (known := trust.of(signer.public.fingerprint))
    ]
    if len(lines) == len(signers):
        require_named_signer(plan, tuple(lines))


def permitted(
    plan: Plan,
    signers: Sequence[Signer],
    trust: Trust | None,
    approvals: Sequence[bytes],
    day: date,
    *,
    dataset: str,
    needed: int,
) -> Approved:
    """Return what the reviewers allow; refuse what nobody would believe afterwards."""
    require_signers(plan, signers, trust, day)
    known = trust or Trust(())
    approved = verify_approvals(
        approvals, plan, known, day=day, dataset=dataset, needed=needed
    )
    refuse_own_approval(approved, [signer.public for signer in signers], known)
    return approved
