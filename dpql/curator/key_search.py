"""A search for private keys, and the columns of keys that were found: without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpql.curator.conditions import Test


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySearch:
    """Count the units that have each key of some columns.

    Cells of the columns are ids: bytes or whole numbers. A cell is a word if it is text
    of at most `LONGEST` characters, all of which can be printed, and not ``reserved``.
    A key is a word of every column, in order; rows without one have none. Only rows
    count that pass ``where``.

    ``unit`` is the column of ids where units may have several rows, ``most`` the most
    keys that a unit counts for; without one every row is a unit of one key.
    """

    LONGEST: ClassVar[int] = 100

    statistic: str
    columns: tuple[str, ...]
    where: Test | None = None
    reserved: str | None = None
    unit: str | None
    most: int

    def __str__(self) -> str:
        key = " and ".join(self.columns)
        lines = [f"finds   keys of {key}, for {self.statistic}"]
        if self.where is not None:
            lines.append(f"where   {self.where}")
        lines.append(
            "counts  rows at each key"
            if self.unit is None
            else f"counts  different {self.unit} at each key, "
            f"of each at most {self.most} keys"
        )
        return "\n  ".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundColumn:
    """The number of a row's key among those that a search has shown, from 0 on.

    It is null where a cell is null. What is no such key has none either; but with
    ``others`` it has the number after the last one, whatever it is.
    """

    columns: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    others: bool
    statistic: str

    @property
    def name(self) -> str:
        """Its name, which no declared column can have."""
        return ", ".join(f"`{column}`" for column in self.columns)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.keys) + self.others

    def __str__(self) -> str:
        others = ", and others" if self.others else ""
        return f"{self.name} (the keys that {self.statistic} finds{others})"
