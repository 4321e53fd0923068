"""The first passes: columns get grids, units get bounds, statistics get integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpql.diagnostics import shown
from dpql.errors import Diagnostic, PlanFault
from dpql.model.plan import Bound, Grid
from dpql.model.spec import (
    CategoryColumn,
    DropNulls,
    Neighbours,
    NumberColumn,
    Spec,
    Statistic,
    StatisticKind,
)
from dpql.planner.draft import Draft
from dpql.planner.grids import choose_grid, is_countable
from dpql.planner.rules import NOW, Rules
from dpql.statistics import STATISTICS, Description, Setting


def bind_columns(draft: Draft) -> Draft:
    """Choose the grid of every column that is summed, before any epsilon is known.

    The total epsilon stands for the statistic's own, which it bounds; so the grid is
    never coarser than MATH 5 asks.
    """
    spec = draft.spec
    faults = [fault for ask in spec.statistics for fault in _uncountable(spec, ask)]
    if faults:
        raise PlanFault(faults)
    return replace(draft, grids=tuple(_grids(spec, ask) for ask in spec.statistics))


def bound_contributions(draft: Draft) -> Draft:
    """Count the cells, and say how much of a unit survives in how many of them."""
    spec = draft.spec
    settings = tuple(
        _setting(spec, ask, grids, draft.rules)
        for ask, grids in zip(spec.statistics, draft.grids, strict=True)
    )
    bounds = tuple(_bound(spec, setting) for setting in settings)
    return replace(draft, settings=settings, bounds=bounds)


def describe_queries(draft: Draft) -> Draft:
    """Ask every statistic for its integers; gather all refusals."""
    found: list[Description] = []
    faults: list[Diagnostic] = []
    for ask, setting in zip(draft.spec.statistics, draft.settings, strict=True):
        try:
            found.append(_describe(draft.spec, ask, setting))
        except PlanFault as error:
            faults += placed(draft.spec, ask, error)
    if faults:
        raise PlanFault(faults)
    return replace(draft, descriptions=tuple(found))


def placed(
    spec: Spec, ask: Statistic, error: PlanFault, *path: str
) -> list[Diagnostic]:
    """Return the diagnostics with the statistic's name and place."""
    span = spec.places.span("statistics", ask.name, *path)
    return [
        Diagnostic(d.code, f"`{ask.name}`: {d.message}", d.span or span, d.hint)
        for d in error.diagnostics
    ]


def is_known(spec: Spec, ask: Statistic, rules: Rules = NOW) -> bool:
    """Tell whether the statistic is of all rows and their number is public.

    The declared number is that of the rows of the source. Where units have several
    rows, bounding them leaves fewer, and how many depends on who is in the data.
    """
    return (
        spec.privacy.neighbours is Neighbours.REPLACE_ONE
        and (spec.privacy.unit is None or rules.units_keep_n)
        and ask.where is None
        and not ask.by
        and ask.kind is not StatisticKind.HISTOGRAM
    )


def count_cells(spec: Spec, ask: Statistic) -> int:
    """Return the number of cells: the product of the groups' keys and the bins."""
    cells = 1
    names = ask.by
    if ask.kind is StatisticKind.HISTOGRAM:
        if ask.edges:
            cells = len(ask.edges) - 1
        else:
            names = (*names, *ask.columns)
    for name in names:
        column = spec.data.column(name)
        assert isinstance(column, CategoryColumn), "resolve lets no other group"
        cells *= len(column.keys)
    return cells


def _uncountable(spec: Spec, ask: Statistic) -> Iterator[Diagnostic]:
    for name in ask.columns:
        column = spec.data.column(name)
        if isinstance(column, NumberColumn) and not is_countable(column):
            yield Diagnostic(
                "DPQL432",
                f"`{ask.name}`: the bounds of `{shown(name)}` are too large or too "
                f"close for {column.type.value}s to be counted",
                spec.places.span("data", "columns", name, "bounds"),
                "choose bounds that values can come near, or another unit of measure",
            )


def _summed(spec: Spec, ask: Statistic) -> tuple[NumberColumn, ...]:
    if STATISTICS[ask.kind].POWER == 0:
        return ()
    columns = tuple(spec.data.column(name) for name in ask.columns)
    return tuple(column for column in columns if isinstance(column, NumberColumn))


def _grids(spec: Spec, ask: Statistic) -> tuple[Grid, ...]:
    return tuple(
        choose_grid(
            column,
            power=STATISTICS[ask.kind].POWER,
            rows=spec.data.rows.count,
            epsilon=spec.privacy.epsilon,
        )
        for column in _summed(spec, ask)
    )


def _setting(
    spec: Spec, ask: Statistic, grids: tuple[Grid, ...], rules: Rules
) -> Setting:
    cells = count_cells(spec, ask)
    contributes = spec.privacy.contributes
    return Setting(
        replace=spec.privacy.neighbours is Neighbours.REPLACE_ONE,
        known=is_known(spec, ask, rules),
        rows=spec.data.rows.count,
        rows_each=contributes.rows,
        cells_each=min(contributes.groups, cells),
        cells=cells,
        grids=grids,
        unit_names=tuple(column.unit for column in _summed(spec, ask)),
    )


def _bound(spec: Spec, setting: Setting) -> Bound | None:
    if spec.privacy.unit is None:
        return None
    return Bound(rows=setting.rows_each, cells=setting.cells_each)


def _describe(spec: Spec, ask: Statistic, setting: Setting) -> Description:
    for column in _summed(spec, ask):
        if setting.known and isinstance(column.nulls, DropNulls):
            raise PlanFault.of(
                "DPQL424",
                f"dropping the nulls of `{column.name}` would change the public "
                "number of rows",
                hint="write `nulls: {as: VALUE}` for the column",
            )
    return STATISTICS[ask.kind].describe(setting)
