"""The first passes: columns get grids, units get bounds, statistics get integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpql.diagnostics import shown
from dpql.errors import Diagnostic, PlanFault
from dpql.mechanisms import (
    CHOOSERS,
    CONCENTRATED,
    SEARCHES,
    lets_parts_share,
)
from dpql.model.notation import number_text
from dpql.model.plan import Bound, Grid, Plan, Step
from dpql.model.spec import (
    CategoryColumn,
    DropNulls,
    IdColumn,
    MechanismName,
    Neighbours,
    NumberColumn,
    PrivateColumn,
    Spec,
    Statistic,
)
from dpql.planner.draft import Descriptions, Draft
from dpql.planner.grids import choose_grid, finest, is_countable
from dpql.planner.mechanism_choice import asked, automatic, finds_none, hiding, not_pure
from dpql.planner.rules import NOW, Rules, rules_of
from dpql.statistics import STATISTICS, Description, Setting
from dpql.statistics import Statistic as Kind
from dpql.statistics.searches import is_search
from dpql.statistics.setting import Sought

MOST_RANKED_KEYS = 10_000
"""No more keys are shown where something is chosen by rank for each of them."""


def bind_columns(draft: Draft) -> Draft:
    """Choose the grid of every column that is summed, before any epsilon is known.

    The total epsilon stands for the statistic's own, which it bounds; so the grid is
    never coarser than MATH 5 demands.
    """
    spec = draft.spec
    faults = [
        fault
        for statistic in spec.statistics
        for fault in _uncountable(spec, statistic)
    ]
    if faults:
        raise PlanFault(faults)
    return replace(
        draft, grids=tuple(_grids(spec, statistic) for statistic in spec.statistics)
    )


def bound_contributions(draft: Draft) -> Draft:
    """Count the cells, and say how much of a unit survives in how many of them."""
    spec = draft.spec
    settings = tuple(
        _setting(spec, statistic, grids, draft.rules, sought=_sought(draft, statistic))
        for statistic, grids in zip(spec.statistics, draft.grids, strict=True)
    )
    bounds = tuple(_bound(spec, setting) for setting in settings)
    return replace(draft, settings=settings, bounds=bounds)


def describe_queries(draft: Draft) -> Draft:
    """Let every statistic name its integers; collect all refusals."""
    found: list[Descriptions] = []
    faults: list[Diagnostic] = []
    for statistic, setting in zip(draft.spec.statistics, draft.settings, strict=True):
        try:
            found.append(_describe(draft.spec, statistic, setting, draft.rules))
        except PlanFault as error:
            faults += located(draft.spec, statistic, error)
    if faults:
        raise PlanFault(faults)
    return replace(draft, descriptions=tuple(found))


def located(
    spec: Spec, statistic: Statistic, error: PlanFault, *path: str
) -> list[Diagnostic]:
    """Return the diagnostics with the statistic's name and span."""
    span = spec.spans.span("statistics", statistic.name, *path)
    return [
        Diagnostic(d.code, f"`{statistic.name}`: {d.message}", d.span or span, d.hint)
        for d in error.diagnostics
    ]


def is_known(spec: Spec, statistic: Statistic, rules: Rules = NOW) -> bool:
    """Tell whether the statistic is of all rows and their number is public.

    The declared number is that of the rows of the source. Where units have several
    rows, bounding them leaves fewer, and how many depends on who is in the data.
    """
    return (
        spec.privacy.neighbours is Neighbours.REPLACE_ONE
        and (spec.privacy.unit is None or rules.units_keep_n)
        and statistic.where is None
        and not statistic.by
        and not STATISTICS[statistic.kind].splits
    )


def count_cells(spec: Spec, statistic: Statistic) -> int:
    """Return the number of cells: the product of the groups' keys and the bins.

    Those of private columns count once: it is the number of cells of each.
    """
    cells = 1
    names = statistic.by
    if STATISTICS[statistic.kind].splits:
        if statistic.edges:
            cells = len(statistic.edges) - 1
        else:
            names = (*names, *statistic.columns)
    private = spec.data.private(names)
    for name in names:
        if name not in private:
            cells *= len(spec.data.category(name).keys)
    return cells


def ranked_cells(spec: Spec, statistic: Statistic) -> int:
    """Return for how many cells the rows at every candidate may have to be counted."""
    private = spec.data.private(statistic.by)
    return count_cells(spec, statistic) * (MOST_RANKED_KEYS if private else 1)


def _sought(draft: Draft, statistic: Statistic) -> Sought | None:
    """Return what a statistic that finds keys may spend on them."""
    if statistic.name not in draft.searches:
        return None
    spec = draft.spec
    each = 1
    if spec.privacy.unit is not None:
        own = spec.contributes(statistic)
        each = min(own.groups, own.total or own.groups)
    replaced = spec.privacy.neighbours is Neighbours.REPLACE_ONE
    return Sought(
        # Replacing a unit takes its keys away, and gives it others.
        keys=2 * each if replaced else each,
        counts=not STATISTICS[statistic.kind].finds,
        delta=draft.events / len(draft.searches),
        shown_from=statistic.shown_from or 1,
    )


def _uncountable(spec: Spec, statistic: Statistic) -> Iterator[Diagnostic]:
    for column in _numbers(spec, statistic):
        name = column.name
        if name in spec.data.lattice.derived:
            if STATISTICS[statistic.kind].power:
                yield from _too_fine(spec, statistic, column)
        elif not is_countable(column):
            yield Diagnostic(
                "DPQL432",
                f"`{statistic.name}`: the bounds of `{shown(name)}` are too large or "
                f"too close for {column.type.value}s to be counted",
                spec.spans.span("data", "columns", name, "bounds"),
                "choose bounds that values can come near, or another unit of measure",
            )


def _too_fine(
    spec: Spec, statistic: Statistic, column: NumberColumn
) -> Iterator[Diagnostic]:
    """Refuse a derived column of too many steps: its grid is what it is."""
    power = STATISTICS[statistic.kind].power
    steps = int((column.upper - column.lower) / (column.step or 1))
    most = finest(power, spec.data.rows.count)
    name, at = shown(column.name), spec.spans.span("data", "derived", column.name)
    if steps == 0:
        yield Diagnostic(
            "DPQL434",
            f"`{statistic.name}`: `{name}` always has the same value",
            at,
            "derive it from a column whose value differs",
        )
    elif steps > most:
        yield Diagnostic(
            "DPQL434",
            f"`{statistic.name}`: `{name}` has {steps} steps, and the most that can be "
            f"{'summed' if power == 1 else 'multiplied and summed'} is {most}",
            at,
            f"round it: `round({name}, STEP)` with a STEP of at least "
            f"{number_text((column.upper - column.lower) / most)}",
        )


def _summed(spec: Spec, statistic: Statistic) -> tuple[NumberColumn, ...]:
    if STATISTICS[statistic.kind].power == 0:
        return ()
    return _numbers(spec, statistic)


def _numbers(spec: Spec, statistic: Statistic) -> tuple[NumberColumn, ...]:
    named = CategoryColumn | PrivateColumn | IdColumn
    return tuple(
        spec.data.number(name)
        for name in statistic.columns
        if not isinstance(spec.data.column(name), named)
    )


def _grids(spec: Spec, statistic: Statistic) -> tuple[Grid, ...]:
    return tuple(
        choose_grid(
            column,
            power=STATISTICS[statistic.kind].power,
            rows=spec.data.rows.count,
            epsilon=spec.privacy.epsilon,
            exact=column.name in spec.data.lattice.derived,
        )
        for column in _summed(spec, statistic)
    )


def _setting(
    spec: Spec,
    statistic: Statistic,
    grids: tuple[Grid, ...],
    rules: Rules,
    *,
    sought: Sought | None = None,
) -> Setting:
    cells = count_cells(spec, statistic)
    contributes = spec.contributes(statistic)
    kind = STATISTICS[statistic.kind]
    rows = 1 if kind.once or sought is not None else contributes.rows
    private = spec.data.private(statistic.by)
    # How many keys are found is not known, so any number of cells may be reached.
    reachable = max(cells, contributes.groups) if private else cells
    groups = min(contributes.groups, reachable)
    total = contributes.total
    if sought is not None and total is not None:
        # A unit counts once for a key.
        groups, total = min(groups, total), None
    return Setting(
        replace=spec.privacy.neighbours is Neighbours.REPLACE_ONE,
        known=is_known(spec, statistic, rules),
        rows=spec.data.rows.count,
        rows_each=rows,
        cells_each=groups,
        cells=max(cells, 2 * groups) if private else cells,
        # With fewer cells than groups a total may bound nothing.
        total=None if total is None or total >= rows * groups else total,
        whole=statistic.where is None and not statistic.by and not kind.splits,
        keys=_keys(spec, statistic) if kind.counts_values else None,
        grids=grids,
        unit_names=tuple(column.unit for column in _summed(spec, statistic)),
        at=statistic.at,
        beside=_beside(spec, statistic) if rules.shared_candidates else 0,
        ranked=ranked_cells(spec, statistic),
        added_up=statistic.total_of is not None,
        accounted=spec.privacy.delta > 0,
        sought=sought,
    )


def _beside(spec: Spec, statistic: Statistic) -> int:
    """Return how many cells the other statistics have that choose, if it does."""
    if not STATISTICS[statistic.kind].chooses:
        return 0
    return sum(
        ranked_cells(spec, other)
        for other in spec.statistics
        if STATISTICS[other.kind].chooses and other.name != statistic.name
    )


def _keys(spec: Spec, statistic: Statistic) -> int | None:
    column = spec.data.column(statistic.columns[0])
    return len(column.keys) if isinstance(column, CategoryColumn) else None


def _bound(spec: Spec, setting: Setting) -> Bound | None:
    if spec.privacy.unit is None:
        return None
    return Bound(rows=setting.rows_each, cells=setting.cells_each, total=setting.total)


def describe(
    statistic: Statistic, mechanism: str, setting: Setting, rules: Rules = NOW
) -> Description:
    """Return what the statistic needs when a mechanism hides it.

    Raises:
        PlanFault: the mechanism cannot hide it, or there is nothing to hide.
    """
    kind = STATISTICS[statistic.kind]
    if mechanism in CHOOSERS or mechanism in SEARCHES:
        return kind.describe(setting)
    found = _described(kind, mechanism, setting, rules)
    return found.concentrated() if mechanism in CONCENTRATED else found


def _described(
    kind: Kind, mechanism: str, setting: Setting, rules: Rules
) -> Description:
    shared = rules.parts_of_one and lets_parts_share(mechanism)
    private = kind.joint_only or not setting.known
    if shared and private and kind.describe_joint is not None:
        return kind.describe_joint(setting)
    return kind.describe(setting)


def description_of(plan: Plan, step: Step, mechanism: str) -> Description:
    """Return what a step of a plan needs when a mechanism hides it.

    Raises:
        PlanFault: the mechanism cannot hide it.
    """
    statistic = statistic_of(plan, step)
    rules = rules_of(plan)
    sought = None
    if step.search is not None:
        draft = Draft(spec=plan.spec, rules=rules, concentrated=plan.in_rho)
        found = _sought(draft, statistic)
        assert found is not None, "the step finds keys"
        sought = replace(found, delta=step.delta)
    setting = _setting(plan.spec, statistic, step.grids, rules, sought=sought)
    return describe(statistic, mechanism, setting, rules)


def statistic_of(plan: Plan, step: Step) -> Statistic:
    """Return the statistic of the spec that the step answers."""
    return next(each for each in plan.spec.statistics if each.name == step.name)


def _describe(
    spec: Spec, statistic: Statistic, setting: Setting, rules: Rules
) -> Descriptions:
    """Return the descriptions under all mechanisms that can hide the statistic."""
    summed = _summed(spec, statistic)
    for column in () if STATISTICS[statistic.kind].counts_values else summed:
        if setting.known and isinstance(column.nulls, DropNulls):
            raise PlanFault.of(
                "DPQL424",
                f"dropping the nulls of `{column.name}` would change the public "
                "number of rows",
                hint=f"write `coalesce({column.name}, 0)`"
                if column.name in spec.data.lattice.derived
                else "write `nulls: {as: VALUE}` for the column",
            )
    found: dict[str, Description] = {}
    faults: dict[str, PlanFault] = {}
    for mechanism in hiding(spec, statistic):
        try:
            found[mechanism] = describe(statistic, mechanism, setting, rules)
        except PlanFault as fault:
            faults[mechanism] = fault
    wanted: tuple[str, ...] = (asked(spec, statistic),)
    if statistic.mechanism is MechanismName.AUTO:
        concentrated = bool(spec.privacy.delta)
        wanted = automatic(statistic, rules, concentrated=concentrated)
    if not set(wanted) & set(found):
        otherwise = finds_none() if is_search(spec, statistic) else not_pure()
        raise next((faults[name] for name in wanted if name in faults), otherwise)
    return found
