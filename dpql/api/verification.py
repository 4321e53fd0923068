"""Verification of a release folder: signatures, claims, files, position in a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dpql.api.ledger_heads import known_heads
from dpql.errors import LedgerFault
from dpql.ledger import Account, Head, Ledger, Run
from dpql.model.plan import Plan
from dpql.planner import audit_published
from dpql.reports.checks import dictionary_check, page_check, unsigned_files_note
from dpql.reports.dictionary import dictionary
from dpql.reports.file_names import (
    DICTIONARY_NAME,
    ENVELOPE_NAME,
    HTML_NAME,
    signed_names,
)
from dpql.reports.folder import read_folder, unsigned_files
from dpql.reports.predicate import BOUND, SHARED, LedgerRecord
from dpql.reports.report import Report
from dpql.reports.trust import Trust
from dpql.reports.verify import Chain, ChainFacts, Verified, verify

_NOT_OPEN = "DPQL701"


def verify_release(
    folder: Path,
    trust: Trust,
    *,
    plan: Plan | None = None,
    ledger: Ledger | None = None,
    threshold: int = 1,
) -> Verified:
    """Return what a release folder, or an envelope alone, vouches for.

    A ledger must know the trusted releases in the folders beside it as well.

    Raises:
        VerifyFault: it is not to be believed (6xx).
        LedgerFault: the ledger itself is not to be believed (7xx).
    """
    envelope, files = read_folder(folder)
    verified = _verified(envelope, files, trust, plan, ledger, threshold=threshold)
    record = verified.predicate.ledger
    if ledger is not None and record is not None:
        # An old copy of the ledger may know this release, and not a later one.
        beside = known_heads(_siblings(folder), (), trust, compared=verified.digest)
        ledger.account(record.dataset, beside)
    return verified if files is None else _with_folder(verified, folder, files)


def verify_report(
    report: Report,
    trust: Trust,
    *,
    plan: Plan | None = None,
    ledger: Ledger | None = None,
    threshold: int = 1,
) -> Verified:
    """Return what a report in memory vouches for, with the files it came with.

    Raises:
        VerifyFault: it is not to be believed (6xx).
        LedgerFault: the ledger itself is not to be believed (7xx).
    """
    files = dict(report.files)
    return _verified(report.envelope, files, trust, plan, ledger, threshold=threshold)


def chain_of(ledger: Ledger) -> Chain:
    """Return what a ledger answers about a record, a plan and an envelope."""

    def facts(record: LedgerRecord, plan: Plan, envelope: str) -> ChainFacts:
        account = _account(ledger, record.dataset)
        head = Head(dataset=record.dataset, seq=record.seq, digest=record.head)
        run = next((run for run in account.runs if run.drawing == head), None)
        return ChainFacts(
            holds=account.holds(head),
            agrees=run is not None
            and account.protects(plan)
            and _binding(run, record.data)
            and (run.plan, run.cap, run.before, run.after)
            == (plan.digest, record.cap, record.before, record.after),
            sealed=run.sealed if run and run.envelope == envelope else None,
            ordinal=account.ordinal(run) if run else 0,
            approvals=account.approvals,
        )

    return facts


def _binding(run: Run, data: str) -> bool:
    """Tell whether the chain says the same of the data of a run as its report."""
    if data not in (BOUND, SHARED):
        return True
    return run.bound and run.shared == (data == SHARED)


def _siblings(folder: Path) -> list[Path]:
    """Return where the releases beside one lie."""
    path = folder.resolve()
    if path.is_dir():
        return [path.parent]
    return [path.parent.parent] if path.name == ENVELOPE_NAME else []


def _account(ledger: Ledger, dataset: str) -> Account:
    """Return the account; one without entries where the ledger knows no such data."""
    try:
        return ledger.account(dataset)
    except LedgerFault as fault:
        if fault.diagnostics[0].code != _NOT_OPEN:
            raise
        return Account(dataset=dataset)


def _verified(
    envelope: bytes,
    files: Mapping[str, bytes] | None,
    trust: Trust,
    plan: Plan | None,
    ledger: Ledger | None,
    *,
    threshold: int,
) -> Verified:
    return verify(
        envelope,
        trust,
        audit=audit_published,
        files=files,
        plan=plan,
        chain=None if ledger is None else chain_of(ledger),
        threshold=threshold,
    )


def _with_folder(
    verified: Verified, folder: Path, files: Mapping[str, bytes]
) -> Verified:
    """Say what the page for people shows, and which files nobody signed."""
    from dpql.reports.display import View
    from dpql.reports.render_html import as_html

    view = View(verified.predicate, "release", verified.content, verified.digest)
    made = as_html(view).encode()
    check = page_check(files.get(HTML_NAME), made, verified.predicate.format)
    checks = [*verified.checks, check]
    plan = verified.predicate.plan
    if DICTIONARY_NAME in signed_names(plan):
        words = dictionary(plan).encode()
        other = dictionary_check(files.get(DICTIONARY_NAME), words)
        checks += [] if other is None else [other]
    notes = unsigned_files_note(unsigned_files(folder, signed_names(plan)))
    return replace(
        verified,
        checks=tuple(checks),
        unchecked=(*verified.unchecked, *notes),
    )
