"""Which statistic of a spec finds the keys of its private columns.

A statistic is a *search* if all columns of its `by` are private and it counts units, or
lists keys: of those with the same columns one that lists keys, else the first. Every
statistic that is grouped by private columns needs a search of exactly these; its cells
are the keys that are found, times the keys of its other columns.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpql.model.spec import Data, Privacy, Spec, Statistic
from dpql.statistics import STATISTICS

Searches = Mapping[frozenset[str], Statistic]
"""The search of some columns."""


def searches(
    data: Data, privacy: Privacy, statistics: tuple[Statistic, ...]
) -> Searches:
    """Return the searches of some statistics."""
    counting = "count" if privacy.unit is None else "units"
    found: dict[frozenset[str], Statistic] = {}
    for one in sorted(statistics, key=lambda x: not STATISTICS[x.kind].finds):
        if not one.by or data.private(one.by) != one.by or one.total_of is not None:
            continue
        if STATISTICS[one.kind].finds or one.kind == counting:
            found.setdefault(frozenset(one.by), one)
    return found


def searches_of(spec: Spec) -> Searches:
    """Return the searches of a spec."""
    return searches(spec.data, spec.privacy, spec.statistics)


def found_by(spec: Spec, statistic: Statistic) -> Statistic | None:
    """Return the search that finds the keys of a statistic's groups: maybe itself.

    None where all keys are declared, or where nothing finds them.
    """
    private = frozenset(spec.data.private(statistic.by))
    if not private:
        return None
    return searches_of(spec).get(private)


def is_search(spec: Spec, statistic: Statistic) -> bool:
    """Tell whether a statistic finds keys."""
    found = found_by(spec, statistic)
    return found is not None and found.name == statistic.name
