"""Columns of private keys: what finds their keys, and what may be said of it.

which statistic finds them               `dpql.statistics.searches`
what it needs, and what only it may have  here
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from dpql.diagnostics import shown
from dpql.language.context import Context, items, value
from dpql.language.source import Form
from dpql.language.suggestions import quoted
from dpql.language.tree import Entry, Scalar
from dpql.model.characters import look
from dpql.model.columns import OTHERS
from dpql.model.notation import is_bare, name_text
from dpql.model.spec import MechanismName, Statistic
from dpql.statistics import STATISTICS
from dpql.statistics.searches import Searches, counting, search_among
from dpql.statistics.statistic import PRIVATE


def check_others(keys: Sequence[Scalar], context: Context) -> None:
    """Note a key that would be mistaken for that of everything else."""
    for key in keys:
        if look(key.text) == OTHERS:
            context.add(
                "DPQL375",
                f"`{shown(key.text)}` is a key, and `others: true` asks for another "
                "one of that name",
                key.span,
                "rename the key in the data, or delete `others: true`",
            )


def check_found(
    entries: Sequence[Entry],
    statistics: Sequence[Statistic | None],
    context: Context,
) -> list[Statistic | None]:
    """Return the statistics, those that find keys with their noise, and note faults.

    What is at fault already may be what finds the keys of others.
    """
    private = [name for name, type_ in context.types.items() if type_ == PRIVATE]
    sound = [one for one in statistics if one is not None]
    unit = None if context.unit_is_row else context.unit or "?"
    found = search_among(frozenset(private), counting(unit), sound)
    if context.delta == 0:
        _need_delta(entries, private, context)
    noted: set[frozenset[str]] = set()
    checked: list[Statistic | None] = []
    for entry, statistic in zip(entries, statistics, strict=True):
        if statistic is None or statistic.total_of or _at_fault(statistic, context):
            checked.append(statistic)
            continue
        columns = frozenset(statistic.by) & set(private)
        search = found.get(columns)
        finds = search is not None and search.name == statistic.name
        if STATISTICS[statistic.kind].finds:
            _check_list(entry, statistic, private, found, context)
        elif columns and search is None:
            if columns not in noted and len(sound) == len(statistics):
                _missing(entry, columns, context)
            noted.add(columns)
        elif statistic.shown_from is not None and not finds:
            _misplaced(entry, search, context)
        checked.append(_with_noise(entry, statistic, context) if finds else statistic)
    return checked


def _at_fault(statistic: Statistic, context: Context) -> bool:
    """Tell whether its groups are of a column whose declaration is at fault."""
    return any(name not in context.columns for name in statistic.by)


def _need_delta(
    entries: Sequence[Entry], private: Sequence[str], context: Context
) -> None:
    for entry in entries:
        for item in items(value(entry.value, "by")):
            if item.text in private:
                context.add(
                    "DPQL372",
                    f"the keys of `{shown(item.text)}` are found in the data, which "
                    "needs a delta above 0",
                    item.span,
                    "write `delta: 1e-9` under `privacy`, or declare the keys",
                )
                return


def _check_list(
    entry: Entry,
    statistic: Statistic,
    private: Sequence[str],
    found: Searches,
    context: Context,
) -> None:
    """Note a list of keys that are declared, or listed already."""
    public = [
        item
        for item in items(value(entry.value, "by"))
        if item.text in context.columns and item.text not in private
    ]
    kept = [name for name in statistic.by if name in private]
    if public:
        names = quoted(item.text for item in public)
        context.add(
            "DPQL376",
            f"only keys that are found can be listed, and those of {names} are "
            "declared",
            public[0].span,
            f"list those of {quoted(kept)} alone"
            if kept
            else "delete the statistic, or declare `keys: private`",
        )
    elif not statistic.by:
        context.add(
            "DPQL376",
            "it is not said of which columns the keys are listed",
            entry.key.span,
            f"add `by: [{_names([*private][:1], context)}]`"
            if private
            else "add `by` with columns that have `keys: private`",
        )
    elif (first := found.get(frozenset(statistic.by), statistic)) is not statistic:
        context.add(
            "DPQL376",
            f"`{shown(first.name)}` lists these keys already",
            entry.key.span,
            "delete one of them",
        )


def _missing(entry: Entry, columns: frozenset[str], context: Context) -> None:
    """Note that nothing finds the keys of some columns, and what would."""
    nodes = [one for one in items(value(entry.value, "by")) if one.text in columns]
    names = [node.text for node in nodes]
    together = " together" if len(names) > 1 else ""
    context.add(
        "DPQL373",
        f"no statistic finds the keys of {_and(names)}{together}",
        nodes[0].span,
        f"add `{_line(names, context)}`; `list keys` finds them without counts"
        if context.source.form is Form.DPQL
        else f"add `{_line(names, context)}`; `list: keys` finds them without counts",
    )


def _line(names: list[str], context: Context) -> str:
    """Return the statistic that finds the keys of these columns."""
    counted = "rows" if context.unit_is_row else "units"
    by = _names(names, context)
    if context.source.form is Form.DPQL:
        return f"NAME = count {counted} by {by} spend share 1"
    return f"NAME: {{count: {counted}, by: [{by}], spend: {{share: 1}}}}"


def _names(names: list[str], context: Context) -> str:
    """Return names of columns as they are written in the text."""
    if context.source.form is Form.DPQL:
        return ", ".join(shown(name_text(name)) for name in names)
    return ", ".join(
        shown(name if is_bare(name) else json.dumps(name, ensure_ascii=False))
        for name in names
    )


def _misplaced(entry: Entry, search: Statistic | None, context: Context) -> None:
    """Note `shown_from` where no keys are found."""
    node = value(entry.value, "shown_from")
    assert node is not None, "it has a value"
    if search is None:
        message = "`shown_from` is for a statistic that finds keys, which this does not"
        hint = "delete it"
    else:
        message = f"`shown_from` is for `{shown(search.name)}`, which finds these keys"
        hint = f"write it under `{shown(search.name)}`"
    context.add("DPQL374", message, node.span, hint)


def _with_noise(entry: Entry, statistic: Statistic, context: Context) -> Statistic:
    """Return what finds keys with noise that can; snapping by default means `auto`."""
    if statistic.mechanism is not MechanismName.SNAPPING:
        return statistic
    own = value(entry.value, "mechanism")
    if own is not None:
        context.add(
            "DPQL377",
            "snapping finds no keys",
            own.span,
            "write `mechanism: auto`, or delete it",
        )
    return replace(statistic, mechanism=MechanismName.AUTO)


def _and(names: Sequence[str]) -> str:
    *most, last = [f"`{shown(name)}`" for name in names]
    return f"{', '.join(most)} and {last}" if most else last
