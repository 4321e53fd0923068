"""Quantiles of a column: values chosen by their ranks.

    a candidate of the column's grid, score = distance of its ranks from at * n

What is promised is the rank: with probability 1 - alpha, for all quantiles of a group,
at most `at` n + r rows are below value - h and at most (1 - at) n + r above value + h.
The n rows are those that hold a value and are left by bounding; h is half a candidate
step where candidates are thinned, and the grid's error.
Source: MATH-statistics 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from dpql.model import limits
from dpql.model.notation import number_text
from dpql.model.shape import Field, ListOf, Number
from dpql.statistics.option import Objection, Option, Usage, Value
from dpql.statistics.ranks import Ranks
from dpql.statistics.setting import Description, Setting
from dpql.statistics.statistic import Statistic


def describe(setting: Setting) -> Description:
    """Return how the quantiles of a setting are chosen."""
    return describe_at(setting, setting.at)


def describe_at(setting: Setting, at: tuple[Fraction, ...]) -> Description:
    """Return how these quantiles are chosen."""
    (grid,) = setting.grids
    ranks = Ranks.of(setting, at)
    return Description(
        measures=(),
        readout=ranks.readout,
        lower=grid.lower,
        upper=grid.upper,
        quantisation=ranks.candidates.error,
        sensitivity=None,
        unit=setting.unit_names[0],
        ranks=ranks,
    )


def _check_at(value: Value, usage: Usage) -> Iterator[Objection]:
    if value in ((), None):
        if usage.inputs:
            yield Objection(
                code="DPQL328",
                message="nothing says which quantiles",
                hint="add `at: [1/4, 1/2, 3/4]`, or write `median`",
            )
        return
    assert isinstance(value, tuple)
    for item, at in enumerate(value):
        if not 0 < at < 1:
            yield Objection(
                code="DPQL328",
                message=f"the quantile {number_text(at)} is not strictly between 0 "
                "and 1",
                hint="the smallest and the largest value cannot be released privately",
                item=item,
            )
        elif at.denominator > limits.FINEST_QUANTILE:
            yield Objection(
                code="DPQL328",
                message=f"the quantile {number_text(at)} is too fine",
                hint="write a fraction with a denominator of at most 1_048_576",
                item=item,
            )
    for item, (before, at) in enumerate(pairwise(value), start=1):
        if at <= before:
            yield Objection(
                code="DPQL328",
                message=f"the quantile {number_text(at)} is not above the one before "
                "it",
                hint="list the quantiles from the smallest to the largest",
                item=item,
            )


AT = Option(
    field=Field(
        name="at",
        shape=ListOf(item=Number(), longest=limits.MOST_QUANTILES),
        summary="Which quantiles: fractions of the rows, rising, between 0 and 1.",
        examples=(["1/4", "1/2", "9/10"],),
    ),
    member="at",
    clause="at {numbers}",
    check=_check_at,
)

STATISTIC = Statistic(
    name="quantile",
    summary="Values that a given part of the rows lies below; chosen, not noised. An "
    "accuracy target is a distance of ranks, in rows.",
    example="wage",
    phrase="quantiles {at} of {0}",
    chooses=True,
    options=(AT,),
    synonyms=("percentile", "quantiles"),
    describe=describe,
)
