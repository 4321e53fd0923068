"""Which statistic of a spec finds the keys of its private columns.

A statistic is a *search* if all columns of its `by` are private and it counts units, or
lists keys: of those with the same columns one that lists keys, else the first. Every
statistic that is grouped by private columns needs a search of exactly these; its cells
are the keys that are found, times the keys of its other columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from dpql.model.spec import MechanismName, Spec, Statistic
from dpql.statistics import STATISTICS

Searches = Mapping[frozenset[str], Statistic]
"""The search of some columns."""


def counting(unit: str | None) -> str:
    """Return the statistic that counts units."""
    return "count" if unit is None else "units"


def search_among(
    private: AbstractSet[str], counts: str, statistics: Iterable[Statistic]
) -> Searches:
    """Return the searches of the private columns among some statistics.

    ``counts`` is the name of the statistic that counts units.
    """
    found: dict[frozenset[str], Statistic] = {}
    for one in sorted(statistics, key=lambda x: not STATISTICS[x.kind].finds):
        if not one.by or not private >= set(one.by) or one.total_of is not None:
            continue
        if STATISTICS[one.kind].finds or one.kind == counts:
            found.setdefault(frozenset(one.by), one)
    return found


def searches_of(spec: Spec) -> Searches:
    """Return the searches of a spec."""
    private = frozenset(spec.data.private(spec.data.by_name))
    return search_among(private, counting(spec.privacy.unit), spec.statistics)


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


def are_sound(spec: Spec) -> bool:
    """Tell whether all keys that are not declared are found, and at a price."""
    return all(_is_sound(spec, statistic) for statistic in spec.statistics)


def _is_sound(spec: Spec, statistic: Statistic) -> bool:
    search = found_by(spec, statistic)
    finds = search is not None and search.name == statistic.name
    if search is None and spec.data.private(statistic.by):
        return False
    if search is not None and (not spec.privacy.delta or statistic.total_of):
        return False
    if STATISTICS[statistic.kind].finds and not finds:
        return False
    if finds:
        return statistic.mechanism is not MechanismName.SNAPPING
    return statistic.shown_from is None
