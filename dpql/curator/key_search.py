"""A search for private keys, as an engine is asked for it: a value without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySearch:
    """Count the units that have each key of a column.

    Cells of the column are ids: bytes or whole numbers. A cell is a key if it is text
    of at most `LONGEST` characters, all of which can be printed; others are null.

    ``unit`` is the column of ids where units may have several rows, ``most`` the most
    keys that a unit counts for; without one every row is a unit of one key.
    """

    LONGEST: ClassVar[int] = 100

    column: str
    unit: str | None
    most: int

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(x for x in (self.unit, self.column) if x is not None)

    def __str__(self) -> str:
        if self.unit is None:
            return f"rows at each key of {self.column}"
        return (
            f"different {self.unit} at each key of {self.column}, "
            f"of each at most {self.most} keys"
        )
