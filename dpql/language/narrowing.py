"""A spec may narrow what the owner of the data declares, and never widen it.

unit, neighbours   as the owner says                             DPQL342
contributes        at most the owner's, of every statistic too   DPQL343
epsilon, delta     at most the cap                               DPQL344
rows               the public number, or a lower ceiling         DPQL345
columns            declared by the owner, and of the same type;
                   bounds on its grid and within its bounds, some
                   of its keys, which may be any where they are
                   private, everything else as the owner says     DPQL345
derived            the owner's, as they are, and further ones     DPQL345
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language.context import entries, number, text, value, whole
from dpql.language.dataset import Dataset
from dpql.language.left_out import LEFT_OUT
from dpql.language.source import Source
from dpql.language.suggestions import nearest, quoted
from dpql.language.tree import Mapping, Node
from dpql.model.calendar import date_text, time_text
from dpql.model.notation import number_text
from dpql.model.spec import (
    CategoryColumn,
    Column,
    DateColumn,
    NumberColumn,
    PrivateColumn,
    Spec,
    TimeColumn,
)


def check_promise(root: Mapping, dataset: Dataset, source: Source) -> None:
    """Note where a spec promises less than the owner of its data asks for."""
    own, asking = dataset.root.get("privacy"), root.get("privacy")
    for name, otherwise in (("unit", None), ("neighbours", LEFT_OUT["neighbours"])):
        said = value(asking, name)
        wanted = text(value(own, name)) or otherwise
        if said is not None and wanted and text(said) not in (None, wanted):
            source.add(
                "DPQL342",
                f"`{name}` is `{shown(text(said) or '')}`, and the owner of the data "
                f"says `{shown(wanted)}`",
                said.span,
                f"delete the line, or write `{name}: {shown(wanted)}`",
            )
    most = value(own, "contributes")
    blocks = [asking, *(one.value for one in entries(root.get("statistics")))]
    for block in blocks:
        _contributes(value(block, "contributes"), most, source)
    _cap(asking, dataset.root.get("cap"), source)
    _names(root, dataset, source)


def _contributes(said: Node | None, most: Node | None, source: Source) -> None:
    if said is None or most is None:
        return
    bounds = {name: whole(value(most, name)) for name in ("rows", "groups", "total")}
    asked = {name: whole(value(said, name)) for name in bounds}
    if bounds["total"] is not None and asked["total"] is None:
        asked["total"] = (asked["rows"] or 0) * (asked["groups"] or 0)
    for name, bound in bounds.items():
        count = asked[name]
        if bound is not None and count is not None and count > bound:
            at = value(said, name) or said
            source.add(
                "DPQL343",
                f"a unit would contribute `{name}: {count}`, and the owner of the data "
                f"allows {bound}",
                at.span,
                f"write `{name}: {bound}` or less",
            )


def _cap(asking: Node | None, cap: Node | None, source: Source) -> None:
    for name in ("epsilon", "delta"):
        said, most = value(asking, name), number(value(cap, name))
        if name == "delta" and cap is not None and most is None:
            most = Fraction(0)
        amount = number(said)
        if said is None or amount is None or most is None or amount <= most:
            continue
        source.add(
            "DPQL344",
            f"`{name}` is {number_text(amount)}, and the owner of the data "
            f"spends at most {number_text(most)} in all",
            said.span,
            f"write `{name}: {number_text(most)}` or less",
        )


def _names(root: Mapping, dataset: Dataset, source: Source) -> None:
    known = [entry.name for entry in entries(dataset.root.get("columns"))]
    for entry in entries(value(root.get("data"), "columns")):
        if entry.name not in known:
            close = nearest(entry.name, known)
            source.add(
                "DPQL345",
                f"the owner of the data declares no column `{shown(entry.name)}`",
                entry.key.span,
                f"did you mean `{shown(close)}`?"
                if close
                else f"take {quoted(known[:6])}, or ask the owner to declare it",
            )
    derived = [entry.name for entry in entries(dataset.root.get("derived"))]
    for entry in entries(value(root.get("data"), "derived")):
        if entry.name in derived:
            source.add(
                "DPQL345",
                f"the owner of the data derives `{shown(entry.name)}` already",
                entry.key.span,
                "delete the line, or give your column another name",
            )


def check_columns(root: Mapping, own: Spec, spec: Spec, source: Source) -> None:
    """Note columns that a spec declares more widely than the owner of its data."""
    for entry in entries(value(root.get("data"), "columns")):
        wide, narrow = own.data.column(entry.name), spec.data.column(entry.name)
        why = _widened(wide, narrow)
        if why is not None:
            source.add(
                "DPQL345",
                f"column `{shown(entry.name)}` is not within what the owner of the "
                f"data declares: {why[0]}",
                entry.key.span,
                why[1],
            )


def _widened(wide: Column, narrow: Column) -> tuple[str, str] | None:
    """Return why a column is not a narrower one, and what to write."""
    keyed = CategoryColumn | PrivateColumn
    if isinstance(wide, keyed) and isinstance(narrow, keyed):
        return _more_keys(wide, narrow)
    if type(wide) is not type(narrow):
        return "its type is another", "write the owner's type"
    why: tuple[str, str] | None = None
    alike = narrow
    match wide, narrow:
        case NumberColumn(), NumberColumn():
            why = _wider(
                (wide.lower, wide.upper),
                (narrow.lower, narrow.upper),
                wide.step,
                number_text,
            )
            alike = replace(narrow, lower=wide.lower, upper=wide.upper)
        case DateColumn(), DateColumn():
            ends, within = (wide.first, wide.last), (narrow.first, narrow.last)
            why = _wider(ends, within, Fraction(1), lambda day: date_text(int(day)))
            alike = replace(narrow, first=wide.first, last=wide.last)
        case TimeColumn(), TimeColumn():
            ends, within = (wide.first, wide.last), (narrow.first, narrow.last)
            step = Fraction(wide.step)
            why = _wider(ends, within, step, lambda second: time_text(int(second)))
            alike = replace(narrow, first=wide.first, last=wide.last)
    if why is None and wide != alike:
        return (
            "it differs in more than bounds and keys",
            "write step, unit of measure and nulls as the owner does",
        )
    return why


def _more_keys(
    wide: CategoryColumn | PrivateColumn, narrow: CategoryColumn | PrivateColumn
) -> tuple[str, str] | None:
    """Return why a category is not a narrower one: private keys can be any."""
    if narrow.others and not wide.others:
        return "it counts what is none of its keys", "delete `others: true`"
    if isinstance(wide, PrivateColumn):
        return None
    few = f"take {quoted(wide.declared[:6])}"
    if isinstance(narrow, PrivateColumn):
        return "its keys are declared", few
    known = set(wide.declared)
    more = [key for key in narrow.declared if key not in known]
    if more:
        return f"`{shown(more[0])}` is no key of it", few
    if wide.numeric != narrow.numeric:
        return (
            f"its keys are {'numbers' if wide.numeric else 'texts'}",
            f"write them {'without' if wide.numeric else 'in'} quotes",
        )
    return None


def _wider(
    wide: tuple[Fraction | int, Fraction | int],
    narrow: tuple[Fraction | int, Fraction | int],
    step: Fraction | None,
    write: Callable[[Fraction], str],
) -> tuple[str, str] | None:
    """Return why bounds are not narrower ones on the same grid."""
    first, last = map(Fraction, wide)
    lower, upper = map(Fraction, narrow)
    ends = f"[{write(first)}, {write(last)}]"
    if not first <= lower < upper <= last:
        return f"its bounds are {ends}", "write bounds within these"
    if step is not None and ((lower - first) / step).denominator != 1:
        return (
            f"its cells are {ends} in steps of {number_text(step)}",
            "write bounds that are whole steps apart from these",
        )
    return None
