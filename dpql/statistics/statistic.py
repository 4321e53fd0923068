"""What a statistic is: a module with these names."""

from __future__ import annotations

from typing import Protocol

from dpql.model.spec import StatisticKind
from dpql.statistics.setting import Description, Setting


class Statistic(Protocol):
    """A statistic of the table.

    Attributes:
        NAME: its word in a spec.
        POWER: the most grid numbers multiplied in one moment; 0 when none is summed.
    """

    NAME: StatisticKind
    POWER: int

    def describe(self, setting: Setting) -> Description:
        """Return what the engine must count and what becomes of it."""
        ...
