"""What the passes pass on: a spec and what has been decided about it so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Bound, Grid, Part, Step
from dpql.model.spec import Spec
from dpql.planner.rules import NOW, Rules
from dpql.statistics import Description, Setting
from dpql.statistics.searches import searches_of

Descriptions = Mapping[str, Description]
"""What a statistic needs under each mechanism that can hide it, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A mechanism's name and what it may spend, None while shares are open.

    ``epsilon`` is None, too, where the noise is not pure. ``rho`` is what the statistic
    may cost where the plan accounts in rho, else None.
    """

    mechanism: str
    epsilon: Fraction | None
    rho: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A plan in the making.

    Every tuple is empty until its pass has run; then it has one element per statistic
    of the spec, in the order of the spec. Where it is ``concentrated``, shares are
    those of a rho, and noise need not be pure.
    """

    spec: Spec
    rules: Rules = NOW
    concentrated: bool = False
    grids: tuple[tuple[Grid, ...], ...] = ()
    bounds: tuple[Bound | None, ...] = ()
    settings: tuple[Setting, ...] = ()
    descriptions: tuple[Descriptions, ...] = ()
    choices: tuple[Choice, ...] = ()
    parts: tuple[tuple[Part, ...], ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def events(self) -> Fraction:
        """The probability that the searches for keys may fail: their delta, together.

        Where rho must be converted, that takes the other half of the delta.
        """
        if not self.searches:
            return Fraction(0)
        delta = self.spec.privacy.delta
        return delta / 2 if self.concentrated else delta

    @property
    def searches(self) -> tuple[str, ...]:
        """The names of the statistics that find keys."""
        return tuple(x.name for x in searches_of(self.spec).values())
