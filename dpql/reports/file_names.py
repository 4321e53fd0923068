"""The files of a release folder, and what each kind of statement is about."""

from __future__ import annotations

import re

ENVELOPE_NAME = "release.dsse.json"
CSV_NAME = "release.csv"
PARQUET_NAME = "release.parquet"
HTML_NAME = "report.html"
PLAN_NAME = "plan.json"

TABLES = (CSV_NAME, PARQUET_NAME)
"""The files with the values."""

SIGNED = (*TABLES, HTML_NAME)
"""The files whose digests a release or a rehearsal signs."""

FOLDER = (ENVELOPE_NAME, *SIGNED)
"""All that a release folder holds."""


def safe_name(name: str) -> str:
    """Return the name of a folder that is one, whatever the plan is called."""
    return re.sub(r"[^A-Za-z0-9_.-]|\.{2,}|^\.", "_", name, flags=re.ASCII)
