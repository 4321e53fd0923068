"""How quantiles are chosen: the candidates, and what the choices cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Chosen
from dpql.statistics.candidates import Candidates, candidates
from dpql.statistics.contribution import Contribution
from dpql.statistics.setting import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Quantiles of one column that share their candidates.

    Attributes:
        at: the quantiles, in rising order.
        costs: how far a neighbour moves the scores of each, over all cells.
        candidates: the values that can be chosen.
        rows: the number of rows of a cell, or a ceiling.
    """

    at: tuple[Fraction, ...]
    costs: tuple[int, ...]
    candidates: Candidates
    rows: int

    @classmethod
    def of(cls, setting: Setting, at: tuple[Fraction, ...]) -> Ranks:
        """Return how these quantiles of the setting's one column are chosen."""
        (grid,) = setting.grids
        unit = Contribution.of(setting)
        return cls(
            at=at,
            costs=tuple(unit.rank_change(each) for each in at),
            candidates=candidates(
                grid, (setting.ranked or setting.cells) + setting.beside
            ),
            rows=setting.rows,
        )

    @property
    def readout(self) -> Chosen:
        """What an index stands for."""
        return Chosen(candidates=self.candidates.count, stride=self.candidates.stride)

    @property
    def farthest(self) -> Fraction:
        """A distance of ranks, in rows, that any value keeps."""
        return self.rows * max(max(each, 1 - each) for each in self.at)
