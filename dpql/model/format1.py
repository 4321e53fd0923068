"""Plans of format 1, as dpql 0.1 wrote them: read, and written again byte by byte.

Format 1 had members that described nothing an engine does. They follow from the rest
of the plan, so a plan in memory has none of them in either format:

    moments[].shift, moments[].safe_rows   how a sum could have been split
    bound.excess                           "fill" where n was taken for public

A plan of format 1 is verified by its own rules (`dpql.planner.rules`) and never run.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any

from dpql.model.codec import Malformed
from dpql.model.spec import Neighbours

if TYPE_CHECKING:
    from dpql.model.plan import Grid, Plan, Step

_SIGNED = (1 << 63) - 1
_COMMON = 1 << 31
_FACTORS = {"n": (), "u": (0,), "v": (1,), "uu": (0, 0), "uv": (0, 1)}
"""Which grids' numbers each moment multiplies."""


def lacking(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a plan of format 1 without the members that are gone.

    Whatever else it holds stays, for the reader to judge.
    """
    steps = document.get("steps")
    if not isinstance(steps, list):
        return document
    return {**document, "steps": [_lacking_step(step) for step in steps]}


def completed(plan: Plan, document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a plan with these members.

    Raises:
        Malformed: none follow, so no planner made the plan.
    """
    steps = []
    for step, written in zip(plan.steps, document["steps"], strict=True):
        moments = [
            _moment(moment.name, step.grids, plan.spec.data.rows.count)
            for moment in step.moments
        ]
        if None in moments:
            raise Malformed("it is no plan of format 1")
        bound = written["bound"]
        if bound is not None:
            bound = {**bound, "excess": "fill" if _took_n_for_public(step) else "drop"}
        steps.append({**written, "moments": moments, "bound": bound})
    return {**document, "steps": steps}


def filled(plan: Plan) -> tuple[str, ...]:
    """Return the statistics that counted rows beyond the bound of a unit at their fill.

    They took the declared number of rows for public though bounding made it private:
    wrong numbers, and a reader must know.
    """
    if plan.version != 1:
        return ()
    return tuple(
        step.name
        for step in plan.steps
        if step.bound is not None and _took_n_for_public(step)
    )


def _lacking_step(step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    found = dict(step)
    if isinstance(step.get("moments"), list):
        found["moments"] = [_without(m, "shift", "safe_rows") for m in step["moments"]]
    if "bound" in step:
        found["bound"] = _without(step["bound"], "excess")
    return found


def _without(document: Any, *names: str) -> Any:
    if not isinstance(document, dict):
        return document
    return {name: item for name, item in document.items() if name not in names}


def _took_n_for_public(step: Step) -> bool:
    return (
        step.relation is Neighbours.REPLACE_ONE
        and step.where is None
        and not step.by
        and not step.bin_columns
    )


def _moment(name: str, grids: tuple[Grid, ...], rows: int) -> dict[str, str] | None:
    """Return the moment as format 1 wrote it; None if it is none of these grids."""
    factors_of = _FACTORS.get(name)
    if factors_of is None or any(index >= len(grids) for index in factors_of):
        return None
    factors = [grids[index].steps for index in factors_of]
    if any(factor < 1 for factor in factors):
        return None
    shift, safe = 0, _SIGNED // _product(factors)
    if factors and safe < max(rows, _COMMON):
        shift = max(((factor - 1).bit_length() + 1) // 2 for factor in factors)
        limbs = [max(factor >> shift, (1 << shift) - 1) for factor in factors]
        safe = _SIGNED // _product(limbs)
    return {"name": name, "shift": str(shift), "safe_rows": str(safe)}


def _product(factors: Iterable[int]) -> int:
    return reduce(mul, factors, 1)
