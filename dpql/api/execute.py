"""One run of a plan, in the order that lets nothing leave without its debit.

    approvals verified -> RESERVED, durable -> rows read and added up -> DRAWING,
    durable -> noise -> report signed and stored with RELEASED -> files -> the caller

The machine may stop at any point. Before DRAWING nothing was drawn; after it the
epsilon is spent; what is stored is what is released, and running the plan again
returns it at no cost.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from dpql.api.stages import Stage
from dpql.api.versions import stated_versions
from dpql.curator import run
from dpql.errors import DpqlError, LedgerFault, RunFault, VerifyFault
from dpql.ledger import Head, Ledger, Receipt, Reservation, Sealed
from dpql.model.plan import Plan
from dpql.model.release import Release
from dpql.planner import audit
from dpql.reports.approval import verify_approvals
from dpql.reports.build import ENVELOPE_NAME
from dpql.reports.envelope import open_envelope, peek
from dpql.reports.keys import Signer
from dpql.reports.predicate import RELEASE, LedgerRecord, ReportPredicate
from dpql.reports.report import Report, read_folder, sign
from dpql.reports.statement import read_statement
from dpql.reports.trust import RELEASE_ROLE, Trust, TrustedKey
from dpql.reports.verify import require_named_signer, signing_line
from dpql.reports.view import read_ledger_record

_HEADER_FAULTS = frozenset(f"DPQL50{digit}" for digit in range(8))
"""Refusals that say nothing about rows but what is public; they cost nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What a run came to.

    ``fresh`` is False when the report is one that was stored by an earlier run of the
    same plan. ``entries`` are the ledger's numbers of the reservation and of the seal,
    None without a ledger.
    """

    report: Report
    fresh: bool
    entries: tuple[int, int] | None
    release: Release | None = field(repr=False)


def execute(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    ledger: Ledger | None,
    dataset: str,
    signers: Sequence[Signer],
    day: date,
    trust: Trust | None = None,
    approvals: Sequence[bytes] = (),
    folder: Path | None = None,
    again: bool = False,
    engine: str = "polars",
    progress: Callable[[], None] | None = None,
    reserved: Callable[[int], None] | None = None,
    stage: Callable[[Stage], None] = lambda _: None,
) -> Executed:
    """Run a plan on data once, debit it, sign it, store it and write its folder.

    ``dataset`` is the owner's name of the data, whatever the plan calls its source.
    ``trust`` says whose approvals count. ``folder`` is where the release is written;
    releases beside it that we signed must be known to the ledger. ``reserved`` is told
    the number of the reservation, ``stage`` which stage begins. Without a ledger
    nothing is debited, and the report says so.

    Raises:
        PlanFault: the plan is not what its spec compiles to (4xx).
        LedgerFault: the budget does not allow it (7xx).
        VerifyFault: approvals are missing, or the folder cannot be written (6xx).
        RunFault: the data do not fit the plan (5xx).
    """
    # A plan that was not read from a file has been audited by nobody.
    audit(plan)
    if ledger is None:
        require_signers(plan, signers, trust, day)
        verify_approvals(approvals, plan, trust or Trust(()), day=day)
        stage(Stage.READING)
        release = run(
            plan,
            frames,
            engine=engine,
            progress=progress,
            before_draw=lambda: stage(Stage.DRAWING),
        )
        stage(Stage.SEALING)
        report = _signed(release, signers, day, None, approvals)
        stage(Stage.WRITING)
        _written(report, folder)
        return Executed(report=report, fresh=True, entries=None, release=release)
    account = ledger.account(dataset)
    for frame in frames.values():
        ledger.refuse_place(dataset, frame)
    # What was released before needs neither a key nor an approval any more.
    stored = not again and account.released(plan.digest) is not None
    if not stored:
        require_signers(plan, signers, trust, day)
    approved = verify_approvals(
        () if stored else approvals,
        plan,
        trust or Trust(()),
        day=day,
        needed=0 if stored else account.approvals,
    )
    granted = ledger.reserve(
        dataset,
        plan,
        again=again,
        runs=approved.runs,
        known=known_heads(folder.parent if folder else None, signers, trust),
    )
    if isinstance(granted, Sealed):
        return _stored(ledger, granted, folder)
    if reserved is not None:
        reserved(granted.run.number)
    debit = _Debit(ledger, granted, lambda: stage(Stage.DRAWING))
    stage(Stage.READING)
    release = _drawn(plan, frames, debit, engine, progress)
    receipt = debit.receipt
    assert receipt is not None
    stage(Stage.SEALING)
    report = _signed(release, signers, day, _record(receipt), approved.envelopes)
    sealed = ledger.seal(receipt, report.envelope, dict(report.files))
    stage(Stage.WRITING)
    _written(report, folder)
    return Executed(
        report=report, fresh=True, entries=_entries(sealed), release=release
    )


def require_signers(
    plan: Plan, signers: Sequence[Signer], trust: Trust | None, day: date
) -> None:
    """Refuse keys whose signature nobody would accept, before anything is spent.

    A key that the trust file does not know is left to those who verify.

    Raises:
        VerifyFault: there is no key (DPQL615), or a known key has not the role, the
            day or the name (DPQL603, DPQL604, DPQL613).
    """
    if not signers:
        raise VerifyFault.of("DPQL615", "a release needs a key that signs it")
    lines = [
        signing_line(known, day)
        for signer in signers
        if trust is not None and (known := trust.of(signer.public.fingerprint))
    ]
    if len(lines) == len(signers):
        require_named_signer(plan, tuple(lines))


def known_heads(
    place: Path | None, signers: Iterable[Signer], trust: Trust | None
) -> list[Head]:
    """Return the heads in the release folders of a place that trusted keys signed.

    A report by anybody else is passed over: it could name any head.
    """
    if place is None:
        return []
    own = [
        TrustedKey(
            principals=("own",),
            key=signer.public,
            namespaces=frozenset({RELEASE_ROLE}),
            first=None,
            until=None,
        )
        for signer in signers
    ]
    known = Trust((*own, *(trust.keys if trust else ())))
    heads = []
    for path in sorted(place.glob(f"*/{ENVELOPE_NAME}")):
        with contextlib.suppress(VerifyFault):
            envelope, _, _ = read_folder(path)
            payload = open_envelope(envelope, known, role=RELEASE_ROLE).payload
            record = read_ledger_record(payload)
            heads += [] if record is None else [head_of(record, envelope)]
    return heads


def head_of(record: LedgerRecord, envelope: bytes) -> Head:
    """Return the place in the chain that a report pins."""
    return Head(
        dataset=record.dataset,
        seq=record.seq,
        digest=record.head,
        envelope=hashlib.sha256(envelope).hexdigest(),
    )


@dataclass(slots=True)
class _Debit:
    """A reservation on its way to being spent."""

    ledger: Ledger
    reservation: Reservation
    spent: Callable[[], None]
    receipt: Receipt | None = None

    def spend(self) -> None:
        """Make it durable that noise is about to be drawn."""
        self.receipt = self.ledger.begin_draw(self.reservation)
        self.spent()


def _drawn(
    plan: Plan,
    frames: Mapping[str, object],
    debit: _Debit,
    engine: str,
    progress: Callable[[], None] | None,
) -> Release:
    try:
        return run(
            plan, frames, engine=engine, progress=progress, before_draw=debit.spend
        )
    except RunFault as fault:
        if debit.receipt is None and fault.diagnostics[0].code in _HEADER_FAULTS:
            _give_back(debit)
        elif debit.receipt is None:
            # The failure may depend on rows, so it is paid for like an answer.
            debit.spend()
        raise
    except (LedgerFault, KeyboardInterrupt):
        if debit.receipt is None:
            _give_back(debit)
        raise


def _give_back(debit: _Debit) -> None:
    """Cancel; a ledger that fails now leaves the run for `ledger recover`."""
    with contextlib.suppress(DpqlError):
        debit.ledger.cancel(debit.reservation)


def _signed(
    release: Release,
    signers: Sequence[Signer],
    day: date,
    record: LedgerRecord | None,
    approvals: Sequence[bytes],
) -> Report:
    return sign(
        release,
        signers,
        day=day,
        ledger=record,
        versions=stated_versions(),
        approvals=approvals,
    )


def _record(receipt: Receipt) -> LedgerRecord:
    run_ = receipt.run
    return LedgerRecord(
        dataset=receipt.dataset,
        cap=run_.cap,
        before=run_.before,
        after=run_.after,
        seq=receipt.head.seq,
        head=receipt.head.digest,
    )


def _stored(ledger: Ledger, sealed: Sealed, folder: Path | None) -> Executed:
    """Return a report that was stored before, and write its folder if it is gone."""
    payload = peek(sealed.envelope)
    subjects = read_statement(payload, RELEASE, ReportPredicate).subjects
    files = tuple((name, ledger.kept(digest)) for name, digest in subjects)
    report = Report(envelope=sealed.envelope, files=files)
    _written(report, folder)
    return Executed(report=report, fresh=False, entries=_entries(sealed), release=None)


def _entries(sealed: Sealed) -> tuple[int, int]:
    assert sealed.run.sealed is not None
    return sealed.run.number, sealed.run.sealed


def _written(report: Report, folder: Path | None) -> None:
    if folder is not None:
        report.write(folder)
