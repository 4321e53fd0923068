"""What a sum multiplies: the whole number that a row has for a column or a test."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpql.curator.conditions import Test
from dpql.curator.grid import Quantiser


@dataclass(frozen=True, slots=True)
class Factor:
    """The whole number 0..steps that stands for a cell of a column."""

    column: str
    quantiser: Quantiser

    @property
    def name(self) -> str:
        """What a product calls it."""
        return self.column

    @property
    def steps(self) -> int:
        """The largest of the numbers."""
        return self.quantiser.steps

    def __str__(self) -> str:
        return f"{self.column} {self.quantiser}"


@dataclass(frozen=True, slots=True)
class Flag:
    """1 where a test holds, else 0."""

    test: Test
    steps: int = field(default=1, init=False, compare=False)
    """The largest of the numbers."""

    @property
    def name(self) -> str:
        """What a product calls it."""
        return str(self)

    def __str__(self) -> str:
        return f"1 where {self.test}, else 0"
