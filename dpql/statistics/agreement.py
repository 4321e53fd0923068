"""Totals and groups of a release, moved so that the groups add up to the total.

It is a function of released numbers alone: the noisy ones stay as they were drawn. What
is moved is not clamped, else it would no longer add up; the interval is cut to the
public range.
Source: MATH-statistics 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from dpql.model.many_values import Deferred, ManyValues
from dpql.model.plan import Affine, Step
from dpql.model.release import Result, Value
from dpql.statistics.tails import Tail
from dpql.statistics.totals import REACH_BITS, half_width, share_of


def agreed(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return the results, those of totals and of their groups moved."""
    by_name = {result.name: result for result in results}
    for whole in results:
        if whole.step.total_of is not None:
            groups = by_name[whole.step.total_of]
            moved = _moved(whole, groups)
            by_name[whole.name] = _deferred(whole, moved, 0)
            by_name[groups.name] = _deferred(groups, moved, 1)
    return tuple(by_name.values())


def reach_of(
    groups: Step, level: Fraction, *, epsilon: Fraction | None = None
) -> Fraction:
    """Return how far noise takes any moved result at a level, in units of its measure.

    The epsilon is that of the groups where no other is tried.

    The total's noise is as large as that of a group, or smaller where so many rows as
    one unit may bring are more than there can be.
    """
    (part,) = groups.parts
    spent = part.epsilon if epsilon is None else epsilon
    assert spent is not None, "it is geometric noise"
    theta = spent / (part.measure.l0 * part.measure.sensitivity)
    width = half_width(Tail.of(theta), groups.cells, level)
    return Fraction(-(-width * (1 << REACH_BITS) // 1), 1 << REACH_BITS)


_Moved = Callable[[], tuple[Sequence[Value], Sequence[Value]]]


def _deferred(result: Result, moved: _Moved, which: int) -> Result:
    values = Deferred(len(result.values), lambda: moved()[which])
    return replace(result, values=values)


def _moved(whole: Result, groups: Result) -> _Moved:
    """Return what makes the moved values of a total and of its groups, once."""

    @cache
    def made() -> tuple[Sequence[Value], Sequence[Value]]:
        (total,) = whole.values
        many = ManyValues.of(groups.values)
        often = Counter(many.which)
        added = sum(kind.noisy[0] * often[n] for n, kind in enumerate(many.kinds))
        share = share_of(total.noisy[0], Fraction(added), len(many))
        reach = reach_of(groups.step, groups.step.alpha)
        return (
            (_read(whole.step, total, total.noisy[0] - share, reach),),
            many.of_kinds(
                lambda kind: _read(groups.step, kind, kind.noisy[0] + share, reach)
            ),
        )

    return made


def _read(step: Step, value: Value, found: Fraction, reach: Fraction) -> Value:
    readout = step.readout
    assert isinstance(readout, Affine), "totals are of counts and sums"
    point = readout.offset + readout.scale * found
    off = readout.scale * reach + step.quantisation
    return replace(
        value,
        value=point,
        lower=min(max(point - off, step.lower), step.upper),
        upper=min(max(point + off, step.lower), step.upper),
    )
