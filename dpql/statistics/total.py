"""`total: NAME`: the total of a grouped count or sum, of the rows that its groups keep.

It is released with noise of its own, as large as that of a group, and then shares out
with the groups what they differ by, so that these add up to it (`totals`). That is
right because both are sums over the same kept rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpql.model import limits
from dpql.model.shape import Field, Text
from dpql.model.spec import (
    AccuracyTarget,
    MechanismName,
    Neighbours,
    Spec,
    Statistic,
)

TOTAL = "total"
KINDS = ("count", "sum")
"""What has a total: the rest is no sum over rows."""

FIELD = Field(
    name=TOTAL,
    shape=Text.of("the name of a statistic", limits.NAME, rule="the text of its key"),
    summary="The name of a count of rows or a sum that has groups: the total of the "
    "rows that its groups keep. Total and groups are moved so that the groups add up "
    "to it, which costs nothing; both must have the same spend.",
    examples=("headcount",),
)


def of(statistic: Statistic, groups: Statistic) -> Statistic:
    """Return what a total means: its groups' statistic, added up over them."""
    return Statistic(
        name=statistic.name,
        kind=groups.kind,
        columns=groups.columns,
        where=groups.where,
        by=groups.by,
        contributes=groups.contributes,
        mechanism=statistic.mechanism,
        alpha=statistic.alpha,
        gamma=statistic.gamma,
        spend=statistic.spend,
        total_of=groups.name,
    )


def objection(
    statistic: Statistic,
    groups: Statistic,
    neighbours: Neighbours,
    *,
    private: Iterable[str],
) -> tuple[str, str] | None:
    """Return why a statistic cannot be the total of these groups, and what cures it.

    ``private`` are the columns whose keys are found in the data.
    """
    found = _objections(statistic, groups, neighbours, frozenset(private))
    return next(found, None)


def _objections(
    statistic: Statistic,
    groups: Statistic,
    neighbours: Neighbours,
    private: frozenset[str],
) -> Iterator[tuple[str, str]]:
    if groups.kind not in KINDS or not groups.by or groups.total_of is not None:
        yield (
            f"`{groups.name}` is no count of rows and no sum that has groups",
            "only what is summed over rows adds up; give it a `by`",
        )
    if not private.isdisjoint(groups.by):
        yield (
            f"`{groups.name}` has no group for keys that are not found",
            f"ask for a {groups.kind} without `by` instead: it has all rows",
        )
    if neighbours is not Neighbours.ADD_REMOVE:
        yield (
            "a total and its groups have the same noise only under add_remove",
            "write `neighbours: add_remove`, or leave the total to readers",
        )
    if statistic.spend != groups.spend or statistic.alpha != groups.alpha:
        yield (
            f"a total agrees with `{groups.name}` where both have the same noise",
            "give both the same `spend` and the same `alpha`",
        )
    if isinstance(groups.spend, AccuracyTarget):
        yield (
            "sharing out what total and groups differ by changes their accuracy",
            "spend a share, or an epsilon, on both",
        )
    known = {MechanismName.AUTO, MechanismName.GEOMETRIC}
    if not known.issuperset((statistic.mechanism, groups.mechanism)):
        yield (
            "a total agrees with its groups with geometric noise only",
            "write `mechanism: geometric` for both",
        )


def are_sound(spec: Spec) -> bool:
    """Tell whether every total of a spec has groups, and all groups one at most."""
    by_name = {each.name: each for each in spec.statistics}
    totals = [each for each in spec.statistics if each.total_of is not None]
    private = spec.data.private(spec.data.by_name)
    return _differ(each.total_of for each in totals) and all(
        (groups := by_name.get(each.total_of or "")) is not None
        and each == of(each, groups)
        and objection(each, groups, spec.privacy.neighbours, private=private) is None
        for each in totals
    )


def _differ(names: Iterable[str | None]) -> bool:
    listed = list(names)
    return len(listed) == len(set(listed))
