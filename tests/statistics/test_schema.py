"""The schemas of plans and reports know the statistics of the table, and no others."""

from __future__ import annotations

from typing import Any

from dpql.statistics import STATISTICS
from dpql.statistics.schema import name_statistics


def test_names_are_those_of_the_table() -> None:
    """In the statistic of a spec and in the step of a plan."""
    definitions: dict[str, Any] = {"statistic": {"properties": {}}}
    definitions["step"] = {"properties": {"name": {}}}
    name_statistics(definitions)
    names = {"enum": list(STATISTICS)}
    assert names == definitions["statistic"]["properties"]["kind"]
    assert names == definitions["step"]["properties"]["statistic"]
    assert {} == definitions["step"]["properties"]["name"]
