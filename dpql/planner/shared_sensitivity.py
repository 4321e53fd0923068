"""The sensitivity that joint parts share, derived again from a step's members alone.

    every part >= 0 on every row,   all parts together F on every row
    D = scale F k l, under replace_one twice that;   rounded: D + touched - 1

k and l are what the bound leaves of a unit, in rows of a cell and in cells; for k l
stands the bound on its rows in all, if that is less. A part is a
polynomial of degree 2 in u and 1 in v over 0..Q and 0..R; where its coefficients in the
basis of Bernstein are at least 0, so is the part.

The audit believes no arithmetic of `dpql.statistics`, so none of it is used here.
Source: MATH-statistics 3.1, 3.5.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

from dpql.model.plan import Measure, Step
from dpql.model.spec import Neighbours

_NAMES = ({"n"}, {"n", "u", "uu"}, {"n", "u", "v", "uu", "uv"})
"""The moments that there are over no grid, one grid and two."""

_ASKED = {"n", "u"}
"""Those of a condition: u is 1 where it is true, else 0."""

_U, _V = 2, 1
"""Degrees of a part."""

_ROUNDED = 4
"""As many parts as rounding may lengthen by 2."""


def shared_sensitivity(step: Step) -> int | None:
    """Return the l1 change of all parts in all cells between neighbours, at most.

    None where the parts do not add up to the same on every row, or one can be negative.
    """
    shared = _shared(step)
    if shared is None:
        return None
    scale, per_row = shared
    parts = step.parts
    rows, cells = _reach(step)
    replaces = step.relation is Neighbours.REPLACE_ONE
    change = scale * per_row * rows * (2 if replaces else 1)
    touched = cells
    if replaces:
        touched = 2 * cells if step.found_by else min(2 * cells, step.cells)
    touched *= len(parts)
    return -(-change // 1) + (0 if scale.denominator == 1 else touched - 1)


def shared_squares(step: Step) -> int | None:
    """Return the sum of squares of what all parts in all cells change, at most.

        own lattice   w (scale F)^2 (g k^2 + j^2),   N = g k + j rows of a unit in all
        rounded       w l (2^20 + 2)^2,   2^20 steps being k F

    w is 2 under replace_one: differences of parts that are at least 0 have a square of
    at most the sum of both. Four parts that are rounded make a change 2 longer at most.
    None as in `shared_sensitivity`, and where a part states too small a change.
    """
    shared = _shared(step)
    if shared is None:
        return None
    scale, per_row = shared
    rows, cells = _reach(step)
    each = 1 if step.bound is None else step.bound.rows
    most = scale * per_row * each
    if any(part.measure.sensitivity < most for part in step.parts):
        return None
    weight = 2 if step.relation is Neighbours.REPLACE_ONE else 1
    if scale.denominator == 1:
        full, rest = divmod(rows, each)
        return int(weight * (scale * per_row) ** 2 * (full * each**2 + rest**2))
    if most.denominator != 1 or len(step.parts) > _ROUNDED:
        return None
    return weight * cells * (int(most) + 2) ** 2


def _shared(step: Step) -> tuple[Fraction, int] | None:
    """Return the scale of the parts, and what a row adds to all of them unscaled."""
    measures = [part.measure for part in step.parts]
    known = _NAMES[min(len(step.grids), 2)] if step.condition is None else _ASKED
    sums = [_polynomial(measure, known) for measure in measures]
    scales = {measure.scale for measure in measures}
    if None in sums or len(scales) != 1:
        return None
    parts = [each for each in sums if each is not None]
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    per_row = total.pop("n", 0)
    (scale,) = scales
    even = per_row > 0 and scale > 0 and not any(total.values())
    if not even or not all(_never_negative(part, step) for part in parts):
        return None
    return scale, per_row


def _reach(step: Step) -> tuple[int, int]:
    """Return how many rows a unit has in all, and in how many cells, at most."""
    if step.bound is None:
        return 1, 1
    cells = step.bound.cells
    if step.found_by is None:
        # How many keys are found nobody knows.
        cells = min(cells, step.cells)
    rows = step.bound.rows * cells
    if step.bound.total is None:
        return rows, cells
    return min(rows, step.bound.total), min(cells, step.bound.total)


def _polynomial(measure: Measure, known: set[str]) -> Counter[str] | None:
    """Return the coefficient of every moment; None where it is none of single ones."""
    found: Counter[str] = Counter()
    for term in measure.terms:
        if len(term.moments) != 1 or not known.issuperset(term.moments):
            return None
        found[term.moments[0]] += term.coefficient
    return found


def _never_negative(part: Counter[str], step: Step) -> bool:
    """Tell whether a part is at least 0 for all whole numbers of the grids."""
    most = [grid.steps for grid in step.grids] if step.condition is None else [1]
    first, second = (*most, 0, 0)[:2]
    return all(
        part["n"]
        + Fraction(i, _U) * first * (part["u"] + j * second * part["uv"])
        + (i == _U) * first**2 * part["uu"]
        + j * second * part["v"]
        >= 0
        for i, j in product(range(_U + 1), range(_V + 1))
    )
