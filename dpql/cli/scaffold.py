"""The files that `dpql init` makes."""

from __future__ import annotations

import json
import re

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

EXAMPLE = {
    "person_id": "id",
    "district": "category",
    "age": "integer",
    "wage": "float",
}
"""The columns of a project that has no data yet."""

_COLUMNS = {
    "id": "{type: id}",
    "category": "{type: category, keys: [north, south]}  # the public keys",
    "integer": "{type: integer, bounds: [0, 100], nulls: drop}  # public bounds",
    "float": "{type: float, bounds: [0, 1000], nulls: drop}  # public bounds",
}

_OPEN = {
    "id": "{type: id}",
    "category": "{type: category}",
    "integer": "{type: integer, nulls: drop}",
    "float": "{type: float, nulls: drop}",
}
"""What a header tells of a column; bounds and keys only people know."""

_UNKNOWN = "{type: unknown}"
_ID = re.compile(r"(?:^|[^a-z])id$", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z]I[dD]$")

_SPEC = """\
dpql: 1
release: first_release
purpose: Say who asks for these numbers and why.
data:
  source: {source}  # bound at run time: --data {source}=FILE
  rows: {{at_most: 1_000_000}}  # a public ceiling
  columns:{advice}
{columns}
privacy:
  unit: {unit}
{contributes}  neighbours: add_remove
  epsilon: 1  # total for this release
  delta: 0
defaults: {{alpha: 0.05, gamma: 1e-9, mechanism: auto}}
statistics:
  rows:
    count: rows
{by}    spend: {{share: 1}}
"""

PRE_COMMIT = """\
# Needs dpql on the path; `pre-commit install` switches it on.
repos:
  - repo: local
    hooks:
      - id: dpql-check
        name: dpql check
        entry: dpql check --format concise
        language: system
        files: ^specs/.*\\.(yaml|yml|dpql)$
      - id: dpql-fmt
        name: dpql fmt
        entry: dpql fmt
        language: system
        files: ^specs/.*\\.(yaml|yml|dpql)$
      - id: dpql-plan
        name: dpql plan --check
        entry: dpql plan --check
        language: system
        files: ^specs/.*\\.(yaml|yml|dpql)$
"""

WORKFLOW = """\
name: specs
on:
  pull_request:
    paths: ["specs/**"]
permissions:
  contents: read
jobs:
  review:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - run: pip install dpql
      - run: dpql check specs --format github
      - run: dpql fmt --check specs
      - run: dpql plan --check specs
      - name: what the change means
        run: |
          dpql diff --base "origin/$GITHUB_BASE_REF" specs --format markdown \\
            >> "$GITHUB_STEP_SUMMARY"
          dpql diff --base "origin/$GITHUB_BASE_REF" specs --fail-on weaker
"""

IGNORED = """\
# Private keys, the ledger and data stay on the owner's machine.
/keys/*
!/keys/*.pub
/ledger.sqlite*
/data/
"""


def example(source: str) -> str:
    """Return a sound spec of some columns, to be replaced by one's own."""
    lines = [f"    {name}: {_COLUMNS[kind]}" for name, kind in EXAMPLE.items()]
    return _filled(lines, source=source, unit="person_id", group="district")


def spec_text(columns: dict[str, str], source: str) -> str:
    """Return a spec of the columns in a header; it lacks what only people know.

    The first column called an id, if any, is the protected unit. Bounds, keys and the
    types of text files are left out, so that `dpql check` asks for each.
    """
    unit = next((n for n in columns if _ID.search(n) or _CAMEL.search(n)), None)
    kinds = {**columns, **({} if unit is None else {unit: "id"})}
    lines = [
        f"    {_name(name)}: {_OPEN.get(kind, _UNKNOWN)}"
        for name, kind in kinds.items()
    ]
    advice = "  # `dpql check` asks for what is missing; delete what is not needed"
    return _filled(lines, source=source, unit=unit, group=None, advice=advice)


def _filled(
    columns: list[str],
    *,
    source: str,
    unit: str | None,
    group: str | None,
    advice: str = "",
) -> str:
    return _SPEC.format(
        source=source,
        advice=advice,
        columns="\n".join(columns),
        unit="row" if unit is None else _name(unit),
        contributes="" if unit is None else "  contributes: {rows: 1, groups: 1}\n",
        by=f"    by: [{_name(group)}]\n" if group else "",
    )


def _name(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
