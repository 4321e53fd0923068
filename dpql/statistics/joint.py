"""How a statistic is made of parts of one: what takes noise, and what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Measure, PartsOfOne, Share
from dpql.statistics.contribution import Contribution
from dpql.statistics.lattice import Lattice, lattice
from dpql.statistics.parts import Parts
from dpql.statistics.promise import Promise
from dpql.statistics.tails import Tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """Parts that share one sensitivity, so that none of them shares epsilon.

    Attributes:
        what: what is read from the parts.
        parts: what is summed, and what a row adds to all parts.
        contribution: what one unit may bring.
        rows: the ceiling of rows in a cell.
        promise: the error before there are data, where a group has so many rows; None
            where no such promise is known.
        unit: what the promise is counted in, in the user's units.
    """

    what: Share
    parts: Parts
    contribution: Contribution
    rows: int
    promise: Promise | None
    unit: Fraction

    def lattice(self, epsilon: Fraction) -> Lattice:
        """Return the whole numbers that take noise when so much is spent."""
        return lattice(self.parts, self.contribution, rows=self.rows, epsilon=epsilon)

    def measures(self, epsilon: Fraction) -> tuple[Measure, ...]:
        """Return the measures; the sensitivity of each is that of all together."""
        found = self.lattice(epsilon)
        return tuple(
            Measure(
                name=name,
                terms=terms,
                scale=found.factor,
                sensitivity=found.change,
                lower=0,
                upper=found.most,
                l0=1,
            )
            for name, terms in zip(self.parts.names, self.parts.terms, strict=True)
        )

    def readout(self, epsilon: Fraction, level: Fraction) -> PartsOfOne:
        """Return how the value is read when so much is spent.

        The noisy number of rows is within what is stated at that level.
        """
        found = self.lattice(epsilon)
        tail = Tail.of(found.theta, rounded=found.rounded)
        width = tail.width([Fraction(1)] * len(self.parts.terms), level)
        return PartsOfOne(
            what=self.what, per_row=found.per_row, rows_within=width / found.per_row
        )

    def error(
        self, epsilon: Fraction, at_least: int, alpha: Fraction
    ) -> Fraction | None:
        """Return the promised error, in the user's units; None where there is none."""
        if self.promise is None:
            return None
        promised = self.promise(self.lattice(epsilon), at_least, alpha)
        return None if promised is None else promised * self.unit
