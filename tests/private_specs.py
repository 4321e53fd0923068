"""Small specs whose keys are found in the data, and data for them."""

from __future__ import annotations

import spec_text

from dpql.model.plan import Plan
from dpql.planner import plan

COLUMNS = {
    "dest": "{type: category, keys: private%s}",
    "origin": "{type: category, keys: private}",
    "carrier": "{type: category, keys: [UA, AA]}",
    "delay": "{type: integer, bounds: [0, 100], nulls: drop}",
    "plane": "{type: id}",
}
SHARE = "{share: 1}"

LISTED = {"found": {"list": "keys", "by": "[dest]", "spend": SHARE}}
STATISTICS = {
    "flights": {"count": "units", "by": "[dest]", "spend": SHARE},
    "delays": {"sum": "delay", "by": "[carrier, dest]", "spend": SHARE},
    "routes": {"count": "units", "by": "[origin, dest]", "spend": SHARE},
    "planes": {"count": "units", "spend": SHARE},
}
"""Two searches, one of two columns; a sum by declared and private keys; one number."""


def private_text(
    *, listed: bool = False, others: bool = False, shown_from: int = 1, **options: str
) -> str:
    """Return the YAML of a spec with private columns."""
    columns = dict(COLUMNS, dest=COLUMNS["dest"] % (", others: true" * others))
    statistics = {**(LISTED if listed else {}), **STATISTICS}
    first = next(iter(statistics))
    if shown_from > 1:
        statistics[first] = {**statistics[first], "shown_from": f"{shown_from}"}
    given = {
        "rows": "{at_most: 100000}",
        "unit": "plane",
        "contributes": "{rows: 2, groups: 3}",
        "epsilon": "4",
        "delta": "1e-6",
        "mechanism": "geometric",
        **options,
    }
    if given["unit"] == "row":
        del given["contributes"]
        statistics = {
            name: {**one, "count": "rows"} if "count" in one else one
            for name, one in statistics.items()
        }
    return spec_text.spec_text(columns, statistics, **given)  # type: ignore[arg-type]


def private_plan(
    *, listed: bool = False, others: bool = False, shown_from: int = 1, **options: str
) -> Plan:
    """Return the plan of a spec with private columns."""
    from dpql.language import load_text

    text = private_text(listed=listed, others=others, shown_from=shown_from, **options)
    return plan(load_text(text, form="yaml"))


FREQUENT = ("JFK", "LAX", "SFO")
"""Keys of so many planes that they are always shown."""

RARE = "RNO"
"""The key of one plane."""


def frame(planes: int = 300) -> dict[str, list[object]]:
    """Return rows: planes of each frequent key, and one plane of a rare one."""
    dests = [dest for dest in FREQUENT for _ in range(planes)] + [RARE]
    count = len(dests)
    return {
        "dest": dests,
        "origin": ["EWR"] * count,
        "carrier": [("UA", "AA")[n % 2] for n in range(count)],
        "delay": [n % 100 for n in range(count)],
        "plane": [f"N{n}" for n in range(count)],
    }
