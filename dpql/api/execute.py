"""One run of a plan, in the order that lets nothing leave without its debit.

    approvals verified -> RESERVED, durable -> rows aggregated -> DRAWING, durable
    -> noise -> report signed and stored with RELEASED -> files -> the caller

The machine may stop at any point. Before DRAWING nothing was drawn; after it the
epsilon is spent; what is stored is what is released, and running the plan again
returns it at no cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dpql.api.authorisation import authorise
from dpql.api.data_identity import data_identity
from dpql.api.debit import Debit
from dpql.api.ledger_heads import known_heads
from dpql.api.listener import SILENT, HarmlessListener, RunListener, Stage
from dpql.api.run_request import RunRequest
from dpql.api.stored_reports import sealed_release, stored_report
from dpql.api.versions import stated_versions
from dpql.curator import run
from dpql.curator.engines import require_engine
from dpql.curator.examine import FREE_FAULTS
from dpql.curator.sources.locate import refuse_special_file
from dpql.errors import LedgerFault, RunFault
from dpql.forks import refuse_forked
from dpql.ledger import Ledger, Receipt, Sealed
from dpql.model.release import Release
from dpql.planner import audit
from dpql.reports.predicate import LedgerRecord
from dpql.reports.report import Report, sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """The result of a run.

    ``fresh`` is False when the report was stored by an earlier run of the same plan.
    ``entries`` are the ledger's numbers of the reservation and of the seal, None
    without a ledger. ``folder`` is where the release was written. ``mended`` are the
    files in it that were missing or altered, and are now as they were signed.
    """

    report: Report
    fresh: bool
    entries: tuple[int, int] | None
    release: Release | None = field(repr=False)
    folder: Path | None = None
    mended: tuple[str, ...] = ()


def execute(request: RunRequest, listener: RunListener = SILENT) -> Executed:
    """Run a plan on data once, debit it, sign it, store it and write its folder.

    The first run on a dataset binds its data to it.

    Args:
        request: what to run.
        listener: watches the run; its faults are ignored.

    Raises:
        PlanFault: the plan is not what its spec compiles to (4xx).
        LedgerFault: the budget does not allow it (7xx).
        VerifyFault: approvals are missing, or the folder cannot be written (6xx).
        RunFault: the data do not fit the plan (5xx).
    """
    audit(request.plan)
    require_engine(request.engine, request.plan)
    heard = HarmlessListener(listener)
    if request.ledger is None:
        return _undebited(request, heard)
    return _debited(request, request.ledger, heard)


def _undebited(request: RunRequest, listener: RunListener) -> Executed:
    """Run, sign and write without a ledger."""
    approved = authorise(request, needed=0)
    output = request.output
    output.refuse_unwritable()
    listener.entered(Stage.READING)
    release = _released(request, listener, lambda: listener.entered(Stage.DRAWING))
    listener.entered(Stage.SEALING)
    report = _signed(request, release, None, approved.envelopes)
    listener.entered(Stage.WRITING)
    folder, _ = output.write(report)
    return Executed(
        report=report, fresh=True, entries=None, release=release, folder=folder
    )


def _debited(request: RunRequest, ledger: Ledger, listener: RunListener) -> Executed:
    """Reserve the cost and run; or return what an earlier run has released.

    What can be checked without rows is checked before anything is reserved. What was
    released before needs no key, no approval and no data any more.
    """
    plan, dataset, output = request.plan, request.dataset, request.output
    folders = [*output.neighbourhood(), *request.published]
    known = known_heads(folders, request.signers, request.trust)
    account = ledger.account(dataset, known)
    stored = None if request.again else sealed_release(ledger, account, plan)
    if stored is not None:
        return _stored(request, ledger, stored)
    frame = request.frames.get(plan.spec.data.source)
    refuse_special_file(frame, plan.spec.data)
    identity = data_identity(frame, plan.spec.data.source)
    ledger.refuse_foreign_data(dataset, identity)
    approved = authorise(request, needed=account.approvals)
    output.refuse_unwritable()
    refuse_forked()
    granted = ledger.reserve(
        dataset,
        plan,
        again=request.again,
        runs=approved.runs,
        known=known,
        data=identity,
    )
    if isinstance(granted, Sealed):
        return _stored(request, ledger, granted)
    listener.reserved(granted.run.number)
    debit = Debit(ledger, granted, lambda: listener.entered(Stage.DRAWING))
    return _drawn(request, debit, approved.envelopes, listener)


def _drawn(
    request: RunRequest,
    debit: Debit,
    approvals: tuple[bytes, ...],
    listener: RunListener,
) -> Executed:
    """Read, draw, sign, seal and write what a reservation allows."""
    try:
        listener.entered(Stage.READING)
        release = _paid(request, debit, listener)
        receipt = debit.receipt
        assert receipt is not None
        listener.entered(Stage.SEALING)
        report = _signed(request, release, _record(receipt), approvals)
        sealed = debit.ledger.seal(receipt, report.envelope, dict(report.files))
    except BaseException:
        listener.ended(debit.ending())
        raise
    listener.entered(Stage.WRITING)
    folder, _ = request.output.write(report)
    return Executed(
        report=report,
        fresh=True,
        entries=_entries(sealed),
        release=release,
        folder=folder,
    )


def _paid(request: RunRequest, debit: Debit, listener: RunListener) -> Release:
    """Return the release; if it fails, give the debit back only where that is safe."""
    try:
        return _released(request, listener, debit.spend)
    except RunFault as fault:
        if debit.receipt is None and fault.diagnostics[0].code in FREE_FAULTS:
            debit.give_back()
        elif debit.receipt is None:
            # The failure may depend on rows, so it is paid for like an answer.
            debit.spend()
        raise
    except (LedgerFault, KeyboardInterrupt):
        if debit.receipt is None:
            debit.give_back()
        raise


def _released(
    request: RunRequest, listener: RunListener, before_draw: Callable[[], None]
) -> Release:
    return run(
        request.plan,
        request.frames,
        engine=request.engine,
        progress=listener.progressed,
        before_draw=before_draw,
    )


def _signed(
    request: RunRequest,
    release: Release,
    record: LedgerRecord | None,
    approvals: tuple[bytes, ...],
) -> Report:
    return sign(
        release,
        request.signers,
        day=request.day,
        ledger=record,
        versions=stated_versions(),
        approvals=approvals,
    )


def _record(receipt: Receipt) -> LedgerRecord:
    paid = receipt.run
    return LedgerRecord(
        dataset=receipt.dataset,
        cap=paid.cap,
        before=paid.before,
        after=paid.after,
        seq=receipt.head.seq,
        head=receipt.head.digest,
        data=receipt.binding.value,
        delta=paid.delta,
    )


def _stored(request: RunRequest, ledger: Ledger, sealed: Sealed) -> Executed:
    """Return a report that was stored before; write or mend its folder."""
    report = stored_report(ledger, sealed)
    folder, mended = request.output.write(report)
    return Executed(
        report=report,
        fresh=False,
        entries=_entries(sealed),
        release=None,
        folder=folder,
        mended=mended,
    )


def _entries(sealed: Sealed) -> tuple[int, int]:
    assert sealed.run.sealed is not None
    return sealed.run.number, sealed.run.sealed
