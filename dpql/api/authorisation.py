"""Whether this plan may be run and these keys may sign it, before anything is read."""

from __future__ import annotations

from dpql.api.run_request import RunRequest
from dpql.reports.approval import Approved, refuse_own_approval, verify_approvals
from dpql.reports.report import refuse_signers
from dpql.reports.trust import Trust
from dpql.reports.verify import require_named_signer, signing_line


def authorise(request: RunRequest, *, needed: int) -> Approved:
    """Return what the reviewers allow; refuse what nobody would accept afterwards.

    Raises:
        VerifyFault: a key cannot sign the release (see `require_signers`), fewer than
            ``needed`` reviewers approve the plan (DPQL611), or one of them signs the
            release as well (DPQL616).
    """
    require_signers(request)
    known = request.trust or Trust(())
    approved = verify_approvals(
        tuple(dict.fromkeys(request.approvals)),
        request.plan,
        known,
        day=request.day,
        dataset=request.dataset,
        needed=needed,
    )
    refuse_own_approval(approved, [one.public for one in request.signers], known)
    return approved


def require_signers(request: RunRequest) -> None:
    """Refuse keys whose signature nobody would accept.

    A key that the trust file does not know is left to those who verify.

    Raises:
        VerifyFault: there is no key, or one twice (DPQL615), or a known key has not
            the role, the day or the name (DPQL603, DPQL604, DPQL613).
    """
    signers, trust = request.signers, request.trust
    refuse_signers(signers)
    lines = [
        signing_line(known, request.day)
        for signer in signers
        if trust is not None and (known := trust.of(signer.public.fingerprint))
    ]
    if len(lines) == len(signers):
        require_named_signer(request.plan, tuple(lines))
