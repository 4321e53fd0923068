"""The names of the files in a release folder."""

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
"""All files of a release folder."""


def safe_name(name: str) -> str:
    """Return a name without the characters that a folder name should not have."""
    return re.sub(r"[^A-Za-z0-9_.-]|\.{2,}|^\.", "_", name, flags=re.ASCII)
