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
"""The columns of a project that has no schema yet."""

_COLUMNS = {
    "id": "{type: id}",
    "category": "{type: category, keys: [north, south]}  # the public keys",
    "integer": "{type: integer, bounds: [0, 100], nulls: drop}  # public bounds",
    "float": "{type: float, bounds: [0, 1000], nulls: drop}  # public bounds",
}

_SPEC = """\
dpql: 1
release: first_release
purpose: Say who asks for these numbers and why.
data:
  source: {source}                 # bound at run time: --data {source}=FILE
  rows: {{at_most: 1_000_000}}      # a public ceiling
  columns:
{columns}
privacy:
  unit: {unit}
{contributes}  neighbours: add_remove
  epsilon: 1                      # total for this release
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


def spec_text(columns: dict[str, str], source: str) -> str:
    """Return a spec that is sound and says where to put what only people know.

    The first column called an id, if any, is the protected unit. Columns of unknown
    type are left out, as comments.
    """
    kinds = dict(columns)
    unit = next((n for n in kinds if n.lower().endswith("id")), None)
    if unit is not None:
        kinds[unit] = "id"
    known = {name: kind for name, kind in kinds.items() if kind in _COLUMNS}
    lines = [f"    {_name(name)}: {_COLUMNS[kind]}" for name, kind in known.items()]
    lines += [
        f"    # {_name(name)}: {{type: …}}" for name in kinds if name not in known
    ]
    if not known:
        lines.insert(0, "    row_id: {type: id}")
        unit = unit or "row_id"
    groups = [name for name, kind in known.items() if kind == "category"][:1]
    return _SPEC.format(
        source=source,
        columns="\n".join(lines),
        unit="row" if unit is None else _name(unit),
        contributes="" if unit is None else "  contributes: {rows: 1, groups: 1}\n",
        by=f"    by: [{_name(groups[0])}]\n" if groups else "",
    )


def _name(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
