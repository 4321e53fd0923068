"""How a statistic is made of parts of one: what takes noise, and what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Measure, PartsOfOne, Share
from dpql.statistics.contribution import Contribution
from dpql.statistics.lattice import AnyLattice, lattice
from dpql.statistics.normal_lattice import normal_lattice
from dpql.statistics.parts import Parts
from dpql.statistics.promise import Promise, amount_for_promise


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
        concentrated: the noise hides a change measured in squares, and costs a rho.
    """

    what: Share
    parts: Parts
    contribution: Contribution
    rows: int
    promise: Promise | None
    unit: Fraction
    concentrated: bool = False

    def lattice(self, amount: Fraction) -> AnyLattice:
        """Return the whole numbers that take noise when so much is spent.

        It is an epsilon, or a rho where the noise is ``concentrated``.
        """
        parts, contribution = self.parts, self.contribution
        if self.concentrated:
            return normal_lattice(parts, contribution, rows=self.rows, rho=amount)
        return lattice(parts, contribution, rows=self.rows, epsilon=amount)

    def amount_for(
        self, at_least: int, target: Fraction, alpha: Fraction, *, most: Fraction
    ) -> Fraction | None:
        """Return the least epsilon or rho that promises ``target``, rounded up.

        The target is in units of the promise; None where ``most`` is not enough.
        """
        assert self.promise is not None, "there is something to keep"
        return amount_for_promise(
            self.promise,
            self.lattice,
            at_least=at_least,
            target=target,
            alpha=alpha,
            most=most,
        )

    def measures(self, amount: Fraction) -> tuple[Measure, ...]:
        """Return the measures; the sensitivity of each is that of all together."""
        found = self.lattice(amount)
        return tuple(
            Measure(
                name=name,
                terms=terms,
                scale=found.factor,
                sensitivity=found.change,
                lower=0,
                upper=found.most,
                l0=1,
                squared=found.squared,
            )
            for name, terms in zip(self.parts.names, self.parts.terms, strict=True)
        )

    def readout(self, amount: Fraction, level: Fraction) -> PartsOfOne:
        """Return how the value is read when so much is spent.

        The noisy number of rows is within what is stated at that level.
        """
        found = self.lattice(amount)
        width = found.tail.width([Fraction(1)] * len(self.parts.terms), level)
        return PartsOfOne(
            what=self.what, per_row=found.per_row, rows_within=width / found.per_row
        )

    def error(
        self, amount: Fraction, at_least: int, alpha: Fraction
    ) -> Fraction | None:
        """Return the promised error, in the user's units; None where there is none."""
        if self.promise is None:
            return None
        promised = self.promise(self.lattice(amount), at_least, alpha)
        return None if promised is None else promised * self.unit
