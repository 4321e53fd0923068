"""Many values of few kinds: what is the same in many cells is worked out once.

The cells of a large release share few noisy numbers, and all else that a value says
follows from those. Where all are different, there is a kind for every cell, and nothing
is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from operator import eq
from typing import Any, Protocol, TypeVar, overload

from dpql.model.codec import no_cycles

Cell = tuple[str, ...]


class Celled(Protocol):
    """A value that was released for a cell."""

    @property
    def cell(self) -> Cell:
        """The keys of its cell."""

    @property
    def noisy(self) -> tuple[Fraction, ...]:
        """The noisy numbers that all else follows from."""

    @property
    def value(self) -> Fraction:
        """The number that is released."""

    @property
    def lower(self) -> Fraction:
        """The lower end of its interval."""

    @property
    def upper(self) -> Fraction:
        """The upper end of its interval."""


V = TypeVar("V", bound=Celled)
W = TypeVar("W", bound=Celled)
T = TypeVar("T")


class Deferred(Sequence[V]):
    """Values that are worked out from the noisy numbers when first looked at."""

    __slots__ = ("_made", "_make", "_size")

    def __init__(self, size: int, make: Callable[[], Sequence[V]]) -> None:
        self._size = size
        self._make: Callable[[], Sequence[V]] | None = make
        self._made: Sequence[V] = ()

    @property
    def made(self) -> Sequence[V]:
        """The values."""
        if self._make is not None:
            self._made, self._make = self._make(), None
        return self._made

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[V]: ...
    def __getitem__(self, index: int | slice) -> V | Sequence[V]:
        return self.made[index]

    def __iter__(self) -> Iterator[V]:
        return iter(self.made)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Deferred | ManyValues | tuple):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{self._size} values>"

    def __reduce__(self) -> tuple[type[tuple[V, ...]], tuple[Any]]:
        """Copy and pickle as the tuple of the values."""
        return tuple, (tuple(self),)


class ManyValues(Sequence[V]):
    """Values, each made when it is looked at: one of few kinds, in its own cell.

    ``kinds`` are the different values, without a cell, each that of one cell at least;
    ``which`` is the index of the kind of every cell. It equals the tuple of its values.
    """

    __slots__ = ("cells", "kinds", "which")

    def __init__(
        self, cells: Sequence[Cell], which: Sequence[int], kinds: Iterable[V]
    ) -> None:
        self.cells = cells
        self.which = which
        with no_cycles():
            self.kinds = tuple(kinds)

    @classmethod
    def of(cls, values: Sequence[V]) -> ManyValues[V]:
        """Return the values of a sequence, as they are where they are many already."""
        made = values.made if isinstance(values, Deferred) else values
        if isinstance(made, ManyValues):
            return made
        index: dict[tuple[object, ...], int] = {}
        which: list[int] = []
        kinds: list[V] = []
        for one in made:
            key = one.noisy, one.value, one.lower, one.upper
            found = index.setdefault(key, len(kinds))
            if found == len(kinds):
                kinds.append(in_cell(one, ()))
            which.append(found)
        return cls([one.cell for one in made], which, kinds)

    def of_kinds(self, make: Callable[[V], W]) -> ManyValues[W]:
        """Return what a function makes of the values; it does not see their cells."""
        return ManyValues(self.cells, self.which, map(make, self.kinds))

    def each(self, make: Callable[[V], T]) -> Iterator[T]:
        """Yield what a function gives of every value; it does not see their cells."""
        with no_cycles():
            found = list(map(make, self.kinds))
        return map(found.__getitem__, self.which)

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[V, ...]: ...
    def __getitem__(self, index: int | slice) -> V | tuple[V, ...]:
        if isinstance(index, slice):
            some = ManyValues(self.cells[index], self.which[index], self.kinds)
            return tuple(some)
        return in_cell(self.kinds[self.which[index]], self.cells[index])

    def __iter__(self) -> Iterator[V]:
        return map(in_cell, map(self.kinds.__getitem__, self.which), self.cells)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ManyValues):
            return tuple(self) == other if isinstance(other, tuple) else NotImplemented
        if self.which is other.which:
            kinds = self.kinds == other.kinds
            return kinds and (self.cells is other.cells or self.cells == other.cells)
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<{len(self)} values>"

    def __reduce__(self) -> tuple[type[tuple[V, ...]], tuple[Any]]:
        """Copy and pickle as the tuple of the values."""
        return tuple, (tuple(self),)


def in_cell(kind: V, cell: Cell) -> V:
    """Return a value of a kind in a cell."""
    made: Any = type(kind)
    found: V = made(
        cell=cell,
        noisy=kind.noisy,
        value=kind.value,
        lower=kind.lower,
        upper=kind.upper,
    )
    return found
