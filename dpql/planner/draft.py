"""What the passes pass on: a spec and what has been decided about it so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Bound, Grid, Part, Step
from dpql.model.spec import Spec
from dpql.planner.rules import NOW, Rules
from dpql.statistics import Description, Setting

Descriptions = Mapping[str, Description]
"""What a statistic needs under each mechanism that can hide it, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A mechanism's name and the loss it may cause, None while shares are open."""

    mechanism: str
    epsilon: Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A plan in the making.

    Every tuple is empty until its pass has run; then it has one element per statistic
    of the spec, in the order of the spec.
    """

    spec: Spec
    rules: Rules = NOW
    grids: tuple[tuple[Grid, ...], ...] = ()
    bounds: tuple[Bound | None, ...] = ()
    settings: tuple[Setting, ...] = ()
    descriptions: tuple[Descriptions, ...] = ()
    choices: tuple[Choice, ...] = ()
    parts: tuple[tuple[Part, ...], ...] = ()
    steps: tuple[Step, ...] = ()
