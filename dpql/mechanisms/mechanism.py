"""What a mechanism is: the question it hides, and the functions it must have.

A mechanism is a module. It has its own frozen `Noise` type that holds every parameter
of the noise as an exact number, and the functions of the protocol below. Adding one
takes one module and one line in `dpql.mechanisms.MECHANISMS`; the contract tests walk
that table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dpql.errors import PlanFault

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpql.mechanisms.bits import Bits

EPSILON_CEILING = Fraction(1000)

N = TypeVar("N")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One number to be hidden: how far a neighbour moves it, and where it can be.

    Attributes:
        sensitivity: the most that the number changes between neighbours.
        lower: the least value the number can have, known without the data.
        upper: the largest value the number can have.
        lattice: the number is always a multiple of this; None for any rational.
    """

    sensitivity: Fraction
    lower: Fraction
    upper: Fraction
    lattice: Fraction | None = None

    def __post_init__(self) -> None:
        if self.sensitivity <= 0:
            raise PlanFault.of("DPQL413", "sensitivity must be above 0")
        if self.lower >= self.upper:
            raise PlanFault.of(
                "DPQL413", "the lower end of a range must be below its upper end"
            )
        if self.lattice is not None and self.lattice <= 0:
            raise PlanFault.of("DPQL413", "lattice spacing must be above 0")


class Additive(Protocol[N]):
    """The functions that every module of noise that is added to a number has.

    A *step* is an integer that names an outcome; `outcome` turns it into the released
    number. Values and outcomes are in the units of the query.
    """

    NAME: str

    PARAMETERS: Mapping[str, str]

    def parameters(self, noise: N) -> dict[str, str]:
        """Return every parameter as exact text, for the plan."""
        ...

    def restore(self, given: Mapping[str, str], /) -> N:
        """Return the noise whose `parameters` these are; refuse inconsistent ones."""
        ...

    def loss(self, noise: N) -> Fraction:
        """Return what the noise costs at most, from the parameters alone.

        It is the epsilon of one cell, or the rho of all cells, as the noise was
        calibrated for.
        """
        ...

    def rho(self, noise: N) -> Fraction:
        """Return its cost under zero-concentrated privacy, of what `loss` counts."""
        ...

    def accuracy(self, noise: N, alpha: Fraction) -> Fraction:
        """Return a with P(|outcome - value| > a) <= alpha, whatever the value."""
        ...

    def probability(self, noise: N, value: Fraction, step: int) -> Fraction:
        """Return P(step) of the ideal law at ``value``, to 200 bits."""
        ...

    def drift(self, noise: N) -> Fraction:
        """Return a bound on |ln(P of the code / P of the ideal law)| of any step."""
        ...

    def width(self, noise: N) -> int:
        """Return how many bits of its lane a draw reads, all in one request."""
        ...

    def perturb(self, noise: N, value: Fraction | int, bits: Bits) -> int:
        """Return the step of one noisy outcome for ``value``."""
        ...

    def perturb_many(
        self,
        noise: N,
        values: Sequence[int] | NDArray[Any],
        bits: Bits,
        *,
        lower: int,
        upper: int,
    ) -> NDArray[Any]:
        """Return the steps that `perturb` gives on the same lanes, for many values.

        Every value lies in lower..upper, which the plan knows. Which lanes are drawn
        how, in which integers, and what is read of them follows from the noise and
        from that range; values have no part in it.
        """
        ...

    def outcome(self, noise: N, step: int) -> Fraction:
        """Return the released number that ``step`` names."""
        ...

    def miniatures(self) -> Sequence[tuple[N, Fraction]]:
        """Return small noises with the distance of neighbours, to enumerate wholly."""
        ...


class Mechanism(Additive[N], Protocol[N]):
    """Noise whose loss is an epsilon: pure.

    One whose loss is bounded by the l1 change of all numbers together has
    `calibrate_joint` too: numbers that change little in all may share a sensitivity.
    """

    def calibrate(self, query: Query, epsilon: Fraction, *, gamma: Fraction) -> N:
        """Return the noise that hides ``query`` at ``epsilon``; never more loss."""
        ...

    def epsilon_for(
        self, query: Query, accuracy: Fraction, alpha: Fraction, *, gamma: Fraction
    ) -> Fraction:
        """Return the smallest epsilon, rounded up, that reaches ``accuracy``."""
        ...


class Concentrated(Additive[N], Protocol[N]):
    """Noise whose loss is a rho, of all cells together: not pure.

    ``cells`` of them change by the query's sensitivity at most, or others by less with
    no larger sum of squares; ``squared`` is a smaller bound on that sum.
    """

    def calibrate(
        self,
        query: Query,
        rho: Fraction,
        *,
        cells: int,
        squared: Fraction | None = None,
    ) -> N:
        """Return the noise of cells whose release together costs ``rho``."""
        ...

    def calibrate_joint(self, change: int, squared: int, rho: Fraction) -> N:
        """Return the noise of each of several numbers that share one sensitivity."""
        ...

    def rho_for(
        self,
        query: Query,
        accuracy: Fraction,
        alpha: Fraction,
        *,
        cells: int,
        squared: Fraction | None = None,
    ) -> Fraction:
        """Return the smallest rho, rounded up, that reaches ``accuracy``."""
        ...


class Chooser(Protocol[N]):
    """The functions of a mechanism that chooses one of m candidates by row counts.

    An *index* from 0 to m - 1 names an outcome. Its score is 0 where the candidate has
    the wanted rank; accuracies are distances of ranks, in rows.
    """

    NAME: str
    PARAMETERS: Mapping[str, str]

    def parameters(self, noise: N) -> dict[str, str]:
        """Return every parameter as exact text, for the plan."""
        ...

    def restore(self, given: Mapping[str, str], /) -> N:
        """Return the noise whose `parameters` these are; refuse inconsistent ones."""
        ...

    def loss(self, noise: N) -> Fraction:
        """Return an upper bound on the privacy loss, from the parameters alone."""
        ...

    def rho(self, noise: N) -> Fraction:
        """Return its cost under zero-concentrated privacy."""
        ...

    def accuracy(self, noise: N, alpha: Fraction) -> Fraction:
        """Return r with P(the rank is more than r rows off) <= alpha, for any data."""
        ...

    def probability(
        self, noise: N, counts: Sequence[int] | NDArray[Any], index: int
    ) -> Fraction:
        """Return P(index) of the ideal law for these counts, to 200 bits."""
        ...

    def drift(self, noise: N) -> Fraction:
        """Return a bound on |ln(P of the code / P of the ideal law)| of any index."""
        ...

    def width(self, noise: N) -> int:
        """Return how many bits of its lane a draw reads, all in one request."""
        ...

    def choose(self, noise: N, counts: Sequence[int] | NDArray[Any], bits: Bits) -> int:
        """Return the index of one outcome, from the rows at each candidate."""
        ...

    def choose_many(
        self,
        noise: N,
        counts: Sequence[Sequence[int] | NDArray[Any]] | NDArray[Any],
        bits: Bits,
    ) -> list[int]:
        """Return the indices that `choose` gives on the same lanes, for many cells."""
        ...

    def miniatures(self) -> Sequence[N]:
        """Return noises that read few bits, to enumerate wholly."""
        ...


class KeyFinder(Protocol[N]):
    """The functions of a mechanism that decides which keys are shown, and with what.

    A key has one unit at least; those that no unit has draw no coin. With a probability
    of delta it promises nothing; what `loss` and `rho` say holds otherwise.
    """

    NAME: str
    PARAMETERS: Mapping[str, str]

    def calibrate_keys(self, spend: Fraction, delta: Fraction, *, keys: int) -> N:
        """Return the noise of keys of which a unit changes so many, by one each.

        All of them spend an epsilon together, or a rho, and delta.
        """
        ...

    def parameters(self, noise: N) -> dict[str, str]:
        """Return every parameter as exact text, for the plan."""
        ...

    def restore(self, given: Mapping[str, str], /) -> N:
        """Return the noise whose `parameters` these are; refuse inconsistent ones."""
        ...

    def loss(self, noise: N) -> Fraction:
        """Return the epsilon of one key, or the rho of all that a unit changes."""
        ...

    def rho(self, noise: N) -> Fraction:
        """Return its cost under zero-concentrated privacy, of what `loss` counts."""
        ...

    def is_within(self, noise: N, delta: Fraction, *, keys: int) -> bool:
        """Tell whether so many keys fail with a probability of at most delta."""
        ...

    def chance(self, noise: N, units: int) -> Fraction:
        """Return the probability that a key with so many units is shown, from below."""
        ...

    def units_for(self, noise: N, wanted: Fraction) -> int:
        """Return the least number of units that is shown at least so probably."""
        ...

    def certain(self, noise: N) -> int | None:
        """Return the least number of units that is always shown, if there is one."""
        ...

    def accuracy(self, noise: N, alpha: Fraction) -> int:
        """Return A with P(a key is shown with a number more than A off) <= alpha.

        Where no number is released, it is from how many units on a key is shown but
        with probability alpha.
        """
        ...

    def is_outcome(self, noise: N, count: int) -> bool:
        """Tell whether a number may be released of a key."""
        ...

    def find(
        self, noise: N, units: NDArray[Any], bits: Bits, *, most: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the indices of the keys that are shown, and the number of each.

        ``units`` are numbers of units, all at least 1; more than ``most`` count as
        that many. Each key has a lane of its own.
        """
        ...

    def miniatures(self) -> Sequence[N]:
        """Return noises that read few bits, to enumerate wholly."""
        ...


def require_spend(epsilon: Fraction, gamma: Fraction) -> None:
    """Refuse an epsilon or a gamma that no release may have."""
    if not 0 < epsilon <= EPSILON_CEILING:
        raise PlanFault.of(
            "DPQL413", "epsilon must be above 0 and at most 1000", hint="try 1.0"
        )
    if not 0 < gamma <= 1:
        raise PlanFault.of(
            "DPQL413", "gamma must be above 0 and at most 1", hint="try 1e-9"
        )


def require_level(alpha: Fraction) -> None:
    """Refuse an alpha that is no probability of error; 1 asks for nothing."""
    if not 0 < alpha <= 1:
        raise PlanFault.of(
            "DPQL413", "alpha must be above 0 and below 1", hint="try 0.05"
        )


def require_target(query: Query, accuracy: Fraction, alpha: Fraction) -> None:
    """Refuse a target that is not positive, claims nothing, or needs no data."""
    require_level(alpha)
    if alpha == 1:
        raise PlanFault.of(
            "DPQL413",
            "an accuracy target needs an alpha below 1",
            hint="alpha is the probability of a larger error; try 0.05",
        )
    if accuracy <= 0:
        raise PlanFault.of(
            "DPQL410",
            "an accuracy target must be above 0",
            hint="ask for a wider margin",
        )
    if accuracy >= query.upper - query.lower:
        raise PlanFault.of(
            "DPQL411",
            "the accuracy target is as wide as the whole range of the statistic",
            hint="a constant meets it without data; ask for a narrower one, or drop it",
        )


def agreed(
    name: str, noise: N | None, spelling: Mapping[str, str], given: Mapping[str, str]
) -> N:
    """Return ``noise`` if its own spelling is what was given; refuse it otherwise."""
    if noise is None or dict(given) != dict(spelling):
        raise PlanFault.of(
            "DPQL414",
            f"the parameters of the {name} noise do not agree with one another",
            hint="plan the spec again instead of editing the plan",
        )
    return noise
