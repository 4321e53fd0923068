"""From an epsilon to noise: equal parts, each within its share of the loss."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpql.exact import (
    power_of_two_up,
    round_up_to_bits,
    round_up_to_digits,
    sidak_down,
    two_to,
)
from dpql.mechanisms import CHOOSERS, MECHANISMS, Query
from dpql.mechanisms.quantile import RankQuery
from dpql.mechanisms.quantile_split import calibrate_all, joint_accuracy
from dpql.model.plan import Chosen, Measure, Noise, Part, PartsOfOne, Pick
from dpql.model.spec import MechanismName, Statistic
from dpql.planner.bind import automatic
from dpql.planner.draft import Choice, Descriptions, Draft
from dpql.statistics import Description
from dpql.statistics.ranks import Ranks
from dpql.statistics.readout import worst_error

_FLOOR = Fraction(1, 10**40)
"""Probabilities below this are stated as this."""


def calibrate_noise(draft: Draft) -> Draft:
    """Settle what `auto` means, and calibrate every part to its epsilon."""
    choices = tuple(
        _settled(statistic, descriptions, choice, draft)
        for statistic, descriptions, choice in zip(
            draft.spec.statistics, draft.descriptions, draft.choices, strict=True
        )
    )
    parts = tuple(
        ()
        if choice.mechanism in CHOOSERS
        else make_parts(
            descriptions[choice.mechanism],
            choice.mechanism,
            granted(choice),
            statistic=statistic,
        )
        for statistic, descriptions, choice in zip(
            draft.spec.statistics, draft.descriptions, choices, strict=True
        )
    )
    return replace(draft, choices=choices, parts=parts)


def make_parts(
    description: Description, mechanism: str, epsilon: Fraction, *, statistic: Statistic
) -> tuple[Part, ...]:
    """Return the noisy parts of one statistic.

    Their losses add up to epsilon; joint parts lose epsilon together, and each alone.
    """
    if description.joint is not None:
        measures = description.joint.measures(epsilon)
        level = part_level(statistic.alpha, len(measures))
        return tuple(
            _joint_part(measure, mechanism, epsilon, level) for measure in measures
        )
    share = epsilon / len(description.measures)
    level = part_level(statistic.alpha, len(description.measures))
    return tuple(
        _part(measure, mechanism, share, level, statistic.gamma)
        for measure in description.measures
    )


def make_picks(
    ranks: Ranks, mechanism: str, epsilon: Fraction, *, alpha: Fraction
) -> tuple[Pick, ...]:
    """Return the choices of one statistic; their losses add up to epsilon."""
    module = CHOOSERS[mechanism]
    queries = rank_queries(ranks)
    level = part_level(alpha, len(queries))
    return tuple(
        Pick(
            at=query.at,
            cost=query.cost,
            noise=Noise(
                mechanism=mechanism,
                parameters=tuple(sorted(module.parameters(noise).items())),
            ),
            epsilon=noise.epsilon,
            loss=module.loss(noise),
            level=level,
            half_width=module.accuracy(noise, level),
        )
        for query, noise in zip(queries, calibrate_all(queries, epsilon), strict=True)
    )


def rank_queries(ranks: Ranks) -> list[RankQuery]:
    """Return the questions that a mechanism answers by choosing."""
    return [
        RankQuery(at=at, cost=cost, candidates=ranks.candidates.count)
        for at, cost in zip(ranks.at, ranks.costs, strict=True)
    ]


def half_widths(
    description: Description,
    mechanism: str,
    epsilon: Fraction,
    *,
    alpha: Fraction,
    gamma: Fraction,
    cells: int = 1,
) -> list[Fraction]:
    """Return the parts' accuracies such that all of ``cells`` cells keep them."""
    count = len(description.measures)
    level = part_level(alpha, count * cells)
    module = MECHANISMS[mechanism]
    return [
        module.accuracy(_noise(module, measure, epsilon / count, gamma), level)
        for measure in description.measures
    ]


def stated_error(
    description: Description,
    mechanism: str,
    epsilon: Fraction,
    *,
    statistic: Statistic,
    rows: int | None,
    cells: int = 1,
) -> Fraction | None:
    """Return the accuracy that the plan would state at this epsilon.

    That of quantiles is a distance of ranks, in rows, whatever the number of rows.
    """
    if description.ranks is not None:
        noises = calibrate_all(rank_queries(description.ranks), epsilon)
        return joint_accuracy(noises, part_level(statistic.alpha, cells))
    span = description.upper - description.lower
    if description.joint is not None:
        if rows is None or description.joint.promise is None:
            return None
        level = part_level(statistic.alpha, cells)
        error = description.joint.error(epsilon, rows, level)
        return span if error is None else min(error + description.quantisation, span)
    readout = description.readout
    assert readout is not None, "it is not joint"
    assert not isinstance(readout, PartsOfOne | Chosen), "nor is its readout"
    widths = half_widths(
        description,
        mechanism,
        epsilon,
        alpha=statistic.alpha,
        gamma=statistic.gamma,
        cells=cells,
    )
    return worst_error(
        readout,
        widths,
        rows=rows,
        span=span,
        quantisation=description.quantisation,
    )


def query_of(measure: Measure) -> Query:
    """Return the question a mechanism hides, in units of the measure."""
    return Query(
        sensitivity=Fraction(measure.sensitivity),
        lower=Fraction(measure.lower),
        upper=Fraction(measure.upper),
        lattice=Fraction(1),
    )


def part_level(alpha: Fraction, parts: int) -> Fraction:
    """Return the level of one of ``parts`` independent claims, in 53 bits, down."""
    if parts == 1:
        return alpha
    level = sidak_down(alpha, parts)
    step = two_to(power_of_two_up(level) - 53)
    return level // step * step


def granted(choice: Choice) -> Fraction:
    """Return the epsilon of a choice after the shares are split."""
    assert choice.epsilon is not None, "split_shares has run"
    return choice.epsilon


def _part(
    measure: Measure, mechanism: str, share: Fraction, level: Fraction, gamma: Fraction
) -> Part:
    module = MECHANISMS[mechanism]
    noise = _noise(module, measure, share, gamma)
    binds = getattr(module, "clamp_probability", None)
    return Part(
        measure=measure,
        noise=Noise(
            mechanism=mechanism,
            parameters=tuple(sorted(module.parameters(noise).items())),
        ),
        epsilon=share,
        loss=measure.l0 * module.loss(noise),
        level=level,
        half_width=module.accuracy(noise, level),
        clamp_probability=None if binds is None else _rounded(binds(noise)),
    )


def _joint_part(
    measure: Measure, mechanism: str, epsilon: Fraction, level: Fraction
) -> Part:
    module: Any = MECHANISMS[mechanism]
    noise = module.calibrate_joint(measure.sensitivity, epsilon)
    return Part(
        measure=measure,
        noise=Noise(
            mechanism=mechanism,
            parameters=tuple(sorted(module.parameters(noise).items())),
        ),
        epsilon=epsilon,
        loss=module.loss(noise),
        level=level,
        half_width=module.accuracy(noise, level),
        clamp_probability=None,
    )


def _noise(module: Any, measure: Measure, share: Fraction, gamma: Fraction) -> Any:
    return module.calibrate(query_of(measure), share / measure.l0, gamma=gamma)


def _rounded(probability: Fraction) -> Fraction:
    return round_up_to_digits(round_up_to_bits(max(probability, _FLOOR), 64), 6)


def _settled(
    statistic: Statistic, descriptions: Descriptions, choice: Choice, draft: Draft
) -> Choice:
    if choice.mechanism != MechanismName.AUTO:
        return choice
    rows = draft.spec.data.rows.count
    offered = {
        name: each
        for name, each in descriptions.items()
        if name in automatic(statistic, draft.rules)
    }
    return replace(
        choice,
        mechanism=best_mechanism(statistic, offered, granted(choice), rows=rows),
    )


def best_mechanism(
    statistic: Statistic, descriptions: Descriptions, epsilon: Fraction, *, rows: int
) -> str:
    """Return the mechanism of the smaller stated error; the table's first if equal."""
    if len(descriptions) == 1:
        return next(iter(descriptions))

    def error(mechanism: str) -> Fraction:
        found = stated_error(
            descriptions[mechanism],
            mechanism,
            epsilon,
            statistic=statistic,
            rows=statistic.at_least or rows,
        )
        assert found is not None, "a count is given"
        return found

    return min(descriptions, key=error)
