"""What a program's rows add up to so far: sums, counts by candidate, different values.

Aggregates of some rows can be added, in any order, and travel between processes as a
few arrays: only cells that are not 0 are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.engines import Sums
from dpql.curator.engines.polars_values import Pairs, Values, is_marked
from dpql.curator.engines.totals import Counts, Found, Totals
from dpql.curator.program import Program

Integers = NDArray[np.int64]

_SLICE = 1 << 20
"""Numbers of an array that travel together, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of an aggregate: some cells of a tally, as bytes.

    ``moment`` is the number of a moment; the first is also that of what is counted.
    """

    tally: int
    moment: int
    content: bytes


class Aggregate:
    """The sums of a program over some rows."""

    def __init__(self, program: Program) -> None:
        """Start with no rows."""
        tallies = program.tallies
        self._tallies = tallies
        self._totals = Totals([(len(x.moments), x.selection.cells) for x in tallies])
        self._values = {
            index: Values(tally.distinct, tally.selection.cells)
            for index, tally in enumerate(tallies)
            if tally.distinct is not None
        }
        self._ranked = {
            index: Counts(tally.selection.cells, tally.ranking.candidates)
            for index, tally in enumerate(tallies)
            if tally.ranking is not None
        }

    def add(self, index: int, some: Found | Pairs) -> None:
        """Add what some rows give for a tally."""
        if isinstance(some, list):
            self._totals.add([(index, some)])
        elif index in self._ranked:
            assert isinstance(some, np.ndarray), "rows have indices"
            self._ranked[index].add(some)
        else:
            self._values[index].add(some)

    def sums(self, rows: int | None) -> Sums:
        """Return the exact integers of all rows that were added."""
        counts = {index: [one.counts()] for index, one in self._values.items()}
        return Sums(
            counts=tuple(
                self._ranked[index].array() if index in self._ranked else None
                for index in range(len(self._tallies))
            ),
            rows=rows,
            moments=tuple(
                dict(zip(tally.names, counts.get(index, some), strict=True))
                for index, (tally, some) in enumerate(
                    zip(self._tallies, self._totals.integers(), strict=True)
                )
            ),
        )

    def parts(self) -> Iterator[Part]:
        """Yield all that is not 0, for `add_part` of another process."""
        for tally, moment, limbs in self._totals.limbs():
            held = np.flatnonzero(np.any(limbs, axis=0))
            for cells in _sliced(held):
                content = np.vstack([cells, limbs[:, cells]])
                yield Part(tally=tally, moment=moment, content=content.tobytes())
        for tally, counts in self._ranked.items():
            flat = counts.array().reshape(-1)
            for indices in _sliced(np.flatnonzero(flat)):
                content = np.vstack([indices, flat[indices]])
                yield Part(tally=tally, moment=0, content=content.tobytes())
        for tally, values in self._values.items():
            for pairs in values.pairs():
                if isinstance(pairs, pl.DataFrame):
                    file = BytesIO()
                    pairs.write_ipc(file)
                    yield Part(tally=tally, moment=0, content=file.getvalue())
                    continue
                for some in _sliced(pairs):
                    yield Part(tally=tally, moment=0, content=some.tobytes())

    def add_part(self, part: Part) -> None:
        """Add a part of another aggregate of the same program."""
        tally = self._tallies[part.tally]
        if tally.distinct is not None:
            if is_marked(tally.distinct, tally.selection.cells):
                self._values[part.tally].add(np.frombuffer(part.content, np.int64))
            else:
                self._values[part.tally].add(pl.read_ipc(part.content))
            return
        if tally.ranking is not None:
            indices, found = np.frombuffer(part.content, np.int64).reshape(2, -1)
            self._ranked[part.tally].add_counts(indices, found)
            return
        cells, *limbs = np.frombuffer(part.content, np.int64).reshape(4, -1)
        self._totals.add_limbs(part.tally, part.moment, cells, limbs)


def _sliced(numbers: Integers) -> Iterator[Integers]:
    for start in range(0, len(numbers), _SLICE):
        yield numbers[start : start + _SLICE]
