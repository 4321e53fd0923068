"""Shares of what is left: exact, in proportion, never above the total."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import PlanFault
from dpql.exact import round_down_to_digits, round_up_to_digits
from dpql.mechanisms.composition import budget
from dpql.model.figures import decimal, quantity, rational, within_text
from dpql.model.spec import Epsilon, Share, Statistic
from dpql.planner.calibrate import stated_error
from dpql.planner.draft import Choice, Descriptions, Draft
from dpql.planner.price import cheapest

_LONGEST = 1 << 1024
"""The largest common denominator of the epsilons of a plan."""

_GRAINS = 1 << 256
_DIGITS = 15
_WIDER = Fraction(33, 32)
_TRIES = 64


def split_shares(draft: Draft) -> Draft:
    """Divide what epsilons and targets leave of the total among the shares.

        epsilon_i = weight_i * (total - named) / (sum of weights)

    Where these have no common denominator of 1024 bits, all but the last are rounded
    down to a 2**256th of what is left, and the last takes the remainder. Where the
    draft is concentrated, all of it is rho, of the total that epsilon and delta give.

    Ensures: where there are shares, the amounts add up to the total exactly.

    Raises:
        PlanFault: nothing is left, or less than nothing (DPQL430), or the amounts
            cannot be written down (DPQL431).
    """
    statistics, privacy = draft.spec.statistics, draft.spec.privacy
    total = privacy.epsilon
    if draft.concentrated:
        total = budget(privacy.epsilon, privacy.delta - draft.events)
    amounts = [_amount(draft, choice) for choice in draft.choices]
    # A rho that was computed for an epsilon is a long number; shares are rounded down.
    if not draft.concentrated and not _common([total, *(a for a in amounts if a)]):
        raise _unwritable("they have no short common denominator")
    named = sum((a for a in amounts if a is not None), Fraction(0))
    weights = [
        statistic.spend.weight
        for statistic in statistics
        if isinstance(statistic.spend, Share)
    ]
    left = total - named
    if left < 0 or (weights and left <= 0):
        raise _too_little(draft, total, -left)
    if draft.concentrated and weights:
        left = round_down_to_digits(left, _DIGITS)
    shares = iter(_shares(weights, left))
    return replace(
        draft,
        choices=tuple(
            _with_share(draft, choice, next(shares))
            if isinstance(statistic.spend, Share)
            else choice
            for statistic, choice in zip(statistics, draft.choices, strict=True)
        ),
    )


def _with_share(draft: Draft, choice: Choice, share: Fraction) -> Choice:
    if draft.concentrated:
        return replace(choice, rho=share)
    return replace(choice, epsilon=share)


def _amount(draft: Draft, choice: Choice) -> Fraction | None:
    """Return what a choice takes of the total; None while its share is open."""
    return choice.rho if draft.concentrated else choice.epsilon


def _shares(weights: list[Fraction], left: Fraction) -> list[Fraction]:
    if not weights:
        return []
    total = sum(weights, Fraction(0))
    shares = [weight * left / total for weight in weights]
    if _common(shares):
        return shares
    grain = left / _GRAINS
    shares = [share // grain * grain for share in shares[:-1]]
    if 0 in shares:
        raise _unwritable("a share is too small a part of what is left")
    return [*shares, left - sum(shares, Fraction(0))]


def _common(numbers: Iterable[Fraction]) -> bool:
    """Tell whether the numbers have a common denominator that is short enough."""
    common = 1
    for number in numbers:
        common *= Fraction(number.denominator, common).numerator
        if common > _LONGEST:
            return False
    return True


def _unwritable(what: str) -> PlanFault:
    return PlanFault.of(
        "DPQL431",
        f"the epsilons cannot be written down exactly: {what}",
        hint="write epsilons and shares with few digits, such as `0.1` or `2`",
    )


def _too_little(draft: Draft, total: Fraction, short: Fraction) -> PlanFault:
    spec = draft.spec
    sign = "ρ" if draft.concentrated else "ε"
    sharing = [
        f"`{shown(a.name)}`" for a in spec.statistics if isinstance(a.spend, Share)
    ]
    asked = [
        f"`{shown(statistic.name)}` {sign} {quantity(amount)}"
        for statistic, choice in zip(spec.statistics, draft.choices, strict=True)
        if (amount := _amount(draft, choice)) is not None
    ]
    message = f"the total {sign} {rational(total)} is too small for " + " + ".join(
        asked
    )
    if short:
        message += f": it falls short by {decimal(short, 6, up=True)}"
    if sharing:
        message += "; nothing is left for the shares of " + ", ".join(sharing)
    more = "more than " if sharing else ""
    ways = ["raise `epsilon` or `delta`", "spend less"]
    if not draft.concentrated:
        ways = [f"raise the total to {more}{decimal(total + short, 6, up=True)}"]
    ways += [
        way
        for index in range(len(spec.statistics))
        if (way := _relaxation(draft, index, short, more)) is not None
    ]
    return PlanFault.of(
        "DPQL430",
        message,
        hint="one of: " + "; ".join(ways),
        span=spec.spans.span("privacy", "epsilon"),
    )


def _relaxation(draft: Draft, index: int, short: Fraction, more: str) -> str | None:
    """Say what the statistic alone would have to give up to make the rest fit."""
    statistic, choice = draft.spec.statistics[index], draft.choices[index]
    name = f"`{shown(statistic.name)}`"
    amount = _amount(draft, choice)
    if amount is None or draft.concentrated:
        return None
    if amount < short or (more and amount == short):
        return f"dropping {name} alone is not enough"
    if amount == short:
        return f"drop {name}"
    if isinstance(statistic.spend, Epsilon):
        less = "less than " if more else ""
        return f"spend {less}{decimal(amount - short, 6, down=True)} on {name}"
    descriptions = draft.descriptions[index]
    within = _affordable(statistic, descriptions, choice.mechanism, amount - short)
    description = next(iter(descriptions.values()))
    unit = description.unit if description.ranks is None else "rows"
    if within is None:
        return f"drop {name}"
    return f"let {name} be within {more}{within_text(within, unit)}"


def _affordable(
    statistic: Statistic, descriptions: Descriptions, mechanism: str, epsilon: Fraction
) -> Fraction | None:
    """Return a target of five digits that costs less than epsilon, None if none does.

    The first try is what the noise of that epsilon promises; a target can cost a
    little more than the epsilon that happens to reach it.
    """
    error = stated_error(
        descriptions[mechanism],
        mechanism,
        epsilon,
        statistic=statistic,
        rows=statistic.at_least,
    )
    assert error is not None, "price_accuracy has refused a private count"
    for _ in range(_TRIES):
        within = round_up_to_digits(error, 5)
        try:
            cost = cheapest(statistic, descriptions, within).epsilon
        except PlanFault:
            return None
        if cost is not None and cost < epsilon:
            return within
        error *= _WIDER
    return None
