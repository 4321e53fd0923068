"""From an epsilon or a rho to noise: equal parts, each within its share of the loss."""

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
from dpql.mechanisms import (
    CHOOSERS,
    CONCENTRATED,
    IMPURE,
    MECHANISMS,
    PURE,
    SEARCHES,
    Query,
)
from dpql.mechanisms.quantile import RankQuery
from dpql.mechanisms.quantile_split import calibrate_all, joint_accuracy
from dpql.model.limits import MOST_CELLS
from dpql.model.plan import Chosen, Measure, Noise, Part, PartsOfOne, Pick, Search
from dpql.model.spec import Statistic
from dpql.planner.draft import Choice, Draft
from dpql.statistics import Description
from dpql.statistics.ranks import Ranks
from dpql.statistics.readout import worst_error
from dpql.statistics.setting import Sought

_FLOOR = Fraction(1, 10**40)
"""Probabilities below this are stated as this."""


def calibrate_noise(draft: Draft) -> Draft:
    """Calibrate every part to what its statistic spends."""
    parts = tuple(
        ()
        if choice.mechanism in CHOOSERS or choice.mechanism in SEARCHES
        else make_parts(
            descriptions[choice.mechanism],
            choice.mechanism,
            granted(choice),
            statistic=statistic,
            accounted=bool(draft.spec.privacy.delta),
        )
        for statistic, descriptions, choice in zip(
            draft.spec.statistics, draft.descriptions, draft.choices, strict=True
        )
    )
    return replace(draft, parts=parts)


def make_parts(
    description: Description,
    mechanism: str,
    amount: Fraction,
    *,
    statistic: Statistic,
    accounted: bool = False,
) -> tuple[Part, ...]:
    """Return the noisy parts of one statistic.

    Their losses add up to the amount; joint parts lose it together, and each alone. It
    is an epsilon, or the rho of noise that is not pure. ``accounted`` parts say their
    rho in any case.
    """
    if description.joint is not None:
        measures = description.joint.measures(amount)
        level = part_level(statistic.alpha, len(measures))
        return tuple(
            _part(
                measure,
                mechanism,
                joint_noise(measure, mechanism, amount),
                amount=amount,
                level=level,
                accounted=accounted,
            )
            for measure in measures
        )
    share = amount / len(description.measures)
    level = part_level(statistic.alpha, len(description.measures))
    return tuple(
        _part(
            measure,
            mechanism,
            noise_for(measure, mechanism, share, statistic.gamma),
            amount=share,
            level=level,
            accounted=accounted,
        )
        for measure in description.measures
    )


def make_picks(
    ranks: Ranks,
    mechanism: str,
    epsilon: Fraction,
    *,
    alpha: Fraction,
    accounted: bool = False,
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
            rho=module.rho(noise) if accounted else None,
        )
        for query, noise in zip(queries, calibrate_all(queries, epsilon), strict=True)
    )


def rank_queries(ranks: Ranks) -> list[RankQuery]:
    """Return the questions that a mechanism answers by choosing."""
    return [
        RankQuery(at=at, cost=cost, candidates=ranks.candidates.count)
        for at, cost in zip(ranks.at, ranks.costs, strict=True)
    ]


def make_search(
    sought: Sought, mechanism: str, amount: Fraction, *, alpha: Fraction
) -> Search:
    """Return how a statistic finds keys at an epsilon or a rho."""
    module = SEARCHES[mechanism]
    noise = key_noise(sought, mechanism, amount)
    pure, before = mechanism not in IMPURE, sought.shown_from - 1
    certain = module.certain(noise)
    cells = sought.keys if pure else 1
    return Search(
        noise=Noise(
            mechanism=mechanism,
            parameters=tuple(sorted(module.parameters(noise).items())),
        ),
        keys=sought.keys,
        epsilon=amount if pure else None,
        delta=sought.delta,
        loss=cells * module.loss(noise) if pure else None,
        rho=cells * module.rho(noise),
        shown_from=sought.shown_from,
        half=before + module.units_for(noise, Fraction(1, 2)),
        usual=before + module.units_for(noise, 1 - alpha),
        certain=None if certain is None else before + certain,
        most=MOST_CELLS,
    )


def key_noise(sought: Sought, mechanism: str, amount: Fraction) -> Any:
    """Return the noise of keys that spend so much together."""
    return SEARCHES[mechanism].calibrate_keys(amount, sought.delta, keys=sought.keys)


def usual(sought: Sought, mechanism: str, amount: Fraction, alpha: Fraction) -> int:
    """Return from how many units on keys are shown, but with probability alpha."""
    noise = key_noise(sought, mechanism, amount)
    return sought.shown_from - 1 + SEARCHES[mechanism].units_for(noise, 1 - alpha)


def half_widths(
    description: Description,
    mechanism: str,
    amount: Fraction,
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
        module.accuracy(noise_for(measure, mechanism, amount / count, gamma), level)
        for measure in description.measures
    ]


def stated_error(
    description: Description,
    mechanism: str,
    amount: Fraction,
    *,
    statistic: Statistic,
    rows: int | None,
    cells: int = 1,
) -> Fraction | None:
    """Return the accuracy that the plan would state at this epsilon or rho.

    That of quantiles is a distance of ranks, in rows, whatever the number of rows. That
    of keys without counts is from how many units on they are shown.
    """
    if description.sought is not None:
        sought = description.sought
        if not sought.counts:
            return Fraction(usual(sought, mechanism, amount, statistic.alpha))
        noise = key_noise(sought, mechanism, amount)
        return Fraction(SEARCHES[mechanism].accuracy(noise, statistic.alpha))
    if description.ranks is not None:
        noises = calibrate_all(rank_queries(description.ranks), amount)
        return joint_accuracy(noises, part_level(statistic.alpha, cells))
    span = description.upper - description.lower
    if description.joint is not None:
        if rows is None or description.joint.promise is None:
            return None
        level = part_level(statistic.alpha, cells)
        error = description.joint.error(amount, rows, level)
        return span if error is None else min(error + description.quantisation, span)
    readout = description.readout
    assert readout is not None, "it is not joint"
    assert not isinstance(readout, PartsOfOne | Chosen), "nor is its readout"
    widths = half_widths(
        description,
        mechanism,
        amount,
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
    """Return the epsilon of a choice after the shares are split, or its rho.

    It is the rho where the noise is not pure.
    """
    amount = choice.rho if choice.mechanism in IMPURE else choice.epsilon
    assert amount is not None, "split_shares has run"
    return amount


def noise_for(
    measure: Measure, mechanism: str, amount: Fraction, gamma: Fraction
) -> Any:
    """Return the noise of a measure that spends so much in all cells together."""
    query = query_of(measure)
    if mechanism in CONCENTRATED:
        assert measure.squared is not None, "it is described for such noise"
        return CONCENTRATED[mechanism].calibrate(
            query, amount, cells=measure.l0, squared=Fraction(measure.squared)
        )
    return PURE[mechanism].calibrate(query, amount / measure.l0, gamma=gamma)


def joint_noise(measure: Measure, mechanism: str, amount: Fraction) -> Any:
    """Return the noise of one of several parts that spend so much together."""
    module: Any = MECHANISMS[mechanism]
    if mechanism in CONCENTRATED:
        return module.calibrate_joint(measure.sensitivity, measure.squared, amount)
    return module.calibrate_joint(measure.sensitivity, amount)


def _part(
    measure: Measure,
    mechanism: str,
    noise: Any,
    *,
    amount: Fraction,
    level: Fraction,
    accounted: bool,
) -> Part:
    module = MECHANISMS[mechanism]
    binds = getattr(module, "clamp_probability", None)
    pure = mechanism in PURE
    # What noise that is not pure loses, it loses in all cells together.
    cells = measure.l0 if pure else 1
    return Part(
        measure=measure,
        noise=Noise(
            mechanism=mechanism,
            parameters=tuple(sorted(module.parameters(noise).items())),
        ),
        epsilon=amount if pure else None,
        loss=cells * module.loss(noise) if pure else None,
        level=level,
        half_width=module.accuracy(noise, level),
        clamp_probability=None if binds is None else _rounded(binds(noise)),
        rho=cells * module.rho(noise) if accounted else None,
    )


def _rounded(probability: Fraction) -> Fraction:
    return round_up_to_digits(round_up_to_bits(max(probability, _FLOOR), 64), 6)
