"""What accuracy costs: the least epsilon or rho whose plan states the target, up.

What a plan states gets better as epsilon grows, for every mechanism, so there is a
least epsilon, and the one given here is at most 5e-7 above it, relatively. A single
noisy number has a closed form or an inversion of its own, good to 2e-14.
Source: MATH 3.3, 3.4, 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import Diagnostic, InternalFault, PlanFault
from dpql.exact import round_up_to_digits, two_to
from dpql.mechanisms import CONCENTRATED, IMPURE, PURE
from dpql.mechanisms.mechanism import EPSILON_CEILING
from dpql.mechanisms.quantile_split import epsilon_for_all
from dpql.model.plan import Affine, Chosen, PartsOfOne
from dpql.model.spec import (
    AccuracyTarget,
    Epsilon,
    MechanismName,
    Rho,
    Share,
    Statistic,
)
from dpql.planner.bind import located
from dpql.planner.calibrate import (
    part_level,
    query_of,
    rank_queries,
    stated_error,
)
from dpql.planner.draft import Choice, Descriptions, Draft
from dpql.planner.key_price import price_of_keys
from dpql.planner.mechanism_choice import asked, automatic
from dpql.planner.rules import NOW, Rules
from dpql.planner.settle import rho_of
from dpql.statistics import Description
from dpql.statistics.joint import Joint
from dpql.statistics.ranks import Ranks
from dpql.statistics.readout import worst_error

_CLOSING = 1_000
"""The most last digits by which a closed form is corrected."""

_DIGITS = 15
_SHORT = 9
_BITS = 48
_FINE = Fraction(1, 1 << 21)
"""A composite's epsilon on a coarse lattice is found to this part of itself."""


def price_accuracy(draft: Draft) -> Draft:
    """Give every statistic that names its spending an amount; leave shares open."""
    choices: list[Choice] = []
    faults: list[Diagnostic] = []
    for statistic, descriptions in zip(
        draft.spec.statistics, draft.descriptions, strict=True
    ):
        name = asked(draft.spec, statistic)
        match statistic.spend:
            case Share():
                choices.append(Choice(mechanism=name, epsilon=None))
            case Epsilon(value=value) if draft.concentrated:
                choices.append(_at_epsilon(draft, statistic, descriptions, value))
            case Epsilon(value=value):
                choices.append(Choice(mechanism=name, epsilon=value))
            case Rho(value=value):
                choices.append(Choice(mechanism=name, epsilon=None, rho=value))
            case AccuracyTarget(within=within):
                price_it = cheapest_rho if draft.concentrated else cheapest
                wanted = {
                    each: found
                    for each, found in descriptions.items()
                    if name in (each, MechanismName.AUTO)
                }
                try:
                    choices.append(price_it(statistic, wanted, within, draft.rules))
                except PlanFault as error:
                    faults += located(draft.spec, statistic, error, "spend", "accuracy")
    if faults:
        raise PlanFault(faults)
    return replace(draft, choices=tuple(choices))


def _at_epsilon(
    draft: Draft,
    statistic: Statistic,
    descriptions: Descriptions,
    epsilon: Fraction,
) -> Choice:
    """Return the pure mechanism that was asked for, or the better one, and its rho."""
    names: tuple[str, ...] = (asked(draft.spec, statistic),)
    if statistic.mechanism is MechanismName.AUTO:
        names = tuple(n for n in automatic(statistic, draft.rules) if n in descriptions)
    (name, *_) = names
    if name in IMPURE:
        raise PlanFault.of(
            "DPQL441",
            f"`{shown(statistic.name)}`: Gaussian noise has no epsilon of its own",
            hint="spend a share, a rho or an accuracy, or write `mechanism: auto`",
        )
    rho = rho_of(descriptions[name], name, epsilon, gamma=statistic.gamma)
    return Choice(mechanism=name, epsilon=epsilon, rho=rho)


def cheapest(
    statistic: Statistic,
    descriptions: Descriptions,
    within: Fraction,
    rules: Rules = NOW,
) -> Choice:
    """Return the mechanism asked for, or the cheaper one, and its epsilon.

    Where `auto` leaves the choice, a mechanism that cannot reach the target is passed
    over; the fault of the first is raised when none can.
    """
    names = tuple(descriptions)
    if statistic.mechanism is MechanismName.AUTO:
        names = tuple(n for n in automatic(statistic, rules) if n in descriptions)
    offers: list[tuple[Fraction, str]] = []
    faults: list[PlanFault] = []
    for name in names:
        try:
            epsilon = price(statistic, descriptions[name], name, within, rules)
            offers.append((epsilon, name))
        except PlanFault as fault:
            faults.append(fault)
    if not offers:
        raise faults[0]
    epsilon, mechanism = min(offers, key=lambda offer: offer[0])
    return Choice(mechanism=mechanism, epsilon=epsilon)


def cheapest_rho(
    statistic: Statistic,
    descriptions: Descriptions,
    within: Fraction,
    rules: Rules = NOW,
) -> Choice:
    """Return the mechanism asked for, or the one of less rho, and what it spends.

    Of equal ones the first, which is pure.
    """
    names = tuple(descriptions)
    if statistic.mechanism is MechanismName.AUTO:
        names = automatic(statistic, rules, concentrated=True)
    offers: list[Choice] = []
    faults: list[PlanFault] = []
    for name in names:
        if name not in descriptions:
            continue
        try:
            amount = price(statistic, descriptions[name], name, within, rules)
        except PlanFault as fault:
            faults.append(fault)
            continue
        if name in IMPURE:
            offers.append(Choice(mechanism=name, epsilon=None, rho=amount))
        else:
            rho = rho_of(descriptions[name], name, amount, gamma=statistic.gamma)
            offers.append(Choice(mechanism=name, epsilon=amount, rho=rho))
    if not offers:
        raise faults[0]
    return min(offers, key=lambda offer: offer.rho or Fraction(0))


def price(
    statistic: Statistic,
    description: Description,
    mechanism: str,
    within: Fraction,
    rules: Rules = NOW,
) -> Fraction:
    """Return the least epsilon or rho, rounded up, that states ``within`` or better.

    By the rules of format 1 it is not the least one for snapping.

    Ensures: the plan made with it states an accuracy of at most ``within``.

    Raises:
        PlanFault: the target is beyond the grid (DPQL410), vacuous (DPQL411), out of
            reach (DPQL412), or depends on a private count (DPQL423).
    """
    if description.ranks is not None:
        return _ranked(statistic, description.ranks, within)
    if description.sought is not None:
        return price_of_keys(statistic, description, mechanism, within)
    _require_target(statistic, description, within)
    if description.joint is not None:
        epsilon = _joint(statistic, description, description.joint, within)
    elif isinstance(description.readout, Affine):
        epsilon = _closed(statistic, description, mechanism, within, rules)
    else:
        epsilon = _searched(statistic, description, mechanism, within, rules)
    for _ in range(_CLOSING):
        if _reaches(statistic, description, mechanism, epsilon, within):
            return epsilon
        epsilon = round_up_to_digits(epsilon * (1 + Fraction(1, 10**14)), _DIGITS)
    raise InternalFault.of(
        "DPQL900",
        "the closed form of an accuracy target is far from the target",
        hint="this is a bug in dpql; please report the spec",
    )


def _ranked(statistic: Statistic, ranks: Ranks, within: Fraction) -> Fraction:
    """Return the epsilon of quantiles whose ranks are to be so near, in rows."""
    if within >= ranks.farthest:
        raise PlanFault.of(
            "DPQL411",
            "the accuracy target allows every rank that a value can have",
            hint="it is a distance of ranks, in rows; ask for fewer, or drop it",
        )
    return epsilon_for_all(rank_queries(ranks), within, statistic.alpha)


def _joint(
    statistic: Statistic, description: Description, joint: Joint, within: Fraction
) -> Fraction:
    assert statistic.at_least is not None, "a target on a private count was refused"
    assert joint.promise is not None, "so was one without a promise"
    found = joint.amount_for(
        statistic.at_least,
        (within - description.quantisation) / joint.unit,
        statistic.alpha,
        most=EPSILON_CEILING,
    )
    if found is None:
        raise PlanFault.of(
            "DPQL412",
            "the accuracy target needs an epsilon above 1000",
            hint="ask for a wider margin, or for a larger alpha",
        )
    return found


def _closed(
    statistic: Statistic,
    description: Description,
    mechanism: str,
    within: Fraction,
    rules: Rules,
) -> Fraction:
    assert isinstance(description.readout, Affine)
    (measure,) = description.measures
    target = (within - description.quantisation) / description.readout.scale
    if mechanism in CONCENTRATED:
        assert measure.squared is not None, "it is described for such noise"
        return CONCENTRATED[mechanism].rho_for(
            query_of(measure),
            target,
            statistic.alpha,
            cells=measure.l0,
            squared=Fraction(measure.squared),
        )
    each = _epsilon_for(mechanism, rules)(
        query_of(measure), target, statistic.alpha, gamma=statistic.gamma
    )
    return measure.l0 * each


def _epsilon_for(mechanism: str, rules: Rules) -> Callable[..., Fraction]:
    module = PURE[mechanism]
    if rules.tight_targets:
        return module.epsilon_for
    plain: Callable[..., Fraction] | None = getattr(module, "plain_epsilon_for", None)
    return plain or module.epsilon_for


def _searched(
    statistic: Statistic,
    description: Description,
    mechanism: str,
    within: Fraction,
    rules: Rules,
) -> Fraction:
    """Return a composite's epsilon: closed form for each part, then a bisection.

    If every part keeps its width in A units, the error is ``within`` exactly. Below
    the least of the parts' prices all are wider, so no epsilon there reaches the
    target; the largest price does. Where the two differ, the answer is the upper end
    of a bisection, which was seen to reach, never a point between.
    """
    prices = _part_prices(statistic, description, mechanism, within, rules)
    low, high = min(prices), max(prices)
    while high - low > _FINE * high:
        middle = round_up_to_digits((low + high) / 2, _SHORT)
        if _reaches(statistic, description, mechanism, middle, within):
            high = middle
        else:
            low = middle
    return high


def _part_prices(
    statistic: Statistic,
    description: Description,
    mechanism: str,
    within: Fraction,
    rules: Rules,
) -> list[Fraction]:
    """Return the epsilon of the whole at which each part keeps its width."""
    units = [Fraction(m.l0 * m.sensitivity) for m in description.measures]
    width = _common_width(statistic, description, units, within)
    level = part_level(statistic.alpha, len(units))
    prices = []
    for measure, unit in zip(description.measures, units, strict=True):
        each = _epsilon_for(mechanism, rules)(
            query_of(measure), width * unit, level, gamma=statistic.gamma
        )
        prices.append(len(units) * measure.l0 * each)
    return prices


def _common_width(
    statistic: Statistic,
    description: Description,
    units: list[Fraction],
    within: Fraction,
) -> Fraction:
    """Return the largest A, down, at which widths of A units keep the target.

    Noise of the same epsilon is as wide, in sensitivities times l0, for every part.
    """
    readout = description.readout
    assert readout is not None, "it is not joint"
    assert not isinstance(readout, PartsOfOne | Chosen), "nor is its readout"

    def fits(width: Fraction) -> bool:
        error = worst_error(
            readout,
            [width * unit for unit in units],
            rows=statistic.at_least,
            span=description.upper - description.lower,
            quantisation=description.quantisation,
        )
        assert error is not None, "a target on a private count has been refused"
        return error <= within

    exponent = 0
    while fits(two_to(exponent)):
        exponent += 1
    while not fits(two_to(exponent)):
        exponent -= 1
    width = two_to(exponent)
    for bit in range(1, _BITS):
        wider = width + two_to(exponent - bit)
        width = wider if fits(wider) else width
    return width


def _reaches(
    statistic: Statistic,
    description: Description,
    mechanism: str,
    epsilon: Fraction,
    within: Fraction,
) -> bool:
    error = stated_error(
        description, mechanism, epsilon, statistic=statistic, rows=statistic.at_least
    )
    assert error is not None, "a target on a private count has been refused"
    return error <= within


def _require_target(
    statistic: Statistic, description: Description, within: Fraction
) -> None:
    if description.joint is not None and description.joint.promise is None:
        raise PlanFault.of(
            "DPQL423",
            f"no error of a {statistic.kind} can be promised before the run",
            hint="spend a share or an epsilon; the value comes with its interval",
        )
    if not isinstance(description.readout, Affine) and statistic.at_least is None:
        raise PlanFault.of(
            "DPQL423",
            "the error of this statistic depends on the private number of rows",
            hint="promise `at_least: ROWS` for every group, or spend a share instead",
        )
    if within <= description.quantisation:
        raise PlanFault.of(
            "DPQL410",
            "the accuracy target is finer than the grid that values are counted on",
            hint="ask for a wider margin, or narrow the column's bounds",
        )
    if within >= description.upper - description.lower:
        raise PlanFault.of(
            "DPQL411",
            "the accuracy target is as wide as the whole range of the statistic",
            hint="a constant meets it without data; ask for a narrower one, or drop it",
        )
