"""Specs that the tests of the language start from."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "specs").glob("*.yaml"))


def beside(name: str) -> bytes:
    """Return a file that a spec of the gallery names."""
    return (ROOT / "specs" / name).read_bytes()


REFERENCE = """\
dpql: 1
release: district_wages_2025
purpose: Monthly wage tables by district.
data:
  source: wages
  rows: {at_most: 2_000_000}
  columns:
    person_id: {type: id}
    district:  {type: category, keys: [north, east, south, west]}
    age:       {type: integer, bounds: [16, 100], unit: year, nulls: drop}
    wage:      {type: decimal, bounds: [0, 20_000], step: 0.01, nulls: {as: 0}}
privacy:
  unit: person_id
  contributes: {rows: 3, groups: 1}
  neighbours: add_remove
  epsilon: 1.0
  delta: 0
defaults: {alpha: 0.05, gamma: 1e-9}
statistics:
  headcount:
    count: rows
    by: [district]
    spend: {accuracy: 60}
  wage_mean:
    mean: wage
    where: age >= 18 and district == north
    at_least: 500
    spend: {share: 2}
  prime_age:
    count: rows
    where: age between 25 and 54
    spend: {epsilon: 0.1}
  ages:
    histogram: age
    bins: [16, 25, 65, 100]
    mechanism: geometric
    spend: {share: 1}
  people:
    count: units
    by: [district]
    spend: {share: 1}
"""
"""A spec that holds the right example of nearly every code of the language."""

PRIVATE = (
    REFERENCE.replace("[north, east, south, west]", "private")
    .replace("delta: 0", "delta: 1e-9")
    .replace(" and district == north", "")
)
"""The same with districts that nobody can list; `people` finds them."""

KNOWN_N = """\
dpql: 1
release: survey
purpose: A survey of public size.
data:
  source: survey
  rows: {exactly: 100}
  columns:
    age:    {type: integer, bounds: [18, 98], nulls: {as: 50}}
    income: {type: float, bounds: [0, 10_000], nulls: {as: 0}}
privacy:
  unit: row
  neighbours: replace_one
  epsilon: 1
  delta: 0
defaults: {alpha: 0.05, gamma: 1e-9}
statistics:
  both:
    covariance: [age, income]
    spend: {share: 1}
  spread:
    variance: age
    spend: {share: 1}
"""
"""A spec under replace_one."""


def replaced(text: str, right: str, wrong: str) -> str | None:
    """Return the text with the first ``right`` made ``wrong``, at its indentation."""
    for whole_line in (True, False):
        for indent in ("", "  ", "    "):
            old, new = (_indented(part, indent) for part in (right, wrong))
            if whole_line:
                old, new = f"\n{old}\n", f"\n{new}\n"
            if old in f"\n{text}":
                return f"\n{text}".replace(old, new, 1)[1:]
    return None


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line for line in text.split("\n"))
