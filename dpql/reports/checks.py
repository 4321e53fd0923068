"""The checks of a verification, and what no check can show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.exact import round_up_to_digits
from dpql.model.notation import plain
from dpql.model.plan import Plan
from dpql.model.release import Release
from dpql.model.step_text import fault_text
from dpql.reports.approval import Approved
from dpql.reports.caveats import UNCOUNTED
from dpql.reports.file_names import (
    DICTIONARY_NAME,
    ENVELOPE_NAME,
    HTML_NAME,
    PARQUET_NAME,
    TABLE,
)
from dpql.reports.predicate import FIRST_FORMAT, ReportPredicate
from dpql.reports.trust import RELEASE_ROLE, TrustedKey

UNCHECKED = (
    "whether the run used the data it says, with this code and unseeded coins",
    "whether the signer dated the report truly",
)
"""What no verification of a report can show."""

PROSE = "the wording of a report by dpql 0.1; its numbers were"
CELLS = f"the cells of {PARQUET_NAME}: no more than its digest was compared"
FILES_AWAY = "the tables and the page beside the report"
LEDGER_AWAY = "the ledger that the report names"

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; a ``warning`` is not an error."""

    name: str
    text: str
    warning: bool = False


def signature_check(signers: Iterable[TrustedKey]) -> Check:
    """Say who signed, with which key, in which role."""
    texts = [
        f"{signer.principal}  {signer.key.fingerprint}  (role {RELEASE_ROLE}"
        + (f", valid until {signer.until})" if signer.until else ")")
        for signer in signers
    ]
    return Check("signature", "; ".join(texts))


def files_check(names: Iterable[str]) -> Check:
    """Say which files are those that were signed."""
    listed = list(names)
    own = [name for name in listed if name.startswith(TABLE)]
    if len(own) > 1:
        listed = [name for name in listed if name not in own]
        listed.append(f"{len(own)} tables of one statistic each")
    return Check("files", f"{', '.join(listed)} match")


def approval_check(approved: Approved, predicate: ReportPredicate) -> Check:
    """Say which reviewers signed the plan."""
    short = predicate.plan_digest[:8]
    if not approved.reviewers:
        return Check("approval", f"nobody signed plan {short}", warning=True)
    names = ", ".join(reviewer.principal for reviewer in approved.reviewers)
    on = f" for {shown(approved.dataset)}" if approved.dataset else ""
    if predicate.ledger is None:
        text = f"{names} signed plan {short}{on}; {UNCOUNTED}"
        return Check("approval", text, warning=True)
    return Check("approval", f"{names} signed plan {short}{on}")


def arithmetic_check(release: Release) -> Check:
    """Say what was computed again."""
    steps = release.plan.steps
    values = sum(len(result.values) for result in release.results)
    found = [step.name for step in steps if step.search is not None]
    keys = f"; the keys of {', '.join(found)} are such as can be shown" if found else ""
    return Check(
        "arithmetic",
        f"{_total(release.plan)}; {len(steps)} accuracy claims recomputed; "
        f"{values} values on grid and in range{keys}",
    )


def _total(plan: Plan) -> str:
    """Return what the release spends, as it was added up again."""
    events = sum((step.delta for step in plan.steps), Fraction(0))
    if not plan.in_rho:
        return f"Σ ε = {plan.spent}" + (f", Σ δ = {events}" if events else "")
    assert plan.rho is not None, "the steps share it"
    rho = plain(round_up_to_digits(plan.rho, 6))
    total = f"ρ ≤ {rho}, so ε = {plan.spent} at δ = {plan.delta}"
    return f"{total}, of it {events} for keys" if events else total


def ledger_check(predicate: ReportPredicate, sealed: int | None) -> Check | None:
    """Say where the ledger has the report; None without a ledger."""
    record = predicate.ledger
    if record is None:
        text = f"no budget was debited; {UNCOUNTED}"
        return Check("ledger", text, warning=True)
    if sealed is None:
        return None
    text = f"entry {record.seq} is in the chain; entry {sealed} names this envelope"
    return Check("ledger", text)


def data_check(predicate: ReportPredicate) -> Check | None:
    """Warn where the budget does not show everything that is spent on the data."""
    if predicate.ledger is None or not predicate.caveats:
        return None
    return Check("data", "; ".join(predicate.caveats), warning=True)


def fault_check(release: Release) -> Check | None:
    """Warn of numbers that are known to be wrong, although they are signed."""
    fault = fault_text(release.plan)
    return None if fault is None else Check("known fault", fault, warning=True)


def page_check(page: bytes | None, expected: bytes, format_: int) -> Check:
    """Say whether the HTML page shows the report.

    Another version of dpql may have rendered a signed page, so a page that looks
    different is not refused. In format 1 nobody signed the page.
    """
    same = page == expected
    if format_ == FIRST_FORMAT:
        state = (
            f"{HTML_NAME} is missing"
            if page is None
            else f"{HTML_NAME} shows this report"
            if same
            else f"{HTML_NAME} is not what this dpql makes of the report; trust "
            f"{ENVELOPE_NAME} alone"
        )
        return Check("page", f"page unsigned, as in dpql 0.1: {state}", warning=True)
    if same:
        return Check("page", f"{HTML_NAME} shows this report")
    text = (
        f"{HTML_NAME} is the page that was signed, but not what this dpql makes of "
        "the report; its text was not compared"
    )
    return Check("page", text, warning=True)


def dictionary_check(found: bytes | None, expected: bytes) -> Check | None:
    """Warn where the signed dictionary is not what this dpql writes of the plan."""
    if found == expected:
        return None
    text = (
        f"{DICTIONARY_NAME} is the one that was signed, but not what this dpql writes "
        "of the plan; its text was not compared"
    )
    return Check("dictionary", text, warning=True)


def unsigned_files_note(names: tuple[str, ...]) -> list[str]:
    """Return a note on the files in the folder that nobody signed."""
    if not names:
        return []
    listed = ", ".join(shown(name, limit=40) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return [f"other files in the folder, which nobody signed: {listed}{more}"]
