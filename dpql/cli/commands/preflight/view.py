"""A preflight in words and as a document; both say first that it is not private."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dpql.diagnostics import shown
from dpql.model.notation import number_text, plain
from dpql.model.spec import (
    CategoryColumn,
    Column,
    DropNulls,
    IdColumn,
    NumberColumn,
    RowsExactly,
)

if TYPE_CHECKING:
    from dpql.curator.preflight import ColumnFit, KeysFit, Preflight, StatisticFit
    from dpql.model.plan import Plan, Step

WARNING = (
    "NOT PRIVATE: exact facts about the data, for their owner alone. "
    "Do not publish, send or keep this."
)

_WIDEST = 40


def as_text(plan: Plan, found: Preflight) -> str:
    """Return the preflight for a terminal."""
    data = plan.spec.data
    lines = [WARNING, "", f"{shown(data.source)}   {_rows(plan, found.rows)}", ""]
    names = [one.name for one in found.columns]
    names += [keys.name for keys in found.keys]
    names += [each.name for each in found.statistics]
    width = max(len(shown(name)) for name in names)
    for one in found.columns:
        column = data.column(one.name)
        first, *others = [*_said(column, one)] or ["every cell fits"]
        lines.append(f" {shown(one.name):<{width}}   {first}")
        lines += [f" {'':<{width}}   {line}" for line in others]
        lines += [f" {'':<{width}}     {line}" for line in _misfits(one)]
    lines.append("")
    for keys in found.keys:
        lines.append(f" {shown(keys.name):<{width}}   {_keys(plan, keys)}")
    for each in found.statistics:
        lines.append(f" {shown(each.name):<{width}}   {'; '.join(_losses(plan, each))}")
    return "\n".join(lines) + "\n"


def as_document(plan: Plan, found: Preflight) -> dict[str, Any]:
    """Return the preflight for machines of the owner."""
    return {
        "warning": WARNING,
        "source": plan.spec.data.source,
        "rows": found.rows,
        "declared": plan.spec.data.rows.count,
        "columns": [
            {
                "name": one.name,
                "empty": one.empty,
                "misfit": one.misfit,
                "below": one.below,
                "above": one.above,
                "converted": {key.value: count for key, count in one.converted.items()},
                "misfits": [
                    {
                        "text": each.text,
                        "count": each.count,
                        "looks_like": each.notation,
                    }
                    for each in one.misfits
                ],
                "different_misfits": one.different,
            }
            for one in found.columns
        ],
        "keys": [
            {
                "name": keys.name,
                "keys": keys.keys,
                "never": keys.never,
                "half": keys.half,
                "usual": keys.usual,
            }
            for keys in found.keys
        ],
        "statistics": [
            {
                "name": each.name,
                "rows": each.rows,
                "passing": each.passing,
                "inside": each.inside,
                "owned": each.owned,
                "kept": each.kept,
                "used": each.used,
                "cells": each.cells,
                "empty_cells": each.empty,
            }
            for each in found.statistics
        ],
    }


def _rows(plan: Plan, rows: int) -> str:
    declared = plan.spec.data.rows
    many = "exactly" if isinstance(declared, RowsExactly) else "at most"
    text = f"{_count(rows, 'row')}; the spec declares {many} {_grouped(declared.count)}"
    exact = isinstance(declared, RowsExactly)
    if exact and rows != declared.count:
        return f"{text}: a run refuses them"
    return f"{text}: too few are declared" if rows > declared.count else text


def _said(column: Column, one: ColumnFit) -> Iterator[str]:
    """Yield what is to be said of a column."""
    if isinstance(column, IdColumn):
        if one.empty:
            yield f"no id in {_part(one.empty, one.rows)}: they belong to nobody"
        return
    if one.empty:
        yield f"null in {_part(one.empty, one.rows)}{_fate(column)}"
    if one.misfit:
        what = "an undeclared key" if isinstance(column, CategoryColumn) else "no value"
        fate = ": dropped where it groups" if isinstance(column, CategoryColumn) else ""
        yield f"{what} in {_part(one.misfit, one.rows)}{fate or _fate(column)}"
    if one.below:
        yield f"below {_end(column, 0)} in {_part(one.below, one.rows)}: moved to it"
    if one.above:
        yield f"above {_end(column, 1)} in {_part(one.above, one.rows)}: moved to it"
    if one.booleans:
        yield "stored as Booleans: true counts as 1, false as 0"
    for notation, count in one.converted.items():
        yield f"{notation.value} in {_part(count, one.rows)}: read all the same"


def _fate(column: Column) -> str:
    nulls = getattr(column, "nulls", None)
    if nulls is None:
        return ""
    if isinstance(nulls, DropNulls):
        return ": not counted"
    return f": counted as {number_text(nulls.value)}"


def _end(column: Column, index: int) -> str:
    if isinstance(column, NumberColumn):
        return number_text((column.lower, column.upper)[index])
    return "the first day" if index == 0 else "the last day"


def _misfits(one: ColumnFit) -> Iterator[str]:
    if not one.misfits:
        return
    texts = [f"`{shown(each.text, limit=_WIDEST)}`" for each in one.misfits]
    counts = [_grouped(each.count) for each in one.misfits]
    wide, high = max(map(len, texts)), max(map(len, counts))
    for text, count, each in zip(texts, counts, one.misfits, strict=True):
        looks = f"   {each.notation.value}" if each.notation else ""
        yield f"{count:>{high}} x {text:<{wide}}{looks}".rstrip()
    more = one.different - len(one.misfits)
    if more:
        yield f"and {_grouped(more)} other texts"


def _keys(plan: Plan, found: KeysFit) -> str:
    """Return how many private keys there are, and how many of them runs show."""
    alpha = plan.step(found.name).alpha
    parts = [
        f"{_grouped(found.usual)} shown in {plain(100 * (1 - alpha), 6)}% of the runs",
        f"{_grouped(found.half - found.usual)} in half of them or more",
        f"{_grouped(found.keys - found.half - found.never)} seldom",
        f"{_grouped(found.never)} never",
    ]
    return f"{_count(found.keys, 'key')}: {', '.join(parts)}"


def _losses(plan: Plan, each: StatisticFit) -> Iterator[str]:
    step = next(step for step in plan.steps if step.name == each.name)
    yield _count(each.rows, "row")
    if step.where is not None:
        yield f"{_share(each.passing, each.rows)} pass `where`"
    if each.inside < each.passing:
        which = "keys that are usually shown" if step.per_key else "declared keys"
        yield f"{_share(each.inside, each.passing)} have {which} or bins"
    if each.owned < each.inside:
        yield f"{_share(each.inside - each.owned, each.inside)} of these have no id"
    if each.kept < each.owned:
        lost = each.owned - each.kept
        yield f"{_share(lost, each.owned)} dropped: {_bound(step, plan)}"
    if each.used < each.kept:
        yield f"{_share(each.kept - each.used, each.kept)} of the rest lack a value"
    yield f"{_grouped(each.used)} used"
    if each.empty and each.cells > 1:
        yield f"{_grouped(each.empty)} of {_grouped(each.cells)} cells without a row"


def _bound(step: Step, plan: Plan) -> str:
    """Return what one unit may contribute to a statistic."""
    bound, unit = step.bound, shown(plan.spec.privacy.unit or "row")
    if bound is None:
        return f"at most 1 row of a {unit}"
    rows, groups = _count(bound.rows, "row"), _count(bound.cells, "group")
    total = "" if bound.total is None else f", at most {_grouped(bound.total)} in all"
    return f"at most {rows} of a {unit} in each of {groups}{total}"


def _part(count: int, rows: int) -> str:
    return f"{_count(count, 'row')} ({_share(count, rows)})"


def _share(count: int, rows: int) -> str:
    if not rows:
        return "0%"
    tenths = -(-1000 * count // rows) if count * 2 < rows else 1000 * count // rows
    return f"{tenths // 10}.{tenths % 10}%"


def _count(count: int, noun: str) -> str:
    return f"{_grouped(count)} {noun}" + ("" if count == 1 else "s")


def _grouped(count: int) -> str:
    return f"{count:,}".replace(",", "\u202f")
