"""What it costs to show keys from so many units on, or to count them so nearly."""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import round_up_to_digits
from dpql.mechanisms.mechanism import EPSILON_CEILING
from dpql.model.spec import Statistic
from dpql.planner.calibrate import stated_error
from dpql.statistics import Description

_SHORT = 9
_LEAST = Fraction(1, 1 << 30)
_FINE = Fraction(1, 1 << 21)
"""It is found to this part of itself."""


def price_of_keys(
    statistic: Statistic, description: Description, mechanism: str, within: Fraction
) -> Fraction:
    """Return the epsilon or rho of keys that are shown from so many units on.

    Of keys with counts it is that of counts which are so far off at most.
    """
    least = 0 if description.sought is None or description.sought.counts else 1

    def reaches(amount: Fraction) -> bool:
        try:
            error = stated_error(
                description, mechanism, amount, statistic=statistic, rows=None
            )
        except PlanFault:
            # So little would tell more than a million numbers of units apart.
            return False
        return error is not None and error <= within

    if within < least or not reaches(EPSILON_CEILING):
        raise PlanFault.of(
            "DPQL412",
            "the accuracy target needs an epsilon above 1000",
            hint="ask for a wider margin, or for a larger alpha",
        )
    high = EPSILON_CEILING
    while reaches(high / 2):
        high /= 2
        if high < _LEAST:
            raise PlanFault.of(
                "DPQL411",
                "the accuracy target allows every number that a key can have",
                hint="ask for a narrower margin, or drop it",
            )
    low = high / 2
    while high - low > _FINE * high:
        middle = round_up_to_digits((low + high) / 2, _SHORT)
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
