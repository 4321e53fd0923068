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
    "boolean": "{type: boolean, nulls: drop}",
    "date": "{type: date, nulls: drop}",
    "time": "{type: time, step: minute, nulls: drop}",
}
"""What a header says of a column; bounds and keys only people know."""

_UNKNOWN = "{type: unknown}"
_ID = re.compile(r"(?:^|[^a-z])id$", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z]I[dD]$")

_EXAMPLE = """\
dpql: 1
release: {source}_by_district
purpose: Say who asks for these numbers and why.
data:
  source: {source}  # dpql.toml says where it is
  rows: {{at_most: 1_000_000}}  # a public ceiling
  columns:
{columns}
privacy:
  unit: person_id
  contributes: {{rows: 1, groups: 1}}
  neighbours: add_remove
  epsilon: 1  # total for this release
  delta: 0
defaults: {{alpha: 0.05, gamma: 1e-9, mechanism: auto}}
statistics:
  headcount:
    count: rows
    by: [district]
    spend: {{share: 1}}
"""

_INCOMPLETE = """\
# `dpql check` asks for what is missing here; delete the columns you do not need.
dpql: 1
release: {source}_1
# purpose: who asks for these numbers, and why
data:
  source: {source}  # dpql.toml says where it is
  # rows: a public number, or a public ceiling
  columns:
{columns}
privacy:
  # unit: whom to protect, an id column; or row, if nobody has two rows
  # epsilon: the total for this release
  neighbours: add_remove
  delta: 0
defaults: {{alpha: 0.05, gamma: 1e-9, mechanism: auto}}
statistics:
  rows:
    count: rows
    spend: {{share: 1}}
"""
"""A spec of which a header is known; the rest is for people to decide."""

_PROJECT = """\
# Settings for all commands in this folder and below it; without it they need flags.
# Flags win. Paths are relative to this file; a spec cannot change them.
key = "steward"             # keys/steward signs
trust = "allowed_signers"   # whose signatures count
ledger = "ledger.sqlite"    # or postgresql://HOST/DATABASE

[data]
{data}
"""


def project_text(source: str, location: str | None) -> str:
    """Return a project file; the line of the data is a remark until it is known."""
    name = source if _SIMPLE.fullmatch(source) else json.dumps(source)
    if location is None:
        return _PROJECT.format(data=f'# {name} = "data/{source}.csv"')
    located = json.dumps(location, ensure_ascii=False)
    return _PROJECT.format(data=f"{name} = {located}")


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
        files: ^specs/.*\\.(yaml|yml|dpql|plan\\.json)$
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
      # dpql is not on PyPI yet. Keep a wheel of the version you trust (`pip wheel`)
      # in the repository, or name your own index: no stranger's package gets in.
      - run: pip install ./wheels/dpql-*.whl
      - run: dpql check specs --format github
      - run: dpql fmt --check specs
      - run: dpql plan --check specs
      - name: what the change means
        run: |
          dpql diff --base "origin/$GITHUB_BASE_REF" specs --format markdown \\
            >> "$GITHUB_STEP_SUMMARY"
          # Fails on WEAKER and NEW specs: a person decides on those.
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
    return _EXAMPLE.format(source=source, columns="\n".join(lines))


def spec_text(columns: dict[str, str], source: str) -> str:
    """Return a spec of the columns in a header; it lacks what only people know.

    Columns called an id are ids. Whom to protect, how many rows there may be, the
    budget, bounds, keys and the types of text files are left out, so that `dpql check`
    asks for each.
    """
    lines = [
        f"    {_name(name)}: {_OPEN.get(_kind(name, kind), _UNKNOWN)}"
        for name, kind in columns.items()
    ]
    return _INCOMPLETE.format(source=source, columns="\n".join(lines))


def _kind(name: str, kind: str) -> str:
    return "id" if _ID.search(name) or _CAMEL.search(name) else kind


def _name(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
