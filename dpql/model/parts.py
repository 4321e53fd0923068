"""The numbers that take noise, the noise, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.codec import Members


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A sum over the rows of a cell that the engine returns, exactly.

    ``name`` is the product summed: "n" is 1, "u" and "v" are the first and second
    grid's whole numbers, "uu" and "uv" their products. "d" is no sum: it is the number
    of different values.
    """

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """``coefficient`` times the product of the named moments."""

    coefficient: int
    moments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A whole number per cell: floor(scale * sum of its terms + 1/2), clamped.

    The clamp is to lower..upper. Between neighbours, the cells change by so many
    multiples of ``sensitivity``, each rounded up, that they add up to at most ``l0``.

    Where the noise is concentrated, ``squared`` is the most that all cells change as a
    sum of squares, and at most ``l0`` times that of ``sensitivity``, the most that one
    cell changes. Of joint parts it is that of all of them together.
    """

    name: str
    terms: tuple[Term, ...]
    scale: Fraction
    sensitivity: int
    lower: int
    upper: int
    l0: int
    squared: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """A mechanism and all its parameters, as its `parameters` wrote them."""

    mechanism: str
    parameters: Members


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A measure and the noise that hides it.

    ``half_width`` a: the noisy number is within a of the true one with probability
    1 - ``level``, in units of the measure. ``clamp_probability`` bounds the chance
    that the outer clamp of the mechanism acts, where it has one.

    ``epsilon`` and ``loss`` are None where the noise is not pure. ``rho`` is what the
    cells cost together under zero-concentrated privacy; None in a pure plan.
    """

    measure: Measure
    noise: Noise
    epsilon: Fraction | None
    loss: Fraction | None
    level: Fraction
    half_width: Fraction
    clamp_probability: Fraction | None
    rho: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A quantile that is chosen among candidates; nothing is added to a number.

    ``cost`` is the most that all scores change between neighbours, over all cells.
    ``level`` and ``half_width`` are as those of a part, but of its rank, in rows.
    """

    at: Fraction
    cost: int
    noise: Noise
    epsilon: Fraction
    loss: Fraction
    level: Fraction
    half_width: Fraction
    rho: Fraction | None = None
