"""Values that say nothing: their interval is the whole range that was possible.

The range of a statistic is public before any data are read, so an interval as wide
tells a reader what everybody knew. That follows from released numbers alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from dpql.model.plan import Step

NOTE = "says nothing: the interval is the whole range that is possible"
"""What stands beside such a value."""


class Interval(Protocol):
    """Whatever has two ends."""

    @property
    def lower(self) -> Fraction:
        """The lower end."""

    @property
    def upper(self) -> Fraction:
        """The upper end."""


def is_vacuous(step: Step, value: Interval) -> bool:
    """Tell whether the interval of a value holds all values that are possible.

    Quantiles have no interval: their promise is about ranks.
    """
    if step.picks or value.lower > step.lower or value.upper < step.upper:
        return False
    return step.lower < step.upper


def vacuous_words(count: int, values: int) -> str | None:
    """Return how many values of a statistic say nothing, None if all say something."""
    if count == 0:
        return None
    if values == 1:
        return NOTE
    which = (
        f"all {values} values say"
        if count == values
        else (f"{count} of {values} values {'says' if count == 1 else 'say'}")
    )
    return f"{which} nothing: the interval is the whole range that is possible"


def promises_nothing(step: Step) -> bool:
    """Tell whether a plan's promise is no better than naming the middle of the range.

    Then a constant, published without data, would be as close.
    """
    if step.accuracy is None or step.picks:
        return False
    return step.accuracy * 2 >= step.upper - step.lower
