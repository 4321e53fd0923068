"""A release as a record for the public registry of differential-privacy deployments.

The form is that of the Differential Privacy Deployments Registry, which OpenDP keeps in
its repository deployments-registry-data (schemas/deployments-schema.yaml, as of commit
057e5d8). This record fills the first two of its three tiers, and the fields of the
third that follow from a plan. A field that only people can fill is left out where the
form allows it, and marked where it does not. Numbers are floats there, so the epsilon
is rounded up. The registry renders texts as Markdown, so names are escaped.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from dpql.diagnostics import shown
from dpql.exact import round_up_to_digits
from dpql.model.key_text import shown_text
from dpql.model.notation import name_text, plain, quoted
from dpql.model.spec import Neighbours, RowsExactly
from dpql.model.step_text import excess_text
from dpql.reports.display import (
    budget_delta,
    exact_text,
    promise_text,
    protected_text,
)
from dpql.reports.predicate import NoisePart, ReportPredicate

CURATOR_TYPES = ("Government", "Industry", "Nonprofit")
SECTORS = (
    "Technology",
    "Healthcare",
    "Education",
    "Government",
    "Energy",
    "Finance",
)
"""The words that the form allows in these two fields."""

_DIGITS = 12
_OPEN = "to be filled in by the curator"
_MARKS = {"<": "&lt;", "&": "&amp;", **{mark: f"\\{mark}" for mark in "\\`*[]$"}}
_TEXT = 20_000


def registry_record(
    predicate: ReportPredicate,
    digest: str,
    *,
    curator: str,
    curator_type: str = "Government",
    region: str = _OPEN,
    sector: str = "Government",
    authors: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the record of the report with that digest, ready to be submitted.

    ``curator_type`` and ``sector`` are words of `CURATOR_TYPES` and `SECTORS`.
    """
    assert curator_type in CURATOR_TYPES
    assert sector in SECTORS
    year = predicate.date[:4]
    return {
        "url_slug": _slug(f"{predicate.title}-{curator}-{year}"),
        "deployment": {
            "basic": {
                "name": _escape(predicate.title),
                "data_curators": [
                    {"data_curator_name": curator, "data_curator_type": curator_type}
                ],
                "description": _description(predicate),
                "intended_use": _escape(predicate.purpose),
                "data_product_type": "Summary statistics",
                "data_product_region": region,
                "data_product_sector": sector,
                "publication_date": predicate.date,
            },
            "dp_variant": {
                "variant_name": (
                    "Approximate DP" if predicate.guarantee.delta else "Pure DP"
                ),
                "data_domain": _domain(predicate),
                "unprotected_quantities": _escape(
                    "; ".join(predicate.guarantee.unprotected)
                ),
            },
            "privacy_loss": _privacy_loss(predicate),
            "deployment_model": {
                "model_name": "Central",
                "trust_assumptions": predicate.implementation.trust_model,
                "release_type": "One release",
                "release_type_details": _budget(predicate),
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": (
                    "none that reads the data: the plan is fixed before"
                ),
                "mechanisms": _mechanisms(predicate),
                "composition": predicate.guarantee.composition,
                "post_processing": _post_processing(predicate),
                "utility": _utility(predicate),
            },
            "administrative": {
                "evidence_sources": {
                    "signed_release": _evidence(predicate, digest, curator)
                },
                "status": "Draft",
                "registry_authors": list(authors) or [curator],
                "tier": 2,
            },
        },
    }


def _privacy_loss(predicate: ReportPredicate) -> dict[str, Any]:
    guarantee = predicate.guarantee
    rows = predicate.plan.spec.data.rows
    public = isinstance(rows, RowsExactly) and predicate.plan.spec.privacy.unit is None
    return {
        "privacy_unit": _escape(protected_text(guarantee)),
        "privacy_unit_details": _unit(predicate),
        # The number of units is given only where the spec declares it public.
        **({"number_of_privacy_units": rows.count} if public else {}),
        "privacy_parameters": {
            "epsilon": _rounded(guarantee.epsilon),
            **({"delta": _rounded(guarantee.delta)} if guarantee.delta else {}),
        },
        "privacy_parameters_details": _escape(
            f"exactly {guarantee.epsilon}{_delta(predicate)}; {guarantee.words}"
        ),
    }


def _evidence(predicate: ReportPredicate, digest: str, curator: str) -> dict[str, Any]:
    return {
        "evidence_source_type": "Formal publication by the deploying organization",
        "misc": {
            "author": curator,
            "title": _escape(predicate.title),
            "year": predicate.date[:4],
            "note": f"signed report (DSSE, in-toto Statement), sha256 {digest}",
        },
    }


def _delta(predicate: ReportPredicate) -> str:
    """Return the delta exactly, and the rho of the release."""
    delta, rho = predicate.guarantee.delta, predicate.plan.rho
    if not delta or rho is None:
        return ""
    shown_rho = plain(round_up_to_digits(rho, 6))
    return f", delta exactly {delta}, at most {shown_rho}-zCDP"


def _rounded(exact: Fraction) -> float:
    """Return the least float that is found at or above a number."""
    number = float(plain(round_up_to_digits(exact, _DIGITS)))
    while number.as_integer_ratio()[0] < exact * number.as_integer_ratio()[1]:
        number *= 1 + 2**-52
    return number


def _description(predicate: ReportPredicate) -> str:
    names = "; ".join(f"{one.name}: {one.definition}" for one in predicate.statistics)
    stated = quoted(predicate.purpose)
    words = f"Purpose, as its author states it: {stated}. Statistics: {names}."
    for step in predicate.plan.steps:
        if step.search is not None:
            found = shown_text(predicate.plan, step)
            words += f" The keys of {step.name} are found in the data: {found}."
    return _escape(words)


def _domain(predicate: ReportPredicate) -> str:
    declared = predicate.plan.spec.data.columns
    columns = ", ".join(name_text(column.name) for column in declared)
    return _escape(f"tables with the columns {columns}")


def _unit(predicate: ReportPredicate) -> str:
    guarantee = predicate.guarantee
    verb = (
        "added or removed"
        if guarantee.neighbours is Neighbours.ADD_REMOVE
        else "replaced by any other"
    )
    unit = protected_text(guarantee)
    if unit == "row":
        return f"one row, {verb}"
    return _escape(
        f"all rows of one {unit}, {verb}; of them at most {guarantee.rows} in each of "
        f"at most {guarantee.groups} groups count, and "
        f"{excess_text(predicate.plan)}"
    )


def _budget(predicate: ReportPredicate) -> str:
    record = predicate.ledger
    if record is None:
        return "no budget across releases is kept"
    kept = (
        f"a budget of {record.cap}{budget_delta(record)} across all releases of "
        f"{record.dataset} is kept; {exact_text(record.after)} of it is spent after "
        "this one"
    )
    return "; ".join([kept, *predicate.caveats])


def _mechanisms(predicate: ReportPredicate) -> str:
    lines = [
        f"{one.name}, {part.name}: {part.mechanism} at {_cost(part)}"
        for one in predicate.statistics
        for part in one.parts
    ]
    made = predicate.implementation
    lines.append(
        f"dpql {made.dpql}: integer sums, and noise on a lattice whose distribution is "
        "exact: what doubles cannot settle is drawn with integers"
    )
    return _escape("; ".join(lines))


def _cost(part: NoisePart) -> str:
    delta = f", delta {part.delta}" if part.delta else ""
    if part.epsilon is not None:
        return f"epsilon {part.epsilon}{delta}"
    return f"rho {part.rho}{delta}"


def _post_processing(predicate: ReportPredicate) -> str:
    return _escape(
        "; ".join(f"{one.name}: {one.post_processing}" for one in predicate.statistics)
    )


def _utility(predicate: ReportPredicate) -> str:
    return _escape(
        "; ".join(
            f"{one.name}: {promise_text(predicate, one)}"
            for one in predicate.statistics
        )
    )


def _escape(text: str) -> str:
    """Escape a text so that Markdown shows it as it is: one line, no tag, no link."""
    return "".join(_MARKS.get(c, c) for c in shown(text, limit=_TEXT))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80]
