"""The JSON Schema of a report's statement, derived from the types that are read.

Run ``python -m dpql.reports.schema DIRECTORY`` to write the schema.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from dpql.model.codec import canonical, kind_of
from dpql.model.pure import allow_pure
from dpql.model.schema import schema_of
from dpql.reports.file_names import DICTIONARY_NAME, OLDER, PLAN_NAME, TABLE
from dpql.reports.predicate import (
    APPROVAL,
    FORMAT,
    REHEARSAL,
    RELEASE,
    ApprovalPredicate,
    LedgerRecord,
    NoisePart,
    ReportPredicate,
    StatisticRecord,
)
from dpql.reports.statement import STATEMENT
from dpql.statistics.schema import name_statistics


def report_schema() -> dict[str, Any]:
    """Return the schema of today's reports, which is kept under schemas/.

    Those of older formats stay there as they were.
    """
    definitions: dict[str, Any] = {}
    report = schema_of(ReportPredicate, definitions)
    approval = schema_of(ApprovalPredicate, definitions)
    name_statistics(definitions)
    allow_pure(definitions)
    for kind, name in (
        (StatisticRecord, "rho"),
        (NoisePart, "rho"),
        (LedgerRecord, "delta"),
    ):
        definitions[kind_of(kind)]["required"].remove(name)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpql:schema:report:v{FORMAT}",
        "title": f"dpql report, version {FORMAT}",
        "description": (
            "The in-toto Statement that the payload of a DSSE envelope holds. Exact "
            "numbers are text: whole, or a fraction in lowest terms."
        ),
        "type": "object",
        "properties": {
            "_type": {"const": STATEMENT},
            "subject": {"type": "array"},
            "predicateType": {"enum": [RELEASE, REHEARSAL, APPROVAL]},
            "predicate": {},
        },
        "required": ["_type", "predicate", "predicateType", "subject"],
        "additionalProperties": False,
        "if": {"properties": {"predicateType": {"const": APPROVAL}}},
        "then": {"properties": {"predicate": approval, "subject": _about(APPROVAL)}},
        "else": {"properties": {"predicate": report, "subject": _about(RELEASE)}},
        "$defs": dict(sorted(definitions.items())),
    }


def _about(kind: str) -> dict[str, Any]:
    """Return the schema of the subjects of a kind: exactly these, in this order.

    Behind those of every report come the tables of its statistics.
    """
    if kind == APPROVAL:
        names, more = [PLAN_NAME], False
    else:
        names, more = sorted((*OLDER, DICTIONARY_NAME)), True
    pattern = {"type": "string", "pattern": f"^{TABLE}.*\\.csv$"}
    return {
        "type": "array",
        "prefixItems": [_subject({"const": name}) for name in names],
        "minItems": len(names) + more,
        "items": _subject(pattern) if more else False,
    }


def _subject(name: dict[str, Any]) -> dict[str, Any]:
    sha256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    digest = {
        "type": "object",
        "properties": {"sha256": sha256},
        "required": ["sha256"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"name": name, "digest": digest},
        "required": ["name", "digest"],
        "additionalProperties": False,
    }


if __name__ == "__main__":
    target = Path(sys.argv[1]) / f"report.v{FORMAT}.schema.json"
    target.write_bytes(canonical(report_schema()))
