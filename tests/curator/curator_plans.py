"""Plans that together use every statistic, filter, grid and bound."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from spec_text import make_spec

from dpql.model.plan import Plan
from dpql.planner import plan

COLUMNS = {
    "region": '{type: category, keys: [north, "élan", 日本, "1"]}',
    "kind": "{type: category, keys: [a, b]}",
    "age": "{type: integer, bounds: [16, 100], unit: year, nulls: drop}",
    "kids": "{type: integer, bounds: [-3, 12], step: 3, nulls: {as: 1}}",
    "wage": "{type: decimal, bounds: [0, 20000], step: 0.01, nulls: {as: 12.34}}",
    "score": "{type: float, bounds: [-50.5, 150], nulls: drop}",
    "wide": "{type: float, bounds: [-2e307, 2e307], nulls: {as: 1}}",
    "big": "{type: integer, bounds: [0, 1e18], nulls: {as: 7}}",
}
ROWS = {
    "everyone": {"count": "rows"},
    "grown": {"count": "rows", "where": "age >= 17.5 and age < 65 or kids == 3"},
    "total_age": {"sum": "age"},
    "total_score": {"sum": "score", "by": "[region]"},
    "total_wide": {"sum": "wide"},
    "total_big": {"sum": "big", "where": "big > 5"},
    "mean_wage": {"mean": "wage", "where": "wage between 0.1 and 19999.99"},
    "mean_kids": {"mean": "kids", "where": "not (region == north or kids is null)"},
    "spread_score": {"variance": "score", "where": "score != 0.1"},
    "spread_wage": {"variance": "wage", "by": "[region, kind]"},
    "ages": {"histogram": "age", "bins": "[16, 18, 65, 100]"},
    "some_kids": {"histogram": "kids", "bins": "[-1, 2, 5]", "where": "kind != a"},
    "scores": {"histogram": "score", "bins": "[-50.5, 0, 0.1, 20]"},
    "wages": {"histogram": "wage", "bins": "[0, 0.1, 12.34, 20000]", "by": "[kind]"},
    "many": {"histogram": "score", "bins": f"[{', '.join(map(str, range(-50, 151)))}]"},
    "regions": {"histogram": "region", "where": 'region in [north, "1"]'},
    "twice": {"histogram": "region", "by": "[region]"},
    "cross": {"count": "rows", "by": "[kind, region]", "where": "score is null"},
    "typical_age": {"quantile": "age", "at": "[1/4, 1/2, 9/10]", "by": "[region]"},
    "middle_score": {"median": "score", "where": "kind == a"},
    "middle_wage": {"median": "wage", "by": "[kind]"},
    "adults": {"proportion": "age >= 18", "by": "[region]"},
    "either": {"proportion": "not (kids == 3 and age > 40) or region == north"},
    "rare": {
        "proportion": "score is null or wage in [12.34, 0]",
        "where": "kind != b",
        "by": "[kind, region]",
    },
    "none": {"count": "rows", "where": "age == 17.5 or age > 1e300"},
    "places": {"distinct": "region", "by": "[kind]"},
    "years": {"distinct": "age", "where": "kids >= 0"},
    "sizes": {"distinct": "kids", "by": "[region, kind]"},
}
KNOWN = {
    "total": {"sum": "kids"},
    "average": {"mean": "wage"},
    "spread": {"variance": "wage"},
    "together": {"covariance": "[kids, wide]"},
    "few_kids": {"proportion": "kids <= 0 or not region == north"},
    "asked": {"proportion": "age > 30", "where": "kids > 0"},
    "typical": {"quantile": "kids", "at": "[1/3, 0.75]"},
    "few": {"count": "rows", "where": "kids <= 0"},
    "in_kind": {"mean": "wide", "by": "[kind]"},
}
KNOWN_UNITS = {
    **{name: ask for name, ask in KNOWN.items() if "covariance" not in ask},
    "everyone": {"count": "rows"},
    "signed": {"sum": "wide"},
}
"""Where units have several rows n is private: no covariance, and a count of all."""


def asked(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return what is asked of a statistic, with a share; no proportion is snapped."""
    own = {"mechanism": "geometric"} if "proportion" in wanted else {}
    return {**wanted, **own, "spend": "{share: 1}"}


ALL_FILLED = {
    name: text.replace("nulls: drop", "nulls: {as: 20}")
    for name, text in COLUMNS.items()
}


def _shared(statistics: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {
        name: {**members, "spend": "{share: 1}"} for name, members in statistics.items()
    }


@cache
def row_plan(mechanism: str = "geometric") -> Plan:
    """Return a plan of all statistics where each row is a unit."""
    return plan(make_spec(COLUMNS, _shared(ROWS), epsilon="10", mechanism=mechanism))


@cache
def known_plan(rows: int, mechanism: str = "geometric") -> Plan:
    """Return a plan of the statistics of a public number of rows."""
    return plan(
        make_spec(
            ALL_FILLED,
            _shared(KNOWN),
            rows=f"{{exactly: {rows}}}",
            neighbours="replace_one",
            epsilon="10",
            mechanism=mechanism,
        )
    )


@cache
def unit_plan(rows: int = 2, groups: int = 2) -> Plan:
    """Return the same plan where units have several rows."""
    return plan(
        make_spec(
            {"person": "{type: id}", **COLUMNS},
            _shared(ROWS),
            unit="person",
            contributes=f"{{rows: {rows}, groups: {groups}}}",
            epsilon="10",
        )
    )


@cache
def known_unit_plan(count: int, rows: int = 2) -> Plan:
    """Return a plan with several rows a unit and a public number in the source."""
    return plan(
        make_spec(
            {"person": "{type: id}", **ALL_FILLED},
            _shared(KNOWN_UNITS),
            rows=f"{{exactly: {count}}}",
            unit="person",
            contributes=f"{{rows: {rows}, groups: 1}}",
            neighbours="replace_one",
            epsilon="10",
        )
    )
