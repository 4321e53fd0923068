"""How the noisy numbers of a step become its value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """value = offset + scale * part."""

    offset: Fraction
    scale: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class CentredMean:
    """value = middle + scale * sum / max(1, count), from the parts count, sum.

    ``steps`` bounds |sum / count|.
    """

    middle: Fraction
    scale: Fraction
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CentredVariance:
    """value = scale**2 * (squares / count - (sum / count)**2), from three parts.

    The parts are count, sum, squares; count is taken as at least 1. ``steps`` bounds
    |sum / count|, its square bounds squares / count.
    """

    scale: Fraction
    steps: int


class Share(StrEnum):
    """What is read from parts of one, which share one sensitivity."""

    MEAN = "mean"
    VARIANCE = "variance"
    COVARIANCE = "covariance"
    DEVIATION = "deviation"
    RATIO = "ratio"
    PROPORTION = "proportion"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsOfOne:
    """The value is read from parts that a row adds ``per_row`` to in all.

    The unclamped parts decide which values are inside the interval: all that they do
    not contradict. Their sum over ``per_row`` is the noisy number of rows that hold a
    value; it is within ``rows_within`` of the true one at the level of the parts.
    """

    what: Share
    per_row: Fraction
    rows_within: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """value = lower + s * min(stride * index, steps), s the value of a grid's step.

    The index is one of 0..candidates - 1; a row counts for the candidate nearest to it.
    """

    candidates: int
    stride: int


Readout = Affine | CentredMean | CentredVariance | PartsOfOne | Chosen
