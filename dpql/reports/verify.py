"""Verification: believe only what can be derived again.

Signatures are checked first, on the exact bytes; only then is anything parsed. Then the
whole report is rebuilt from its plan, its noisy numbers, its date and the ledger's
record, and compared. What cannot be checked is listed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from dpql.diagnostics import shown
from dpql.errors import DpqlError, VerifyFault
from dpql.model.codec import layout
from dpql.model.plan import Plan
from dpql.model.release import Release
from dpql.reports.approval import (
    Approved,
    refuse_own_approval,
    valid_line,
    verify_approvals,
)
from dpql.reports.checks import (
    CELLS,
    FILES_AWAY,
    LEDGER_AWAY,
    PROSE,
    UNCHECKED,
    Check,
    approval_check,
    arithmetic_check,
    data_check,
    fault_check,
    files_check,
    ledger_check,
    signature_check,
)
from dpql.reports.envelope import in_role, open_envelope
from dpql.reports.file_names import ENVELOPE_NAME
from dpql.reports.predicate import (
    FIRST_FORMAT,
    RELEASE,
    LedgerRecord,
    ReportPredicate,
)
from dpql.reports.predicate_builder import predicate_of
from dpql.reports.recompute import (
    mismatch,
    recompute,
    require_plausible,
    with_prose_of,
)
from dpql.reports.statement import Statement, read_day, read_statement
from dpql.reports.tables import texts_of
from dpql.reports.trust import RELEASE_ROLE, Trust, TrustedKey


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFacts:
    """What a ledger says about the record in a report.

    ``holds``: the entry is in the chain with that digest. ``agrees``: it is a draw of
    this plan, with that cap and these amounts, for the unit that the owner protects,
    on data that were bound, alone or shared, if the report says so.
    ``sealed``: the number of the entry that names this envelope. ``ordinal``: which
    run of the plan it was. ``approvals``: how many the owner asks for.
    """

    holds: bool
    agrees: bool
    sealed: int | None
    ordinal: int
    approvals: int


_NAMED = frozenset({"title", "purpose", "guarantee", "statistics", "caveats"})
"""Members that a fault names."""

Chain = Callable[[LedgerRecord, Plan, str], ChainFacts]
"""What a ledger says of a record, a plan and the digest of an envelope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a report vouches for, who signed it, what was checked and what was not.

    ``digest`` is the sha256 of the envelope, ``content`` that of the predicate.
    """

    release: Release
    predicate: ReportPredicate
    digest: str
    content: str
    day: date
    signers: tuple[TrustedKey, ...]
    approved: Approved
    checks: tuple[Check, ...]
    unchecked: tuple[str, ...]


def verify(
    envelope: bytes,
    trust: Trust,
    *,
    audit: Callable[[Plan], None],
    files: Mapping[str, bytes] | None = None,
    plan: Plan | None = None,
    chain: Chain | None = None,
    threshold: int = 1,
) -> Verified:
    """Return what a report vouches for; refuse one that does not hold.

    ``audit`` refuses a plan that is not what its spec compiles to. ``files`` are the
    tables and the page that came with the report, ``plan`` the plan that was expected.
    With ``chain``, a report that the ledger does not know is refused.

    Raises:
        VerifyFault: the report is not to be believed (6xx).
    """
    opened = open_envelope(envelope, trust, role=RELEASE_ROLE)
    statement = read_statement(opened.payload, (RELEASE,), ReportPredicate)
    predicate = statement.predicate
    assert isinstance(predicate, ReportPredicate)
    day = read_day(predicate.date)
    signers = tuple(valid_line(lines, day) for lines in opened.lines)
    _require_signers(signers, predicate.plan, threshold)
    _require_plan(predicate, audit, plan)
    release = _require_derived(predicate, day)
    _require_table(statement, release)
    digest = hashlib.sha256(envelope).hexdigest()
    envelopes = [text.encode() for text in predicate.approvals]
    facts = _require_ledger(predicate, chain, digest)
    needed = 0 if facts is None else facts.approvals
    record = predicate.ledger
    approved = verify_approvals(
        envelopes,
        predicate.plan,
        trust,
        day=day,
        dataset=None if record is None else record.dataset,
        needed=needed,
        format_=predicate.format,
    )
    _require_runs(approved, facts)
    refuse_own_approval(approved, [signer.key for signer in signers], trust)
    checks = [
        signature_check(signers),
        *_file_checks(statement, files),
        approval_check(approved, predicate),
        arithmetic_check(release),
        ledger_check(predicate, facts.sealed if facts else None),
        data_check(predicate),
        fault_check(release),
    ]
    unchecked = [*UNCHECKED, FILES_AWAY if files is None else CELLS]
    if predicate.format == FIRST_FORMAT:
        unchecked.append(PROSE)
    if record is not None and facts is None:
        unchecked.append(LEDGER_AWAY)
    return Verified(
        release=release,
        predicate=predicate,
        digest=digest,
        content=statement.content,
        day=day,
        signers=signers,
        approved=approved,
        checks=tuple(check for check in checks if check is not None),
        unchecked=tuple(unchecked),
    )


def _require_signers(
    signers: tuple[TrustedKey, ...], plan: Plan, threshold: int
) -> None:
    if len({signer.key.fingerprint for signer in signers}) < threshold:
        raise VerifyFault.of(
            "DPQL615", f"fewer than {threshold} different keys signed the report"
        )
    require_named_signer(plan, signers)


def require_named_signer(plan: Plan, signers: tuple[TrustedKey, ...]) -> None:
    """Refuse signers of whom none is the one that the spec names (DPQL613)."""
    named = plan.spec.signer
    if named is not None and not any(
        named in (name, name.partition("@")[0])
        for signer in signers
        for name in signer.principals
    ):
        raise VerifyFault.of(
            "DPQL613",
            f"the plan is to be signed by `{shown(named)}`, not by "
            f"{signers[0].principal}",
            hint="the spec names the signer under `report`",
        )


def signing_line(lines: tuple[TrustedKey, ...], day: date) -> TrustedKey:
    """Return the line of the trust file by which a key may sign on a day.

    Raises:
        VerifyFault: it has another role (DPQL603) or is not valid (DPQL604).
    """
    allowed = in_role(lines, RELEASE_ROLE)
    return valid_line(allowed, day)


def _require_plan(
    predicate: ReportPredicate, audit: Callable[[Plan], None], expected: Plan | None
) -> None:
    found = predicate.plan
    if predicate.plan_digest != found.digest:
        raise mismatch("the digest of the plan")
    if predicate.format != found.version:
        # A report is as old as its plan.
        raise mismatch("the format of the plan")
    try:
        audit(found)
    except DpqlError as error:
        raise VerifyFault.of(
            "DPQL607",
            f"the plan inside the report is refused: {error.diagnostics[0].message}",
            hint="the plan was altered, or made by another version of dpql",
        ) from None
    if expected is not None and expected.digest != found.digest:
        raise VerifyFault.of(
            "DPQL614",
            f"the report is on plan {found.digest[:8]}, not {expected.digest[:8]}",
        )


def _require_derived(predicate: ReportPredicate, day: date) -> Release:
    require_plausible(predicate)
    release = recompute(predicate)
    derived = predicate_of(
        release,
        day=day,
        ledger=predicate.ledger,
        approvals=predicate.approvals,
        implementation=predicate.implementation,
        format_=predicate.format,
    )
    if predicate.format == FIRST_FORMAT:
        derived = with_prose_of(predicate, derived)
    for name, _ in layout(ReportPredicate):
        if getattr(derived, name) != getattr(predicate, name):
            raise mismatch(f"`{name}`" if name in _NAMED else "a member")
    return release


def _require_table(statement: Statement, release: Release) -> None:
    """Refuse a report whose signed csv has other values, whatever file came with it."""
    signed = dict(statement.subjects)
    for name, written in texts_of(release).items():
        if signed[name] != hashlib.sha256(written).hexdigest():
            raise mismatch(f"the digest of {name}")


def _require_ledger(
    predicate: ReportPredicate,
    chain: Chain | None,
    digest: str,
) -> ChainFacts | None:
    record = predicate.ledger
    if chain is None:
        return None
    if record is None:
        raise VerifyFault.of(
            "DPQL612",
            "the report was made without a ledger, so no ledger can confirm it",
            hint="verify it without --ledger, and know that nothing was debited",
        )
    facts = chain(record, predicate.plan, digest)
    problem = (
        f"does not hold entry {record.seq} as the report states it"
        if not facts.holds
        else "states another unit, other amounts or another sharing for that entry"
        if not facts.agrees
        else "names another report for that run, or none"
        if facts.sealed is None
        else None
    )
    if problem is not None:
        raise VerifyFault.of(
            "DPQL612",
            f"the ledger {problem}",
            hint="the report or the ledger is not the published one, or is older",
        )
    return facts


def _require_runs(approved: Approved, facts: ChainFacts | None) -> None:
    if facts and approved.runs is not None and facts.ordinal > approved.runs:
        raise VerifyFault.of(
            "DPQL611",
            f"it is run {facts.ordinal} of its plan, and {approved.runs} were approved",
        )


def _file_checks(
    statement: Statement, files: Mapping[str, bytes] | None
) -> list[Check]:
    if files is None:
        return []
    names = []
    for name, digest in statement.subjects:
        data = files.get(name)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            raise VerifyFault.of(
                "DPQL610",
                f"{name} is missing or not the file that was signed",
                hint=f"take the values from {ENVELOPE_NAME}: `dpql show` prints them",
            )
        names.append(name)
    return [files_check(names)]
