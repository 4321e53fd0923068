"""Which mechanisms may hide a statistic, and which of them `auto` chooses among."""

from __future__ import annotations

from dpql.errors import PlanFault
from dpql.mechanisms import CHOOSERS, IMPURE, MECHANISMS, PURE, SEARCHES
from dpql.model.spec import MechanismName, Spec, Statistic
from dpql.planner.rules import NOW, Rules
from dpql.statistics import STATISTICS
from dpql.statistics.searches import is_search

_LISTS = {
    MechanismName.GEOMETRIC: "selection",
    MechanismName.GAUSSIAN: "gaussian_selection",
}
"""What the words of a spec mean where keys are found, and no number is released."""

_COUNTS = {
    MechanismName.GEOMETRIC: "truncated_geometric",
    MechanismName.GAUSSIAN: "gaussian_threshold",
}
"""The same where keys are found with their counts."""


def hiding(spec: Spec, statistic: Statistic) -> tuple[str, ...]:
    """Return the mechanisms that are meant for the statistic of a spec.

    Without a delta the noise is pure.
    """
    if is_search(spec, statistic):
        return tuple(_finders(statistic).values())
    if STATISTICS[statistic.kind].chooses:
        return tuple(CHOOSERS)
    return tuple(MECHANISMS if spec.privacy.delta else PURE)


def automatic(
    statistic: Statistic, rules: Rules = NOW, *, concentrated: bool = False
) -> tuple[str, ...]:
    """Return the mechanisms among which `auto` chooses for the statistic."""
    if STATISTICS[statistic.kind].chooses:
        return tuple(CHOOSERS)
    pure = (*rules.automatic, *(x for x in SEARCHES if x not in IMPURE))
    return (*pure, *IMPURE) if concentrated else pure


def asked(spec: Spec, statistic: Statistic) -> str:
    """Return the name of the mechanism that is asked for, or `auto`."""
    if is_search(spec, statistic):
        return _finders(statistic).get(statistic.mechanism, statistic.mechanism.value)
    return statistic.mechanism.value


def finds_none() -> PlanFault:
    """Return the fault of noise by which no key can be found."""
    return PlanFault.of(
        "DPQL443",
        "this mechanism finds no keys",
        hint="write `mechanism: auto`, or delete it",
    )


def _finders(statistic: Statistic) -> dict[MechanismName, str]:
    return _LISTS if STATISTICS[statistic.kind].finds else _COUNTS


def not_pure() -> PlanFault:
    """Return the fault of noise that is not pure, where no delta allows it."""
    return PlanFault.of(
        "DPQL440",
        "Gaussian noise is not pure, and the budget has no delta",
        hint="write `delta: 1e-9` beside `epsilon`, or another mechanism",
    )
