"""The names of statistics in the JSON Schemas of plans and reports."""

from __future__ import annotations

from typing import Any

from dpql.model.codec import kind_of
from dpql.model.plan import Step
from dpql.model.spec import Statistic
from dpql.statistics import STATISTICS


def name_statistics(definitions: dict[str, Any]) -> None:
    """Let a statistic of a spec and a step of a plan be one of the table."""
    names = {"enum": list(STATISTICS)}
    definitions[kind_of(Statistic)]["properties"]["kind"] = names
    definitions[kind_of(Step)]["properties"]["statistic"] = names
