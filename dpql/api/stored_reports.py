"""Reports that a ledger has stored: what was released comes back as it was signed."""

from __future__ import annotations

import hashlib

from dpql.errors import LedgerFault
from dpql.ledger import Account, Ledger, Sealed
from dpql.model.plan import Plan
from dpql.reports.display import View
from dpql.reports.envelope import peek
from dpql.reports.file_names import HTML_NAME
from dpql.reports.predicate import RELEASE, ReportPredicate
from dpql.reports.recompute import recompute
from dpql.reports.render_html import as_html
from dpql.reports.report import Report
from dpql.reports.statement import read_statement
from dpql.reports.tables import tables_of


def sealed_release(ledger: Ledger, account: Account, plan: Plan) -> Sealed | None:
    """Return what the last run that released the plan has sealed.

    Raises:
        LedgerFault: its report is missing or altered (DPQL711).
    """
    last = account.released(plan.digest)
    if last is None or last.envelope is None:
        return None
    envelope = ledger.file(last.envelope)
    return Sealed(dataset=account.dataset, run=last, envelope=envelope)


def fetched_report(ledger: Ledger, dataset: str, digest: str) -> Report:
    """Return the released report whose digest begins so, every byte as it was signed.

    Raises:
        LedgerFault: no report or several have such a digest (DPQL709), or it is
            missing or altered (DPQL711).
    """
    account = ledger.account(dataset)
    found = [
        run for run in account.runs if run.envelope and run.envelope.startswith(digest)
    ]
    if len(found) != 1 or not digest:
        number = "several runs" if found else "no run"
        raise LedgerFault.of(
            "DPQL709",
            f"{number} ended in a release whose digest begins so",
            hint="`dpql ledger show` lists the runs, and the digest of each release",
        )
    (run,) = found
    assert run.envelope is not None
    envelope = ledger.file(run.envelope)
    return stored_report(ledger, Sealed(dataset=dataset, run=run, envelope=envelope))


def stored_report(ledger: Ledger, sealed: Sealed) -> Report:
    """Return a sealed report with its files, every byte as it was signed.

    Raises:
        LedgerFault: a file is missing or altered, and what is made of the report
            today has another digest (DPQL711).
    """
    statement = read_statement(peek(sealed.envelope), (RELEASE,), ReportPredicate)
    assert isinstance(statement.predicate, ReportPredicate)
    digest = hashlib.sha256(sealed.envelope).hexdigest()
    view = View(statement.predicate, "release", statement.content, digest)
    files = tuple(
        (name, _file(ledger, view, name, digest)) for name, digest in statement.subjects
    )
    return Report(envelope=sealed.envelope, files=files, signed=view)


def _file(ledger: Ledger, view: View, name: str, digest: str) -> bytes:
    """Return a file as it was stored, or made again from the report."""
    try:
        return ledger.file(digest)
    except LedgerFault:
        made = _made(view, name)
        if hashlib.sha256(made).hexdigest() != digest:
            raise
        return made


def _made(view: View, name: str) -> bytes:
    if name == HTML_NAME:
        return as_html(view).encode()
    return tables_of(recompute(view.predicate))[name]
