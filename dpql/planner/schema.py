"""The JSON Schema of a plan.

Run ``python -m dpql.planner.schema DIRECTORY`` to write the schema anew.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from dpql.model.codec import canonical, kind_of
from dpql.model.plan import VERSION, Plan
from dpql.model.pure import allow_pure
from dpql.model.schema import schema_of
from dpql.statistics.schema import name_statistics


def plan_schema() -> dict[str, Any]:
    """Return the schema of today's plans; it is checked in under schemas/.

    ``plan.v1.schema.json`` beside it is that of format 1, and stays as it was.
    """
    definitions: dict[str, Any] = {}
    root = schema_of(Plan, definitions)
    definitions[kind_of(Plan)]["properties"]["version"] = {"const": str(VERSION)}
    name_statistics(definitions)
    allow_pure(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpql:schema:plan:v{VERSION}",
        "title": f"dpql plan, version {VERSION}",
        "description": "Exact numbers are text: whole, or a fraction in lowest terms.",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


if __name__ == "__main__":
    target = Path(sys.argv[1]) / f"plan.v{VERSION}.schema.json"
    target.write_bytes(canonical(plan_schema()))
