"""What takes noise, worked out cell by cell from moments, beside `curator.noise`.

The curator works on whole columns; this is the same by its definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpql.model.plan import Measure
from dpql.statistics.lattice import Lattice
from dpql.statistics.parts import Parts


def evaluate(measure: Measure, moments: Mapping[str, int]) -> int:
    """Return the measure of one cell from its moments, clamped into its range."""
    total = 0
    for term in measure.terms:
        product = term.coefficient
        for name in term.moments:
            product *= moments[name]
        total += product
    top, bottom = measure.scale.numerator, measure.scale.denominator
    nearest = (2 * top * total + bottom) // (2 * bottom)
    return min(max(nearest, measure.lower), measure.upper)


def part_sums(parts: Parts, moments: Mapping[str, int]) -> tuple[int, ...]:
    """Return the parts of one cell, exactly; nothing is clamped."""
    return tuple(
        sum(term.coefficient * moments[term.moments[0]] for term in terms)
        for terms in parts.terms
    )


def lattice_steps(lattice: Lattice, sums: Sequence[int]) -> tuple[int, ...]:
    """Return the whole numbers that take noise, each clamped into its own range."""
    top, bottom = lattice.factor.numerator, lattice.factor.denominator
    nearest = ((2 * top * part + bottom) // (2 * bottom) for part in sums)
    return tuple(min(max(step, 0), lattice.most) for step in nearest)
