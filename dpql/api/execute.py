"""One run of a plan, in the order that lets nothing leave without its debit.

    approvals verified -> RESERVED, durable -> rows read and added up -> DRAWING,
    durable -> noise -> report signed and stored with RELEASED -> files -> the caller

The machine may stop at any point. Before DRAWING nothing was drawn; after it the
epsilon is spent; what is stored is what is released, and running the plan again
returns it at no cost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TypeVar

from dpql.api.authorisation import permitted
from dpql.api.debit import Debit
from dpql.api.ledger_heads import known_heads
from dpql.api.listener import Ending, Stage
from dpql.api.output_folder import Target
from dpql.api.stored_reports import sealed_release, stored_report
from dpql.api.versions import stated_versions
from dpql.curator import run
from dpql.curator.engines import ENGINES
from dpql.curator.sources.locate import refuse_special_file
from dpql.diagnostics import shown
from dpql.errors import LedgerFault, RunFault
from dpql.forks import refuse_forked
from dpql.ledger import Ledger, Receipt, Sealed
from dpql.model.plan import Plan
from dpql.model.release import Release
from dpql.planner import audit
from dpql.reports.keys import Signer
from dpql.reports.predicate import LedgerRecord
from dpql.reports.report import Report, sign
from dpql.reports.trust import Trust

_Told = TypeVar("_Told")

_HEADER_FAULTS = frozenset({*(f"DPQL50{digit}" for digit in range(9)), "DPQL511"})
"""Refusals that say nothing about rows but what is public; they cost nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What a run came to.

    ``fresh`` is False when the report is one that was stored by an earlier run of the
    same plan. ``entries`` are the ledger's numbers of the reservation and of the seal,
    None without a ledger. ``folder`` is where the release was written. ``mended`` are
    the files in it that were missing or altered, and are now as they were signed.
    """

    report: Report
    fresh: bool
    entries: tuple[int, int] | None
    release: Release | None = field(repr=False)
    folder: Path | None = None
    mended: tuple[str, ...] = ()


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
    within: Path | None = None,
    published: Sequence[Path] = (),
    again: bool = False,
    engine: str = "polars",
    progress: Callable[[], None] | None = None,
    reserved: Callable[[int], None] = lambda _: None,
    ended: Callable[[Ending], None] = lambda _: None,
    stage: Callable[[Stage], None] = lambda _: None,
) -> Executed:
    """Run a plan on data once, debit it, sign it, store it and write its folder.

    ``dataset`` is the owner's name of the data, whatever the plan calls its source.
    ``trust`` says whose approvals count. ``folder`` is where the release is written;
    or it gets a name of its own ``within`` one. Releases beside ``folder``, and in the
    places ``published``, must be known to the ledger if we or somebody trusted signed
    them. ``reserved`` is told the number of the
    reservation, ``stage`` which stage begins, ``ended`` what became of the debit of a
    run that fails. The first run on a dataset binds its data to it. Without a ledger
    nothing is debited and no run is counted, and the report says so.

    Raises:
        PlanFault: the plan is not what its spec compiles to (4xx).
        LedgerFault: the budget does not allow it (7xx).
        VerifyFault: approvals are missing, or the folder cannot be written (6xx).
        RunFault: the data do not fit the plan (5xx).
    """
    # A plan that was not read from a file has been audited by nobody.
    audit(plan)
    require_engine(engine)
    approvals = tuple(dict.fromkeys(approvals))
    stage = _heard(stage)
    target = Target(folder=folder, within=within)
    if ledger is None:
        permitted(plan, signers, trust, approvals, day, dataset=dataset, needed=0)
        target.refuse_unwritable()
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
        place, _ = target.write(report)
        return Executed(
            report=report, fresh=True, entries=None, release=release, folder=place
        )
    known = known_heads([*target.neighbourhood(), *published], signers, trust)
    account = ledger.account(dataset, known)
    stored = None if again else sealed_release(ledger, account, plan)
    if stored is not None:
        # What was released before needs no key, no approval and no data any more.
        return _stored(ledger, stored, target)
    frame = frames.get(plan.spec.data.source)
    refuse_special_file(frame, plan.spec.data)
    ledger.refuse_foreign_data(dataset, frame)
    approved = permitted(
        plan,
        signers,
        trust,
        approvals,
        day,
        dataset=dataset,
        needed=account.approvals,
    )
    target.refuse_unwritable()
    refuse_forked()
    granted = ledger.reserve(
        dataset, plan, again=again, runs=approved.runs, known=known, data=frame
    )
    if isinstance(granted, Sealed):
        return _stored(ledger, granted, target)
    _heard(reserved)(granted.run.number)
    debit = Debit(ledger, granted, lambda: stage(Stage.DRAWING))
    try:
        stage(Stage.READING)
        release = _drawn(plan, frames, debit, engine, progress)
        receipt = debit.receipt
        assert receipt is not None
        stage(Stage.SEALING)
        report = _signed(release, signers, day, _record(receipt), approved.envelopes)
        sealed = ledger.seal(receipt, report.envelope, dict(report.files))
    except BaseException:
        _heard(ended)(debit.ending())
        raise
    stage(Stage.WRITING)
    place, _ = target.write(report)
    return Executed(
        report=report,
        fresh=True,
        entries=_entries(sealed),
        release=release,
        folder=place,
    )


def _heard(listener: Callable[[_Told], None]) -> Callable[[_Told], None]:
    """Return the listener without its faults: who watches a run cannot spoil it."""

    def tell(what: _Told) -> None:
        with contextlib.suppress(Exception):
            listener(what)

    return tell


def require_engine(name: str) -> None:
    """Refuse an engine that there is not, before anything is spent.

    Raises:
        RunFault: there is no engine of that name (DPQL506).
    """
    if name not in ENGINES:
        raise RunFault.of(
            "DPQL506",
            f"no engine is called `{shown(name)}`",
            hint=f"choose from {', '.join(ENGINES)}",
        )


def _drawn(
    plan: Plan,
    frames: Mapping[str, object],
    debit: Debit,
    engine: str,
    progress: Callable[[], None] | None,
) -> Release:
    try:
        return run(
            plan, frames, engine=engine, progress=progress, before_draw=debit.spend
        )
    except RunFault as fault:
        if debit.receipt is None and fault.diagnostics[0].code in _HEADER_FAULTS:
            debit.give_back()
        elif debit.receipt is None:
            # The failure may depend on rows, so it is paid for like an answer.
            debit.spend()
        raise
    except (LedgerFault, KeyboardInterrupt):
        if debit.receipt is None:
            debit.give_back()
        raise


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
        data=receipt.binding.value,
    )


def _stored(ledger: Ledger, sealed: Sealed, target: Target) -> Executed:
    """Return a report that was stored before; write or mend its folder."""
    report = stored_report(ledger, sealed)
    place, mended = target.write(report)
    return Executed(
        report=report,
        fresh=False,
        entries=_entries(sealed),
        release=None,
        folder=place,
        mended=mended,
    )


def _entries(sealed: Sealed) -> tuple[int, int]:
    assert sealed.run.sealed is not None
    return sealed.run.number, sealed.run.sealed
