"""Shares of what is left: exact, in proportion, never above the total."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import PlanFault
from dpql.model.spec import Epsilon, Share
from dpql.planner.calibrate import stated_error
from dpql.planner.draft import Draft
from dpql.planner.figures import decimal, quantity, rational, within_text


def split_shares(draft: Draft) -> Draft:
    """Divide what epsilons and targets leave of the total among the shares.

        epsilon_i = weight_i * (total - named) / (sum of weights)

    Ensures: where there are shares, the epsilons add up to the total exactly.

    Raises:
        PlanFault: nothing is left, or less than nothing (DPQL430).
    """
    asks = draft.spec.statistics
    named = sum(
        (c.epsilon for c in draft.choices if c.epsilon is not None), Fraction(0)
    )
    weights = sum(
        (ask.spend.weight for ask in asks if isinstance(ask.spend, Share)), Fraction(0)
    )
    left = draft.spec.privacy.epsilon - named
    if left < 0 or (weights and left == 0):
        raise _too_little(draft, -left)
    return replace(
        draft,
        choices=tuple(
            replace(choice, epsilon=ask.spend.weight * left / weights)
            if isinstance(ask.spend, Share)
            else choice
            for ask, choice in zip(asks, draft.choices, strict=True)
        ),
    )


def _too_little(draft: Draft, short: Fraction) -> PlanFault:
    spec = draft.spec
    total = spec.privacy.epsilon
    sharing = [
        f"`{shown(a.name)}`" for a in spec.statistics if isinstance(a.spend, Share)
    ]
    asked = [
        f"`{shown(ask.name)}` ε {quantity(choice.epsilon)}"
        for ask, choice in zip(spec.statistics, draft.choices, strict=True)
        if choice.epsilon is not None
    ]
    message = f"the total ε {rational(total)} is too small for " + " + ".join(asked)
    if short:
        message += f": it falls short by {decimal(short, 6, up=True)}"
    if sharing:
        message += "; nothing is left for the shares of " + ", ".join(sharing)
    more = "more than " if sharing else ""
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
        span=spec.places.span("privacy", "epsilon"),
    )


def _relaxation(draft: Draft, index: int, short: Fraction, more: str) -> str | None:
    """Say what the statistic alone would have to give up to make the rest fit."""
    ask, choice = draft.spec.statistics[index], draft.choices[index]
    name = f"`{shown(ask.name)}`"
    if choice.epsilon is None:
        return None
    if choice.epsilon < short:
        return f"dropping {name} alone is not enough"
    if choice.epsilon == short:
        return f"drop {name}"
    if isinstance(ask.spend, Epsilon):
        less = "less than " if more else ""
        return f"spend {less}{decimal(choice.epsilon - short, 6)} on {name}"
    description = draft.descriptions[index]
    error = stated_error(
        description,
        choice.mechanism,
        choice.epsilon - short,
        ask=ask,
        rows=ask.at_least,
    )
    assert error is not None, "price_accuracy has refused a private count"
    if error >= description.upper - description.lower:
        return f"drop {name}"
    return f"let {name} be within {more}{within_text(error, description.unit)}"
