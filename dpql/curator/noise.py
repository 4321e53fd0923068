"""From exact sums to noisy values: the last place where an exact number exists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpql.curator.engines import KeyCounts
from dpql.mechanisms import CHOOSERS, MECHANISMS, SEARCHES
from dpql.mechanisms.bits import Bits
from dpql.model.characters import look
from dpql.model.columns import OTHERS
from dpql.model.many_values import Deferred, ManyValues
from dpql.model.plan import Measure, Part, Pick, Plan, Step, Term
from dpql.model.release import Result, ShownKeys, Value, cells
from dpql.model.spec import Data
from dpql.statistics.keys import KEYS
from dpql.statistics.reading import reader_of
from dpql.statistics.readout import Reading

Moments = Mapping[str, Sequence[int]]
"""The sum of each moment of a step, for every cell in the order of the plan."""

Counts = NDArray[np.int64]
"""The rows of every cell, in the order of the plan, by candidate."""

H = TypeVar("H", int, tuple[int, ...])

MANY = 10_000
"""From so many cells on, the time of a draw is hidden among the others."""


def perturbed(
    step: Step, moments: Moments, data: Data, bits: Bits, shown: ShownKeys | None = None
) -> Result:
    """Return the released values of a step: noise is drawn for each of its cells.

    A total has one, in which all cells of its groups are added up.
    """
    if step.total_of is not None:
        moments = {name: [sum(map(int, cells))] for name, cells in moments.items()}
    count = step.cells * (1 if shown is None else len(shown.groups))
    noisy = [_drawn(part, moments, count, bits) for part in step.parts]
    return Result(
        step=step, values=Deferred(count, lambda: _values(step, noisy, data, shown))
    )


def chosen(
    step: Step, counts: Counts, data: Data, bits: Bits, shown: ShownKeys | None = None
) -> Result:
    """Return the quantiles of a step: each is chosen for each of its cells.

    Those of a cell are sorted: no rank is farther off then than the farthest was.
    """
    picked = [_picked(pick, counts, bits) for pick in step.picks]
    indices = [index for cell in zip(*picked, strict=True) for index in sorted(cell)]
    return Result(
        step=step,
        values=Deferred(len(indices), lambda: _quantiles(step, indices, data, shown)),
    )


def found(plan: Plan, present: Sequence[KeyCounts], bits: Bits) -> dict[str, Result]:
    """Return the keys that every search of a plan shows, by the name of its step."""
    searches = [step for step in plan.steps if step.search is not None]
    return {
        step.name: _found(step, keys, plan.spec.data, bits)
        for step, keys in zip(searches, present, strict=True)
    }


def _found(step: Step, present: KeyCounts, data: Data, bits: Bits) -> Result:
    """Return the keys that a step shows, in their order, and their noisy counts.

    Every key that is present draws, and no other; nothing says how many there are. What
    readers would take for `others` is not shown, whoever has it. Of more keys than the
    plan lets be shown, those of the largest noisy counts stay.
    """
    search = step.search
    assert search is not None, "the step finds keys"
    finder = SEARCHES[search.noise.mechanism]
    noise = finder.restore(dict(search.noise.parameters))
    # What a key has below the least number of units is as if nobody had it.
    units = present.counts - (search.shown_from - 1)
    there = np.flatnonzero(units > 0)
    most = max(1, int(step.upper))
    indices, counts = finder.find(noise, units.take(there), bits, most=most)
    if step.statistic != KEYS:
        counts = counts + (search.shown_from - 1)
    keys = present.keys(there.take(indices))
    shown = sorted(zip(keys, counts.tolist(), strict=True))
    if any(map(data.has_others, step.by)):
        shown = [one for one in shown if not any(map(_looks_like_others, one[0]))]
    if len(shown) > search.most:
        shown.sort(key=lambda one: -one[1])
        shown = sorted(shown[: search.most])
    read = reader_of(step)

    def value_of(count: int) -> Value:
        noisy = (Fraction(count),)
        return _value((), noisy, read(noisy))

    def values() -> ManyValues[Value]:
        drawn = [count for _, count in shown]
        return _many([key for key, _ in shown], drawn, value_of)

    return Result(step=step, values=Deferred(len(shown), values))


def _looks_like_others(word: str) -> bool:
    return look(word) == OTHERS


def _value(
    cell: tuple[str, ...], noisy: tuple[Fraction, ...], reading: Reading
) -> Value:
    return Value(
        cell=cell,
        noisy=noisy,
        value=reading.value,
        lower=reading.lower,
        upper=reading.upper,
    )


def totals(measure: Measure, moments: Moments, count: int) -> list[int]:
    """Return a measure for every cell, scaled, rounded and clamped into its range.

    Clamping never moves two numbers apart, so the sensitivity stays; it acts only
    when there are more rows than the public ceiling.
    """
    sums = _each(add, [_product(term, moments, count) for term in measure.terms])
    top, bottom = measure.scale.numerator, measure.scale.denominator
    if top != 1 or bottom != 1:
        sums = [(2 * top * x + bottom) // (2 * bottom) for x in sums]
    lower, upper = measure.lower, measure.upper
    return [min(max(x, lower), upper) for x in sums]


def _product(term: Term, moments: Moments, count: int) -> Sequence[int]:
    factors = [moments[name] for name in term.moments]
    if term.coefficient != 1 or not factors:
        factors.append([term.coefficient] * count)
    return _each(mul, factors)


def _each(
    operation: Callable[[int, int], int], columns: Sequence[Sequence[int]]
) -> Sequence[int]:
    """Return the columns joined cell by cell."""
    assert columns, "measures have terms"
    return reduce(lambda one, other: list(map(operation, one, other)), columns)


def _drawn(part: Part, moments: Moments, count: int, bits: Bits) -> list[int]:
    """Return the step of the noisy outcome for every cell, empty ones too."""
    mechanism, noise = _mechanism(part)
    values = totals(part.measure, moments, count)
    if count < MANY:
        return [mechanism.perturb(noise, value, bits) for value in values]
    lower, upper = part.measure.lower, part.measure.upper
    steps = mechanism.perturb_many(noise, values, bits, lower=lower, upper=upper)
    drawn: list[int] = steps.tolist()
    return drawn


def _picked(pick: Pick, counts: Counts, bits: Bits) -> list[int]:
    """Return the index of the candidate for every cell, empty ones too."""
    chooser = CHOOSERS[pick.noise.mechanism]
    noise = chooser.restore(dict(pick.noise.parameters))
    if len(counts) < MANY:
        return [chooser.choose(noise, cell, bits) for cell in counts]
    return chooser.choose_many(noise, counts, bits)


def _quantiles(
    step: Step, indices: Sequence[int], data: Data, shown: ShownKeys | None
) -> ManyValues[Value]:
    read = reader_of(step)

    def value_of(index: int) -> Value:
        noisy = (Fraction(index),)
        return _value((), noisy, read(noisy))

    return _many(cells(step, data, shown=shown), indices, value_of)


def _values(
    step: Step,
    noisy: Sequence[Sequence[int]],
    data: Data,
    shown: ShownKeys | None,
) -> ManyValues[Value]:
    """Return value and interval of every cell; equal noisy numbers are read once."""
    mechanisms = [_mechanism(part) for part in step.parts]
    read = reader_of(step)

    def value_of(numbers: tuple[int, ...]) -> Value:
        outcomes = tuple(
            mechanism.outcome(noise, number)
            for (mechanism, noise), number in zip(mechanisms, numbers, strict=True)
        )
        return _value((), outcomes, read(outcomes))

    numbers = list(zip(*noisy, strict=True))
    return _many(cells(step, data, shown=shown), numbers, value_of)


def _many(
    found: Iterable[tuple[str, ...]],
    drawn: Sequence[H],
    value_of: Callable[[H], Value],
) -> ManyValues[Value]:
    """Return the values of all cells from what was drawn for each."""
    index: dict[H, int] = {}
    which = [index.setdefault(one, len(index)) for one in drawn]
    return ManyValues(list(found), which, map(value_of, index))


def _mechanism(part: Part) -> tuple[Any, Any]:
    mechanism = MECHANISMS[part.noise.mechanism]
    return mechanism, mechanism.restore(dict(part.noise.parameters))
