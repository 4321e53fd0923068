"""The exact law of a mechanism, by running it on every tape.

A draw is a deterministic function of the bits it reads. A request of w bits has 2**w
answers, each with probability 2**-w; trying all of them, and all answers to whatever
is asked next, gives the law of the code itself, with no sampling error:

    P(step) = sum over paths that end in step of 2**-(bits read on the path)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpql.testing.tape import TapeError


class Perturbs(Protocol):
    """Whatever draws one outcome from a noise, a value and bits."""

    def perturb(self, noise: Any, value: Any, bits: Any, /) -> int:
        """Return the step of one outcome."""
        ...


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The law found: mass of each step, and the mass of paths cut off.

    ``masses`` and ``unresolved`` add to 1 exactly. It unpacks like a pair.
    """

    masses: dict[int, Fraction]
    unresolved: Fraction

    def __iter__(self) -> Iterator[Any]:
        return iter((self.masses, self.unresolved))


def enumerate_outcomes(
    mechanism: Perturbs, noise: Any, value: Any, depth: int
) -> Outcomes:
    """Return the exact law of ``mechanism.perturb(noise, value, bits)``.

    Depth first; a path that asks for more than ``depth`` bits in all, and so is
    lighter than 2**-depth, is cut off and its mass counted as unresolved. The work is
    one call of ``perturb`` for each path, at most 2**depth.
    """
    script = _Script(depth)
    weights: dict[int, int] = {}
    unresolved = 0
    perturb = mechanism.perturb
    running = True
    while running:
        script.rewind()
        try:
            step = perturb(noise, value, script)
        except _CutOffError:
            unresolved += script.weight()
        else:
            weights[step] = weights.get(step, 0) + script.weight()
        running = script.advance()
    whole = 1 << depth
    return Outcomes(
        {step: Fraction(weights[step], whole) for step in sorted(weights)},
        Fraction(unresolved, whole),
    )


class _CutOffError(Exception):
    """The path would become lighter than the cut-off."""


class _Script:
    """Bits that answer as written, write 0 at the first new request, and count up."""

    __slots__ = ("_answers", "_depth", "_index", "_limits", "_position", "_spent")

    source = "enumeration"
    seeded = True

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._answers: list[int] = []
        self._limits: list[int] = []
        self._index = self._position = self._spent = 0

    def rewind(self) -> None:
        """Start the next run at the head of the script."""
        self._index = self._position = self._spent = 0

    def weight(self) -> int:
        """Return the mass of the path just run, in units of 2**-depth."""
        return 1 << (self._depth - self._spent)

    def advance(self) -> bool:
        """Go to the next path; return whether there is one."""
        answers, limits = self._answers, self._limits
        del answers[self._index :], limits[self._index :]
        while answers:
            answers[-1] += 1
            if answers[-1] < limits[-1]:
                return True
            answers.pop()
            limits.pop()
        return False

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return the next answer of the script."""
        if len(lanes) != 1 or start < self._position or stop <= start:
            raise TapeError(
                f"enumeration serves one lane in order, not bits {start} to {stop} "
                f"of {len(lanes)} lanes after bit {self._position}"
            )
        width = stop - start
        index = self._index
        if index == len(self._answers):
            if self._spent + width > self._depth:
                raise _CutOffError
            self._answers.append(0)
            self._limits.append(1 << width)
        self._position = stop
        self._spent += width
        self._index = index + 1
        return self._answers[index].to_bytes((width + 7) >> 3, "big")
