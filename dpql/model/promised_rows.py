"""A promised number of rows (`at_least`): what rests on it, and what contradicts it.

Nobody checks the promise on the data. But the noisy count of every group is released,
so a group can be marked where it says otherwise; that costs no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING
from fractions import Fraction

from dpql.model.notation import plain
from dpql.model.plan import PartsOfOne, Readout, Step


def condition_words(step: Step) -> str | None:
    """Return on what the stated accuracy rests, or None where it holds anyway."""
    if step.at_least is None or step.accuracy is None:
        return None
    return f"if every group has at least {_rows(step.at_least)}"


def noisy_rows(
    readout: Readout, noisy: Sequence[Fraction], half_width: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the noisy number of rows of a group, and how far off it may be.

    ``half_width`` is that of the first part, which is the count unless the parts are
    those of one.
    """
    if not isinstance(readout, PartsOfOne):
        return noisy[0], half_width
    return sum(noisy, Fraction(0)) / readout.per_row, readout.rows_within


def contradiction(
    promised: int | None, noisy_count: Fraction, half_width: Fraction
) -> str | None:
    """Return the mark of a group that has fewer rows than promised, or None.

    The rule is ``noisy count + half width < promised``. The half-width is that of the
    count at its level, so a group that keeps the promise is marked with at most the
    probability of that level.
    """
    if promised is None or noisy_count + half_width >= promised:
        return None
    count, off = plain(noisy_count, 7), plain(half_width, 7, ROUND_CEILING)
    return (
        f"fewer than the promised {_rows(promised)} here (noisy count {count} ± "
        f"{off}): the stated ± does not hold, the interval does"
    )


def contradictions_words(marked: int, groups: int, promised: int) -> str:
    """Return the summary above a table in which groups are marked."""
    return (
        f"{marked} of {groups} groups: the noisy count contradicts the promised "
        f"{_rows(promised)}, so the stated ± does not hold there"
    )


def _rows(count: int) -> str:
    return f"{count:,}".replace(",", " ") + (" row" if count == 1 else " rows")
