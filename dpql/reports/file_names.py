"""The names of the files in a release folder."""

from __future__ import annotations

import re

from dpql.model.plan import Plan
from dpql.model.release_tables import TIDY_FROM

ENVELOPE_NAME = "release.dsse.json"
CSV_NAME = "release.csv"
PARQUET_NAME = "release.parquet"
HTML_NAME = "report.html"
DICTIONARY_NAME = "dictionary.md"
PLAN_NAME = "plan.json"

TABLES = (CSV_NAME, PARQUET_NAME)
"""The files with all values."""

OLDER = (*TABLES, HTML_NAME)
"""The files that releases of formats 2 and 3 sign; those of format 1 sign no page."""

FOLDER = (ENVELOPE_NAME, *OLDER, DICTIONARY_NAME)
"""The files of every release folder of today, beside those of single statistics."""

TABLE = "table-"
"""How the name of a statistic's own table begins."""

_TABLE = re.compile(TABLE + r"[A-Za-z_][A-Za-z0-9_.-]{0,63}(~[1-9][0-9]*)?\.csv")


def table_names(plan: Plan) -> dict[str, str]:
    """Return the file of every statistic's own table.

    Names that a file system might take for one another are numbered.
    """
    found: dict[str, str] = {}
    seen: dict[str, int] = {}
    for step in plan.steps:
        folded = step.name.casefold()
        seen[folded] = number = seen.get(folded, 0) + 1
        end = f"~{number}" if number > 1 else ""
        found[step.name] = f"{TABLE}{step.name}{end}.csv"
    return found


def signed_names(plan: Plan) -> tuple[str, ...]:
    """Return the files whose digests a release of a plan signs, in order."""
    if plan.version == 1:
        return TABLES
    if plan.version < TIDY_FROM:
        return OLDER
    return tuple(sorted((*OLDER, DICTIONARY_NAME, *table_names(plan).values())))


def may_be_signed(name: str) -> bool:
    """Tell whether some release may sign a file of this name."""
    return name in {*OLDER, DICTIONARY_NAME} or bool(_TABLE.fullmatch(name))


def safe_name(name: str) -> str:
    """Return a name without the characters that a folder name should not have."""
    return re.sub(r"[^A-Za-z0-9_.-]|\.{2,}|^\.", "_", name, flags=re.ASCII)
