"""Texts about a step of a plan that the review and the report share."""

from __future__ import annotations

from dpql.model.format1 import filled
from dpql.model.notation import name_text
from dpql.model.plan import Plan, Step


def bound_text(step: Step, unit: str) -> str:
    """Return how many rows of a unit a step counts at most, and in how many groups."""
    assert step.bound is not None
    rows, reached, cells = step.bound.rows, step.bound.cells, step.cells
    text = f"at most {rows} {'row' if rows == 1 else 'rows'} of a {name_text(unit)}"
    if cells == 1:
        return text
    if reached >= cells:
        return f"{text} in each of {cells} groups"
    return f"{text} in {reached} of {cells} groups"


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
