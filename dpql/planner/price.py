"""What accuracy costs: the least epsilon that keeps a promise, rounded up."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpql.errors import Diagnostic, PlanFault
from dpql.exact import round_up_to_digits
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Affine
from dpql.model.spec import AccuracyTarget, Epsilon, MechanismName, Share, Statistic
from dpql.planner.bind import placed
from dpql.planner.calibrate import query_of, stated_error
from dpql.planner.draft import Choice, Draft
from dpql.statistics import Description

_CEILING = Fraction(1000)
_DIGITS = 15
_TRIALS = 8
_STRIDE = Fraction(17, 16)
_HALVINGS = 22
"""Bisections of a stride: a composite's epsilon is found to 2**-26 of itself."""


def price_accuracy(draft: Draft) -> Draft:
    """Give every statistic that names its spending an epsilon; leave shares open."""
    choices: list[Choice] = []
    faults: list[Diagnostic] = []
    for ask, description in zip(draft.spec.statistics, draft.descriptions, strict=True):
        match ask.spend:
            case Share():
                choices.append(Choice(mechanism=ask.mechanism.value, epsilon=None))
            case Epsilon(value=value):
                choices.append(Choice(mechanism=ask.mechanism.value, epsilon=value))
            case AccuracyTarget(within=within):
                try:
                    choices.append(cheapest(ask, description, within))
                except PlanFault as error:
                    faults += placed(draft.spec, ask, error, "spend", "accuracy")
    if faults:
        raise PlanFault(faults)
    return replace(draft, choices=tuple(choices))


def cheapest(ask: Statistic, description: Description, within: Fraction) -> Choice:
    """Return the mechanism asked for, or the cheaper one, and its epsilon."""
    if ask.mechanism is not MechanismName.AUTO:
        return Choice(
            mechanism=ask.mechanism.value,
            epsilon=price(ask, description, ask.mechanism.value, within),
        )
    offers = [
        Choice(mechanism=name, epsilon=price(ask, description, name, within))
        for name in MECHANISMS
    ]
    return min(offers, key=lambda offer: offer.epsilon or _CEILING)


def price(
    ask: Statistic, description: Description, mechanism: str, within: Fraction
) -> Fraction:
    """Return the least epsilon, rounded up, whose stated accuracy is ``within``.

    Ensures: the plan made with it states an accuracy of at most ``within``.

    Raises:
        PlanFault: the target is beyond the grid (DPQL410), vacuous (DPQL411), out of
            reach (DPQL412), or depends on a private count (DPQL423).
    """
    _require_target(ask, description, within)
    if isinstance(description.readout, Affine):
        epsilon = _closed(ask, description, mechanism, within)
    else:
        epsilon = _searched(ask, description, mechanism, within)
    while not _reaches(ask, description, mechanism, epsilon, within):
        epsilon = round_up_to_digits(epsilon * (1 + Fraction(1, 10**14)), _DIGITS)
    return epsilon


def _closed(
    ask: Statistic, description: Description, mechanism: str, within: Fraction
) -> Fraction:
    assert isinstance(description.readout, Affine)
    (measure,) = description.measures
    target = (within - description.quantisation) / description.readout.scale
    each = MECHANISMS[mechanism].epsilon_for(
        query_of(measure), target, ask.alpha, gamma=ask.gamma
    )
    return measure.l0 * each


def _searched(
    ask: Statistic, description: Description, mechanism: str, within: Fraction
) -> Fraction:
    """Bisect; the upper end always reaches the target, the lower end never does.

    The stated error of a ratio falls as epsilon grows, with jumps; so the answer is
    the end that was seen to reach, never a point between.
    """
    high = low = _guess(ask, description, mechanism, within)
    while not _reaches(ask, description, mechanism, high, within):
        low, high = high, high * _STRIDE
        if high > _CEILING:
            raise PlanFault.of(
                "DPQL412",
                "the accuracy target needs an epsilon above 1000",
                hint="ask for a wider margin, or promise a larger `at_least`",
            )
    while low == high or _reaches(ask, description, mechanism, low, within):
        low, high = low / _STRIDE, low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _reaches(ask, description, mechanism, middle, within):
            high = middle
        else:
            low = middle
    return round_up_to_digits(high, _DIGITS)


def _guess(
    ask: Statistic, description: Description, mechanism: str, within: Fraction
) -> Fraction:
    """Return an epsilon near the answer: away from steps, error * epsilon is flat.

    Where the public range caps the error, epsilon was far too small.
    """
    guess = Fraction(1)
    for _ in range(_TRIALS):
        error = stated_error(description, mechanism, guess, ask=ask, rows=ask.at_least)
        assert error is not None, "a target on a private count has been refused"
        capped = error >= description.upper - description.lower
        factor = Fraction(8) if capped else max(error / within, Fraction(1, 8))
        guess = min(round_up_to_digits(guess * factor, 6), _CEILING)
        if 1 / _STRIDE < factor < _STRIDE:
            break
    return guess


def _reaches(
    ask: Statistic,
    description: Description,
    mechanism: str,
    epsilon: Fraction,
    within: Fraction,
) -> bool:
    error = stated_error(description, mechanism, epsilon, ask=ask, rows=ask.at_least)
    assert error is not None, "a target on a private count has been refused"
    return error <= within


def _require_target(ask: Statistic, description: Description, within: Fraction) -> None:
    if not isinstance(description.readout, Affine) and ask.at_least is None:
        raise PlanFault.of(
            "DPQL423",
            "how accurate a ratio is depends on the private number of rows under it",
            hint="promise `at_least: ROWS` for every group, or spend a share instead",
        )
    if within <= description.quantisation:
        raise PlanFault.of(
            "DPQL410",
            "the accuracy target is finer than the grid that values are counted on",
            hint="ask for more, or narrow the column's bounds",
        )
    if within >= description.upper - description.lower:
        raise PlanFault.of(
            "DPQL411",
            "the accuracy target is as wide as the whole range of the statistic",
            hint="a constant meets it without the data; ask for less or drop it",
        )
