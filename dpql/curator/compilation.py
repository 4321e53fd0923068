"""A plan becomes programs: what an engine searches, and then what it sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dpql.curator.columns import canonical_columns
from dpql.curator.conditions import Known, Test, columns_of
from dpql.curator.derived import (
    Derivation,
    column_bins,
    column_grid,
    drops_nulls,
    fill_of,
)
from dpql.curator.factors import Factor, Flag
from dpql.curator.key_search import FoundColumn, KeySearch
from dpql.curator.program import (
    DISTINCT,
    Axis,
    BinAxis,
    Distinct,
    KeyAxis,
    Moment,
    Program,
    Ranking,
    Selection,
    Tally,
)
from dpql.model.columns import OTHERS
from dpql.model.plan import Chosen, Plan, Step
from dpql.model.spec import CategoryColumn, Data, IdColumn, Neighbours, PrivateColumn

Keys = Mapping[str, Sequence[tuple[str, ...]]]
"""The keys that were shown, by the statistic that found them."""


def compile_searches(plan: Plan) -> Program | None:
    """Return what an engine must count to find keys; None where all are declared."""
    derivation = Derivation(plan.spec.data)
    searches = tuple(
        KeySearch(
            statistic=step.name,
            columns=step.by,
            where=None if step.where is None else derivation.test(step.where),
            # No key may be called as the cell of everything else is.
            reserved=OTHERS if any(map(plan.spec.data.has_others, step.by)) else None,
            unit=plan.spec.privacy.unit,
            most=1 if step.bound is None else step.bound.cells,
        )
        for step in plan.steps
        if step.search is not None
    )
    if not searches:
        return None
    used = {name for search in searches for name in search.columns}
    for search in searches:
        used.update(() if search.where is None else columns_of(search.where))
    return _program(plan, derivation, used, searches=searches)


def summed_steps(plan: Plan, keys: Keys | None = None) -> list[Step]:
    """Return the steps that a program sums, in the order of its tallies."""
    return [
        step
        for step in plan.steps
        if step.total_of is None
        and step.search is None
        and (step.found_by is None or keys is None or _size(plan, step, keys))
    ]


def _size(plan: Plan, step: Step, keys: Keys) -> int:
    column = _found(plan, step, keys)
    return 0 if column is None else column.size


def compile_program(plan: Plan, keys: Keys | None = None) -> Program:
    """Return what an engine must compute for the plan, but for its searches.

    ``keys`` are those that these have shown; without them nobody knows any. Steps by
    keys of which none was shown have no cells, and are left out.
    """
    derivation = Derivation(plan.spec.data)
    summed = summed_steps(plan, keys)
    found = {step.name: _found(plan, step, keys or {}) for step in summed}
    tallies = tuple(
        _tally(step, plan.spec.data, derivation, found[step.name]) for step in summed
    )
    columns = tuple(dict.fromkeys(x for x in found.values() if x is not None))
    used = {name for tally in tallies for name in _reads(tally)}
    used.difference_update(one.name for one in columns)
    used.update(name for one in columns for name in one.columns)
    return _program(plan, derivation, used, tallies=tallies, found=columns)


def _program(
    plan: Plan,
    derivation: Derivation,
    used: set[str],
    *,
    tallies: tuple[Tally, ...] = (),
    found: tuple[FoundColumn, ...] = (),
    searches: tuple[KeySearch, ...] = (),
) -> Program:
    if plan.spec.privacy.unit is not None:
        used.add(plan.spec.privacy.unit)
    derived, used = derivation.needed(used)
    columns = canonical_columns(plan.spec.data)
    return Program(
        # A count of all rows reads no column; some column must bring the rows.
        columns=tuple(x for x in columns if x.name in used) or columns[:1],
        derived=derived,
        data=plan.spec.data,
        unit=plan.spec.privacy.unit,
        declared_rows=plan.spec.data.rows.count,
        counts_rows=plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE,
        tallies=tallies,
        found=found,
        searches=searches,
    )


def _found(plan: Plan, step: Step, keys: Keys) -> FoundColumn | None:
    """Return the column of found keys by which a step is grouped, if there is one."""
    if step.found_by is None:
        return None
    columns = plan.step(step.found_by).by
    others = any(plan.spec.data.has_others(name) for name in columns)
    return FoundColumn(
        columns=columns,
        keys=tuple(keys.get(step.found_by, ())),
        others=others,
        statistic=step.found_by,
    )


def _tally(
    step: Step, data: Data, derivation: Derivation, found: FoundColumn | None
) -> Tally:
    factors = [
        Factor(grid.column, column_grid(data, grid.column, grid.steps))
        for grid in step.grids
    ]
    distinct = _distinct(step, factors, data)
    drops = () if distinct is None or distinct.factor else (distinct.column,)
    flag, counted = _asked(step, derivation)
    return Tally(
        statistic=step.name,
        selection=Selection(
            where=None if step.where is None else derivation.test(step.where),
            axes=tuple(_axes(step, data, found)),
            bound=step.bound,
        ),
        present=tuple(
            dict.fromkeys(
                grid.column for grid in step.grids if drops_nulls(data, grid.column)
            )
        )
        + drops,
        moments=tuple(
            Moment(moment.name, _factors(moment.name, flag or factors))
            for moment in step.moments
            if moment.name != DISTINCT
        ),
        distinct=distinct,
        ranking=(
            Ranking(factors[0], step.readout.stride)
            if isinstance(step.readout, Chosen)
            else None
        ),
        counted=counted,
        total=step.total,
    )


def _asked(step: Step, derivation: Derivation) -> tuple[list[Flag], Test | None]:
    """Return what is 1 where the condition is true, and which rows are counted.

    None is left out, and none counted, where the number of rows is public.
    """
    if step.condition is None:
        return [], None
    asked = derivation.test(step.condition)
    return [Flag(asked)], Known(asked) if step.joint else None


def _distinct(step: Step, factors: list[Factor], data: Data) -> Distinct | None:
    """Return what is counted by its different values, if anything is."""
    if all(moment.name != DISTINCT for moment in step.moments):
        return None
    if factors:
        return Distinct(factors[0].column, factors[0], factors[0].quantiser.steps + 1)
    name = step.columns[0]
    if isinstance(data.column(name), IdColumn | PrivateColumn):
        return Distinct(name, None, None)
    return Distinct(name, None, len(data.category(name).keys))


def _factors(name: str, factors: Sequence[Factor | Flag]) -> tuple[Factor | Flag, ...]:
    """Return what a moment multiplies: "n" nothing, "uv" both grids, and so on."""
    return () if name == "n" else tuple(factors["uv".index(x)] for x in name)


def _axes(step: Step, data: Data, found: FoundColumn | None) -> Iterator[Axis]:
    """Yield the axes of the cells: keys of ``by``, then what the statistic splits.

    Columns whose keys were found together are one axis, where the first of them stands.
    """
    apart = [x for x in step.by if found is None or x not in found.columns]
    first = next((x for x in step.by if x not in apart), None)
    for name in step.by:
        if name in apart:
            yield _key_axis(name, data)
        elif found is not None and name == first:
            yield KeyAxis(found.name, found.size, found=True)
    if step.edges:
        name = step.columns[0]
        binned, drops = column_bins(data, name, step.edges), drops_nulls(data, name)
        yield BinAxis(name, binned, drops)
        return
    for name in step.bin_columns:
        yield _key_axis(name, data)


def _key_axis(name: str, data: Data) -> KeyAxis:
    fill = (
        None if isinstance(data.column(name), CategoryColumn) else fill_of(data, name)
    )
    return KeyAxis(name, len(data.category(name).keys), fill)


def _reads(tally: Tally) -> Iterator[str]:
    """Yield the columns that a tally reads."""
    yield from tally.present
    yield from (axis.column for axis in tally.selection.axes)
    yield from (factor.column for factor in tally.factors)
    for flag in tally.flags:
        yield from columns_of(flag.test)
    if tally.counted is not None:
        yield from columns_of(tally.counted)
    if tally.distinct is not None:
        yield tally.distinct.column
    if tally.selection.where is not None:
        yield from columns_of(tally.selection.where)


def program_text(plan: Plan) -> str:
    """Return what an engine computes for a plan; where keys are found, in two parts."""
    searches, sums = compile_searches(plan), compile_program(plan)
    if searches is None:
        return str(sums)
    return f"first\n\n{searches}\nthen, with the keys that are shown\n\n{sums}"
