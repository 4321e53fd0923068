"""A reviewer's signature on a plan: on which data, how many runs, until which day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from dpql.diagnostics import shown
from dpql.errors import VerifyFault
from dpql.model.plan import Plan
from dpql.reports.envelope import Opened, open_envelope, peek, seal
from dpql.reports.file_names import PLAN_NAME
from dpql.reports.keys import PublicKey, Signer
from dpql.reports.predicate import (
    APPROVAL,
    FIRST_FORMAT,
    FORMAT,
    ApprovalPredicate,
)
from dpql.reports.statement import (
    read_day,
    read_statement,
    write_content,
    write_statement,
)
from dpql.reports.trust import PLAN_ROLE, Trust, TrustedKey

_MOST_RUNS = 10**6
_DATASET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """What the approvals of a plan allow together.

    ``runs`` is the least that any of the reviewers allows, None when there is none; a
    reviewer who signed several allows what the most generous of them says. ``dataset``
    is the one that they all name, None when there is none.
    """

    envelopes: tuple[bytes, ...]
    reviewers: tuple[TrustedKey, ...]
    runs: int | None
    dataset: str | None


def approve(
    plan: Plan,
    signer: Signer,
    *,
    dataset: str | None = None,
    runs: int = 1,
    until: date | None = None,
) -> bytes:
    """Return the envelope in which a reviewer allows a plan to be run on a dataset.

    ``dataset`` is the owner's name of the data; that of the plan's source if absent.

    Raises:
        VerifyFault: the number of runs is out of range (DPQL611), or the dataset has
            a name that no ledger can have (DPQL617).
    """
    name = plan.spec.data.source if dataset is None else dataset
    if not _DATASET.fullmatch(name):
        raise VerifyFault.of(
            "DPQL617",
            f"`{shown(name)}` cannot name a dataset, so nobody can approve it",
            hint="name the dataset as its owner does in the ledger: --dataset NAME",
        )
    if not 1 <= runs <= _MOST_RUNS:
        raise _uncovered("an approval is for at least one run and at most a million")
    predicate = ApprovalPredicate(
        format=FORMAT,
        title=plan.spec.release,
        dataset=name,
        epsilon=plan.spent,
        plan_digest=plan.digest,
        runs=runs,
        until=None if until is None else until.isoformat(),
    )
    content = write_content(APPROVAL, ApprovalPredicate, predicate)
    payload = write_statement(content, {PLAN_NAME: plan.digest})
    return seal(payload, [signer])


def verify_approvals(
    envelopes: Sequence[bytes],
    plan: Plan,
    trust: Trust,
    *,
    day: date,
    dataset: str | None,
    needed: int = 0,
    format_: int = FORMAT,
) -> Approved:
    """Return what the approvals allow on a day; refuse them all if one does not hold.

    ``dataset`` is that of the run; None where it is not known, and then the approvals
    must name the same one. ``format_`` is that of the report: approvals of dpql 0.1
    name no dataset, and hold only inside its own reports.

    Raises:
        VerifyFault: one is not trusted (DPQL601 to DPQL606), is for another plan or
            too old, fewer than ``needed`` reviewers signed (DPQL611), or one is for
            another dataset (DPQL617).
    """
    reviewers: dict[str, TrustedKey] = {}
    named = dataset
    runs: dict[str, int] = {}
    for envelope in envelopes:
        opened = _opened(envelope, trust)
        statement = read_statement(opened.payload, (APPROVAL,), ApprovalPredicate)
        predicate = statement.predicate
        assert isinstance(predicate, ApprovalPredicate)
        _require_cover(predicate, statement.subjects, plan, day)
        _require_dataset(predicate, named, format_)
        named = predicate.dataset
        for lines in opened.lines:
            line = valid_line(lines, day)
            key = line.key.fingerprint
            reviewers[key] = line
            runs[key] = max(predicate.runs, runs.get(key, 0))
    holders = _Holders(trust)
    people = sum(holders.add(line.key) for line in reviewers.values())
    if people < needed:
        on = "" if dataset is None else f" --dataset {shown(dataset)}"
        raise VerifyFault.of(
            "DPQL611",
            f"the plan has {people} of {needed} approvals by different reviewers",
            hint=f"`dpql approve PLAN --key REVIEWER{on}` makes one",
        )
    return Approved(
        envelopes=tuple(envelopes),
        reviewers=tuple(reviewers.values()),
        runs=min(runs.values()) if runs else None,
        dataset=named if reviewers and format_ != FIRST_FORMAT else None,
    )


def dataset_of(envelope: bytes) -> str | None:
    """Return the dataset that an approval names, unverified; None if it has none."""
    try:
        statement = read_statement(peek(envelope), (APPROVAL,), ApprovalPredicate)
    except VerifyFault:
        return None
    return statement.predicate.dataset or None


def refuse_own_approval(
    approved: Approved, signers: Iterable[PublicKey], trust: Trust
) -> None:
    """Refuse a release that was approved by one of those who sign it.

    Keys are compared, and the names of their holders in the trust file: a second key
    does not make a second person.

    Raises:
        VerifyFault: a signer and a reviewer are the same (DPQL616).
    """
    signing = _Holders(trust)
    for key in signers:
        signing.add(key)
    for reviewer in approved.reviewers:
        if signing.know(reviewer.key):
            raise VerifyFault.of(
                "DPQL616",
                f"{reviewer.principal} approved the plan and signs the release",
                hint="somebody other than the signer has to review the plan",
            )


def valid_line(lines: Sequence[TrustedKey], day: date) -> TrustedKey:
    """Return the line of the trust file that makes a key valid on a day.

    Raises:
        VerifyFault: the key was not valid on that day (DPQL604).
    """
    for line in lines:
        if line.valid(day):
            return line
    raise VerifyFault.of(
        "DPQL604",
        f"the key of {lines[0].principal} was not valid on {day}",
        hint="the trust file says from when and until when a key is valid",
    )


class _Holders:
    """The holders of keys, as far as a trust file can tell them apart."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self._known: set[str] = set()

    def know(self, key: PublicKey) -> bool:
        """Tell whether a holder of this key was added."""
        return not self._known.isdisjoint(self._names(key))

    def add(self, key: PublicKey) -> bool:
        """Add the holder of a key; tell whether it is somebody new."""
        new = not self.know(key)
        self._known |= self._names(key)
        return new

    def _names(self, key: PublicKey) -> set[str]:
        lines = self._trust.of(key.fingerprint)
        return {key.fingerprint, *(name for one in lines for name in one.principals)}


def _opened(envelope: bytes, trust: Trust) -> Opened:
    try:
        return open_envelope(envelope, trust, role=PLAN_ROLE)
    except VerifyFault as fault:
        (why,) = fault.diagnostics
        words = f"an approval of the plan cannot be used: {why.message}"
        raise VerifyFault.of(why.code, words, hint=why.hint) from None


def _require_cover(
    predicate: ApprovalPredicate,
    subjects: tuple[tuple[str, str], ...],
    plan: Plan,
    day: date,
) -> None:
    same = (
        predicate.plan_digest == plan.digest
        and subjects == ((PLAN_NAME, plan.digest),)
        and predicate.title == plan.spec.release
        and predicate.epsilon == plan.spent
    )
    if not same:
        raise _uncovered("an approval is for another plan")
    if not 1 <= predicate.runs <= _MOST_RUNS:
        raise _uncovered("an approval is for no run, or too many")
    if predicate.until is not None and day > read_day(predicate.until):
        raise _uncovered(f"an approval ended on {predicate.until}")


def _require_dataset(
    predicate: ApprovalPredicate, wanted: str | None, format_: int
) -> None:
    """Refuse an approval that is not for the dataset of the run."""
    if predicate.format != format_:
        raise VerifyFault.of(
            "DPQL617",
            "an approval of dpql 0.1 names no dataset, so it allows no new run"
            if predicate.format == FIRST_FORMAT
            else "an approval is newer than the report that holds it",
            hint="delete it, and let the reviewer approve the plan again: "
            f"`dpql approve PLAN --key REVIEWER --dataset {_name(wanted)}`",
        )
    if format_ == FIRST_FORMAT:
        return
    if wanted not in (None, predicate.dataset) or not _DATASET.fullmatch(
        predicate.dataset
    ):
        raise VerifyFault.of(
            "DPQL617",
            f"an approval is for the dataset `{shown(predicate.dataset)}`, not for "
            f"`{_name(wanted)}`",
            hint="a reviewer approves the plan for each dataset that it is to run on: "
            f"`dpql approve PLAN --key REVIEWER --dataset {_name(wanted)}`",
        )


def _name(dataset: str | None) -> str:
    return "NAME" if dataset is None else shown(dataset)


def _uncovered(why: str) -> VerifyFault:
    return VerifyFault.of(
        "DPQL611", why, hint="`dpql approve PLAN --key REVIEWER` makes a new one"
    )
