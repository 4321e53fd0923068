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


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How keys are found that nobody declared: each is shown by its number of units.

    Adding a unit, or replacing one, changes those of ``keys`` keys by one at most; the
    noise of one key spends ``epsilon`` and ``delta`` of them, or all its share of a
    rho. Keys of fewer than ``shown_from`` units are never shown. A key is shown with a
    probability of at least 1/2 from ``half`` units on, of 1 - alpha from ``usual``
    units on, and in any case from ``certain`` units on; None if no number is enough.
    No more than ``most`` keys are shown.
    """

    noise: Noise
    keys: int
    epsilon: Fraction | None
    delta: Fraction
    loss: Fraction | None
    rho: Fraction
    shown_from: int
    half: int
    usual: int
    certain: int | None
    most: int
