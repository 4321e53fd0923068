"""A release as a record for the public registry of differential-privacy deployments.

The registry's form has three tiers; this fills the fields of the first two, and of the
third what a plan can know. What only people know (region, sector, why) is left for them
and marked so. Numbers are numbers there, so the epsilon is rounded up to a decimal.
"""

from __future__ import annotations

import re
from typing import Any

from dpql.exact import round_up_to_digits
from dpql.model.release_text import plain
from dpql.model.spec import Neighbours
from dpql.reports.predicate import ReportPredicate

_DIGITS = 12
_OPEN = "to be filled in by the curator"


def registry_record(
    predicate: ReportPredicate,
    *,
    curator: str,
    curator_type: str = "Government",
    region: str = _OPEN,
    sector: str = "Government",
    authors: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the record of a release; write it as YAML or JSON to submit it."""
    guarantee = predicate.guarantee
    return {
        "url_slug": _slug(f"{predicate.title}-{curator}"),
        "deployment": {
            "basic": {
                "name": predicate.title,
                "data_curators": [
                    {"data_curator_name": curator, "data_curator_type": curator_type}
                ],
                "description": _description(predicate),
                "intended_use": predicate.purpose,
                "data_product_type": "Summary statistics",
                "data_product_region": region,
                "data_product_sector": sector,
                "publication_date": predicate.date,
            },
            "dp_variant": {
                "variant_name": "Pure DP",
                "data_domain": _domain(predicate),
                "unprotected_quantities": "; ".join(guarantee.unprotected),
            },
            "privacy_loss": {
                "privacy_unit": guarantee.unit,
                "privacy_unit_details": _unit(predicate),
                "privacy_parameters": {"epsilon": _rounded(predicate)},
                "privacy_parameters_details": (
                    f"exactly {guarantee.epsilon}; {guarantee.words}"
                ),
            },
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": predicate.implementation.trust_model,
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
                "composition": guarantee.composition,
                "post_processing": _after(predicate),
                "justification": _OPEN,
            },
            "administrative": {
                "evidence_sources": {},
                "status": "Draft",
                "registry_authors": list(authors) or [curator],
                "tier": 2,
            },
        },
    }


def _rounded(predicate: ReportPredicate) -> float:
    """Return the epsilon as the number that the registry asks for, never smaller."""
    epsilon = predicate.guarantee.epsilon
    number = float(plain(round_up_to_digits(epsilon, _DIGITS)))
    while number.as_integer_ratio()[0] < epsilon * number.as_integer_ratio()[1]:
        number *= 1 + 2**-52
    return number


def _description(predicate: ReportPredicate) -> str:
    names = "; ".join(f"{one.name}: {one.definition}" for one in predicate.statistics)
    return f"{predicate.purpose} Statistics: {names}."


def _domain(predicate: ReportPredicate) -> str:
    columns = ", ".join(column.name for column in predicate.plan.spec.data.columns)
    return f"tables with the columns {columns}"


def _unit(predicate: ReportPredicate) -> str:
    guarantee = predicate.guarantee
    verb = (
        "added or removed"
        if guarantee.neighbours is Neighbours.ADD_REMOVE
        else "replaced by any other"
    )
    return (
        f"all rows of one {guarantee.unit}, of which at most {guarantee.rows} in each "
        f"of at most {guarantee.groups} groups count, {verb}"
    )


def _budget(predicate: ReportPredicate) -> str:
    record = predicate.ledger
    if record is None:
        return "no budget across releases is kept"
    return (
        f"a budget of {record.cap} across all releases of {record.dataset} is kept; "
        f"{record.after} of it is spent after this one"
    )


def _mechanisms(predicate: ReportPredicate) -> str:
    lines = [
        f"{one.name}, {part.name}: {part.mechanism} at epsilon {part.epsilon}"
        for one in predicate.statistics
        for part in one.parts
    ]
    made = predicate.implementation
    lines.append(
        f"dpql {made.dpql}: integer sums and rational noise on a lattice, no floating "
        "point; a fixed number of random bits for each draw"
    )
    return "; ".join(lines)


def _after(predicate: ReportPredicate) -> str:
    return "; ".join(
        f"{one.name}: {one.post_processing}" for one in predicate.statistics
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80]
