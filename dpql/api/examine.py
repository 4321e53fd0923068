"""Verification of a release folder: signatures, claims, tables, place in a ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dpql.ledger import Head, Ledger
from dpql.model.plan import Plan
from dpql.planner import audit
from dpql.reports.predicate import LedgerRecord
from dpql.reports.report import Report, read_folder
from dpql.reports.trust import Trust
from dpql.reports.verify import ChainFacts, Check, Verified, verify


def verify_release(
    place: Path,
    trust: Trust,
    *,
    plan: Plan | None = None,
    ledger: Ledger | None = None,
    threshold: int = 1,
) -> Verified:
    """Return what a release folder, or an envelope alone, vouches for.

    Raises:
        VerifyFault: it is not to be believed (6xx).
        LedgerFault: the ledger itself is not to be believed (7xx).
    """
    envelope, files, page = read_folder(place)
    verified = _verified(envelope, files, trust, plan, ledger, threshold=threshold)
    return verified if page is None else _with_page(verified, page)


def verify_report(
    report: Report,
    trust: Trust,
    *,
    plan: Plan | None = None,
    ledger: Ledger | None = None,
    threshold: int = 1,
) -> Verified:
    """Return what a report in memory vouches for, with the tables it came with.

    Raises:
        VerifyFault: it is not to be believed (6xx).
        LedgerFault: the ledger itself is not to be believed (7xx).
    """
    files = dict(report.files)
    return _verified(report.envelope, files, trust, plan, ledger, threshold=threshold)


def chain_of(ledger: Ledger) -> Callable[[LedgerRecord, str, str], ChainFacts]:
    """Return what a ledger answers about a record, a plan and an envelope."""

    def facts(record: LedgerRecord, plan: str, envelope: str) -> ChainFacts:
        account = ledger.account(record.dataset)
        head = Head(dataset=record.dataset, seq=record.seq, digest=record.head)
        run = next((run for run in account.runs if run.drawing == head), None)
        return ChainFacts(
            holds=account.holds(head),
            agrees=run is not None
            and (run.plan, run.cap, run.before, run.after)
            == (plan, record.cap, record.before, record.after),
            sealed=run.sealed if run and run.envelope == envelope else None,
            approvals=account.approvals,
        )

    return facts


def _verified(
    envelope: bytes,
    files: dict[str, bytes] | None,
    trust: Trust,
    plan: Plan | None,
    ledger: Ledger | None,
    *,
    threshold: int,
) -> Verified:
    return verify(
        envelope,
        trust,
        audit=audit,
        files=files,
        plan=plan,
        chain=None if ledger is None else chain_of(ledger),
        threshold=threshold,
    )


def _with_page(verified: Verified, page: bytes) -> Verified:
    """Say whether the page for people is what the report renders to."""
    from dpql.reports.render_html import as_html
    from dpql.reports.view import View

    view = View(verified.predicate, "release", verified.digest)
    if as_html(view).encode() == page:
        check = Check("page", "report.html shows this report")
        return replace(verified, checks=(*verified.checks, check))
    note = "report.html, which is not what this dpql renders"
    return replace(verified, unchecked=(*verified.unchecked, note))
