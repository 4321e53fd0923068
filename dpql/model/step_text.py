"""Texts about a step of a plan that the review and the report share."""

from __future__ import annotations

from decimal import ROUND_CEILING

from dpql.model.columns import OTHERS
from dpql.model.format1 import filled
from dpql.model.key_text import not_shown_text
from dpql.model.lattice_nodes import Node
from dpql.model.notation import measure_text, name_text, plain
from dpql.model.plan import Plan, Step
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Contributes,
    DropNulls,
)


def bound_text(step: Step, unit: str) -> str:
    """Return how many rows of a unit a step counts at most, and in how many groups."""
    assert step.bound is not None
    rows, reached, cells = step.bound.rows, step.bound.cells, step.cells
    text = f"at most {_rows(rows)} of a {name_text(unit)}"
    if step.statistic == "units" or step.names_only:
        text = f"each {name_text(unit)} once"
    if step.per_key:
        in_all = "" if step.bound.total is None else f", {step.bound.total} in all"
        groups = "group" if reached == 1 else "groups"
        return f"{text} in at most {reached} {groups}{in_all}"
    if cells == 1:
        return text
    groups = f"each of {cells}" if reached >= cells else f"{reached} of {cells}"
    in_all = "" if step.bound.total is None else f", {step.bound.total} in all"
    return f"{text} in {groups} groups{in_all}"


def kept_by(plan: Plan, step: Step) -> Step:
    """Return the step that says which rows one counts: a total's groups, or itself."""
    return step if step.total_of is None else plan.step(step.total_of)


def losses_text(plan: Plan, step: Step) -> tuple[str, ...]:
    """Return sentences on the rows that a statistic leaves out, for any reader.

    No interval shows these losses.
    """
    sentences = []
    step = kept_by(plan, step)
    unit = plan.spec.privacy.unit
    if step.bound is not None and unit is not None and not filled(plan):
        sentences.append(
            f"Counts {bound_text(step, unit)}: whatever a {name_text(unit)} has beyond "
            "that is left out by lot, so these are numbers about the rows that are "
            "left, and no interval shows what is missing."
        )
    data = plan.spec.data
    sentences += not_shown_text(plan, step)
    for name in dict.fromkeys((*step.by, *step.bin_columns)):
        column, derived = data.column(name), data.lattice.derived.get(name)
        if derived is not None or isinstance(column, BooleanColumn):
            if _has_nulls(column, derived):
                sentences.append(f"Rows whose {name_text(name)} is null count nowhere.")
            continue
        if not isinstance(column, CategoryColumn):
            continue
        count = len(column.declared)
        keys = (
            "is not the one declared key"
            if count == 1
            else (f"is none of the {count} declared keys")
        )
        where = (
            f"under {OTHERS}, those without one nowhere" if column.others else "nowhere"
        )
        sentences.append(f"Rows whose {name_text(name)} {keys} count {where}.")
    return tuple(sentences)


def _has_nulls(column: Column, derived: Node | None) -> bool:
    """Tell whether a column that groups may have no key."""
    if derived is not None:
        return derived.shape.nullable
    return isinstance(column, BooleanColumn) and isinstance(column.nulls, DropNulls)


def bounds_text(plan: Plan) -> tuple[str, ...]:
    """Return what counts of a unit, for each bound, with the statistics it is for.

    One bound for all needs no list of those it is for.
    """
    unit = plan.spec.privacy.unit
    names: dict[str, list[str]] = {}
    for step in plan.steps:
        if unit is not None and step.bound is not None:
            words = bound_text(kept_by(plan, step), unit)
            names.setdefault(words, []).append(step.name)
    if len(names) == 1:
        return tuple(names)
    return tuple(f"{words} ({', '.join(some)})" for words, some in names.items())


def excess_text(plan: Plan) -> str:
    """Return what became of the rows of a unit beyond its bound."""
    names = filled(plan)
    if not names:
        return "totals are of those rows"
    return f"dpql 0.1 counted the others at their fill in {', '.join(names)}"


def fault_text(plan: Plan) -> str | None:
    """Return what is known to be wrong in the numbers of a plan, or None."""
    names = filled(plan)
    if not names:
        return None
    return (
        "dpql 0.1 divided by the declared number of rows, and counted the rows beyond "
        f"the bound of a unit at their fill: {', '.join(names)} are wrong where a unit "
        "had more rows than that"
    )


def rank_text(step: Step, off: str) -> str:
    """Return what is promised of the ranks of a quantile, ``off`` rows at most.

    It counts the n rows of a group that hold a value and are left by bounding.
    """
    below, above, value = "at n", "(1 - at) n", "each value"
    if len(step.picks) == 1:
        (pick,) = step.picks
        below, above, value = f"{pick.at} n", f"{1 - pick.at} n", "the value"
    text = (
        f"at most {below} + {off} of the n rows of a group are below {value}, and at "
        f"most {above} + {off} above it"
    )
    if step.quantisation == 0:
        return text
    unit = "" if step.unit is None else f" {measure_text(step.unit)}"
    near = plain(step.quantisation, 3, ROUND_CEILING)
    return f"{text}, not counting those within {near}{unit} of it"


def contributes_text(contributes: Contributes) -> str:
    """Return what one unit may add at most, wherever it is said."""
    groups = contributes.groups
    text = (
        f"{_rows(contributes.rows)} in {groups} {'group' if groups == 1 else 'groups'}"
    )
    return text if contributes.total is None else f"{text}, {contributes.total} in all"


def _rows(count: int) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}"
