"""What `auto` means for each statistic, and what its noise may spend.

Where a plan accounts in rho, a pure mechanism spends the largest epsilon whose noise
costs no more than the statistic's rho. The mechanism of the smaller stated error is
taken, and of equal ones the first: pure noise before any other.
Source: MATH-delta 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import power_of_two_up, round_down_to_digits, two_to
from dpql.mechanisms import CHOOSERS, IMPURE, PURE
from dpql.mechanisms.concentrated import pure_rho_up
from dpql.mechanisms.mechanism import EPSILON_CEILING
from dpql.mechanisms.quantile_split import calibrate_all
from dpql.model.plan import Affine
from dpql.model.spec import MechanismName, Statistic
from dpql.planner.calibrate import (
    granted,
    joint_noise,
    noise_for,
    part_level,
    rank_queries,
    stated_error,
    usual,
)
from dpql.planner.draft import Choice, Descriptions, Draft
from dpql.planner.mechanism_choice import automatic
from dpql.statistics import Description

_DIGITS = 15
"""Significant decimal digits of an epsilon found for a rho."""


def settle_mechanisms(draft: Draft) -> Draft:
    """Settle what `auto` means."""
    choices = tuple(
        _settled(statistic, descriptions, choice, draft)
        for statistic, descriptions, choice in zip(
            draft.spec.statistics, draft.descriptions, draft.choices, strict=True
        )
    )
    if draft.concentrated:
        choices = _with_equal_totals(draft, choices)
    return replace(draft, choices=choices)


def _with_equal_totals(draft: Draft, choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Return the choices in which a total and its groups have one epsilon.

    Of the same rho they would have two, as one cell and many cost differently; the
    smaller one is within both.
    """
    by_name = dict(
        zip((one.name for one in draft.spec.statistics), choices, strict=True)
    )
    for one in draft.spec.statistics:
        if one.total_of is None:
            continue
        both = (one.name, one.total_of)
        epsilons = [by_name[name].epsilon for name in both]
        least = min((each for each in epsilons if each is not None), default=None)
        for name in both:
            by_name[name] = replace(by_name[name], epsilon=least)
    return tuple(by_name.values())


def _settled(
    statistic: Statistic, descriptions: Descriptions, choice: Choice, draft: Draft
) -> Choice:
    """Return the choice with a mechanism, and with an epsilon where that is pure."""
    names: tuple[str, ...] = (choice.mechanism,)
    if choice.mechanism == MechanismName.AUTO:
        concentrated = draft.concentrated and not _adds_up(statistic, draft)
        offered = automatic(statistic, draft.rules, concentrated=concentrated)
        names = tuple(name for name in descriptions if name in offered)
    if not draft.concentrated:
        amounts = dict.fromkeys(names, granted(replace(choice, mechanism=names[0])))
    else:
        amounts = _amounts(statistic, descriptions, choice, names)
    best = best_mechanism(
        statistic, descriptions, amounts, rows=draft.spec.data.rows.count
    )
    epsilon = None if best in IMPURE else amounts[best]
    return replace(choice, mechanism=best, epsilon=epsilon)


def _adds_up(statistic: Statistic, draft: Draft) -> bool:
    """Tell whether it is a total, or has one: these have geometric noise."""
    totals = {one.total_of for one in draft.spec.statistics}
    return statistic.total_of is not None or statistic.name in totals


def _amounts(
    statistic: Statistic,
    descriptions: Descriptions,
    choice: Choice,
    names: tuple[str, ...],
) -> dict[str, Fraction]:
    """Return what each mechanism may spend of the rho, in its own measure.

    Where an epsilon was asked for, or an accuracy has been priced in one, it is that.
    """
    assert choice.rho is not None, "split_shares has run"
    found: dict[str, Fraction] = {}
    for name in names:
        if name in IMPURE:
            found[name] = choice.rho
            continue
        found[name] = choice.epsilon or epsilon_within(
            descriptions[name], name, choice.rho, gamma=statistic.gamma
        )
    return found


def best_mechanism(
    statistic: Statistic,
    descriptions: Descriptions,
    amounts: Mapping[str, Fraction],
    *,
    rows: int,
) -> str:
    """Return the mechanism of the smaller stated error; the first if equal."""
    if len(amounts) == 1:
        return next(iter(amounts))
    errors: dict[str, Fraction] = {}
    faults: list[PlanFault] = []
    for name, amount in amounts.items():
        try:
            errors[name] = comparable_error(
                statistic, descriptions[name], name, amount, rows=rows
            )
        except PlanFault as fault:
            # It has no noise of so little.
            faults.append(fault)
    if not errors:
        raise faults[0]
    return min(errors, key=lambda name: errors[name])


def comparable_error(
    statistic: Statistic,
    description: Description,
    mechanism: str,
    amount: Fraction,
    *,
    rows: int,
) -> Fraction:
    """Return the stated error, to compare it with that of other noise.

    Where no count is promised, it is that over ``rows``. What promises nothing before
    the run is judged by its noise, in rows. An error of 0 is half a step: rounding
    could not tell it apart. What finds keys is judged by how many units a key must
    have: those that are not shown have no count, however near it would be.
    """
    if description.sought is not None:
        return Fraction(usual(description.sought, mechanism, amount, statistic.alpha))
    found = stated_error(
        description,
        mechanism,
        amount,
        statistic=statistic,
        rows=statistic.at_least or rows,
    )
    if found is None:
        joint = description.joint
        assert joint is not None, "everything else states an error for any rows"
        lattice = joint.lattice(amount)
        level = part_level(statistic.alpha, len(joint.parts.terms))
        found = lattice.tail.alone(level) / lattice.per_row
    if found == 0 and isinstance(description.readout, Affine):
        return description.readout.scale / 2
    return found


def rho_of(
    description: Description, mechanism: str, epsilon: Fraction, *, gamma: Fraction
) -> Fraction:
    """Return what a statistic of pure noise costs under zero-concentrated privacy."""
    if description.sought is not None:
        keys = description.sought.keys
        return keys * pure_rho_up(epsilon / keys)
    if description.ranks is not None:
        choose = CHOOSERS[mechanism]
        noises = calibrate_all(rank_queries(description.ranks), epsilon)
        return sum(map(choose.rho, noises), Fraction(0))
    module = PURE[mechanism]
    if description.joint is not None:
        measure = description.joint.measures(epsilon)[0]
        return module.rho(joint_noise(measure, mechanism, epsilon))
    share = epsilon / len(description.measures)
    return sum(
        (
            measure.l0 * module.rho(noise_for(measure, mechanism, share, gamma))
            for measure in description.measures
        ),
        Fraction(0),
    )


def epsilon_within(
    description: Description,
    mechanism: str,
    rho: Fraction,
    *,
    gamma: Fraction,
    digits: int = _DIGITS,
) -> Fraction:
    """Return the largest epsilon, to 15 digits, whose noise costs at most ``rho``.

    No pure noise costs more than its epsilon, so it is at least ``rho``.

    Raises:
        PlanFault: the mechanism has no noise of so little epsilon.
    """

    def fits(epsilon: Fraction) -> bool:
        try:
            return rho_of(description, mechanism, epsilon, gamma=gamma) <= rho
        except PlanFault:
            # Noise of so little, or so much, epsilon does not exist.
            return False

    low = min(two_to(power_of_two_up(rho) - 1), EPSILON_CEILING)
    rho_of(description, mechanism, low, gamma=gamma)
    while 2 * low <= EPSILON_CEILING and fits(2 * low):
        low *= 2
    high = 2 * low
    # A decimal digit is less than four binary ones.
    for _ in range(4 * digits - 4):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return round_down_to_digits(low, digits)
