"""Rows not yet read: pieces of a table, and all of them as one source.

A piece may hold a column in a type of its own, and a category as text, as its bytes or
as places among the declared keys. In a source each column has one form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from dpql.curator.cells import keys_of
from dpql.curator.engines.polars_columns import check, kind_of
from dpql.curator.engines.polars_sums import SMALL, row_count
from dpql.curator.engines.polars_text import (
    as_type,
    bytes_words,
    common_type,
    inner,
    key_places,
    key_words,
)
from dpql.model.spec import Data

_MARK = "=place"
"""No column inside queries: of those, ``=`` stands only before a mark or a pattern."""

Readings = Sequence[Collection[str]]
"""Sets of columns that are read together."""

Portions = Callable[[Readings], Generator[tuple[int, pl.LazyFrame]]]
"""Reads all rows for each set; says for which of them a lazy frame is, by its place.

Whoever has had enough closes it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some rows: a lazy frame, and how it gives each declared column of which type.

    Instead of one frame, which may have any number of rows, there may be ``portions``,
    each of fewer than 2**32 rows, which polars can count. The cells of ``coded``
    columns are places among their declared keys, those of ``raw`` columns the bytes of
    a text.
    ``rows`` counts the rows without reading them.
    """

    frame: pl.LazyFrame | None = field(default=None, repr=False)
    portions: Portions | None = field(default=None, repr=False)
    columns: Mapping[str, pl.Expr]
    types: Mapping[str, Any]
    coded: frozenset[str] = frozenset()
    raw: frozenset[str] = frozenset()
    rows: Callable[[], int] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Rows not yet read: lazy frames of the declared columns, and their types.

    ``portions`` yields at least one frame for each set of columns, which have their
    names inside queries. The cells of ``coded`` columns are places among their declared
    keys, those of ``raw`` columns the bytes of a text. Ids are integers or bytes.
    ``costly`` says that a second scan would parse the text a second time. If the source
    is ``small``, every frame is known to have fewer than 2**32 rows.
    """

    portions: Portions = field(repr=False)
    types: Mapping[str, Any]
    coded: frozenset[str] = frozenset()
    raw: frozenset[str] = frozenset()
    costly: bool = False
    small: bool = False
    counts: Sequence[Callable[[], int] | None] = field(default=(None,), repr=False)

    def rows(self) -> int:
        """Return the number of rows, which is read only where it is public."""
        known = [count for count in self.counts if count is not None]
        if len(known) == len(self.counts):
            return sum(count() for count in known)
        counts = (frame.select(row_count()) for _, frame in self.portions([()]))
        return sum(int(c.collect(engine="streaming").item()) for c in counts)


def joined(pieces: Sequence[Piece], data: Data, *, costly: bool = False) -> Source:
    """Return the pieces as one source, each column in a type that holds it in all.

    Raises:
        RunFault: DPQL504, a column is of an impossible type.
    """
    names = [column.name for column in data.columns]
    check({name: [piece.types[name] for piece in pieces] for name in names}, data)
    forms = _Forms(pieces, data)

    def portions(readings: Readings) -> Generator[tuple[int, pl.LazyFrame]]:
        sets = [
            [name for name in names if inner(name) in wanted] or names[:1]
            for wanted in readings
        ]
        for number, some in enumerate(sets):
            whole = [
                forms.uniform(piece, piece.frame, some)
                for piece in pieces
                if piece.frame is not None
            ]
            if whole:
                yield number, whole[0] if len(whole) == 1 else pl.concat(whole)
        for piece in pieces:
            if piece.portions is not None:
                with closing(piece.portions(sets)) as found:
                    for number, frame in found:
                        yield number, forms.uniform(piece, frame, sets[number])
                        del frame  # so that its memory can be used again

    return Source(
        portions=portions,
        types=forms.types,
        coded=forms.coded,
        raw=forms.raw,
        counts=[piece.rows for piece in pieces],
        costly=costly,
        small=all(piece.frame is None for piece in pieces),
    )


class _Forms:
    """The form of each column that all pieces can take."""

    def __init__(self, pieces: Sequence[Piece], data: Data) -> None:
        self._data = data
        self._kinds = {column.name: kind_of(column) for column in data.columns}
        self.coded = frozenset.intersection(*(piece.coded for piece in pieces))
        bare = frozenset.intersection(*(piece.coded | piece.raw for piece in pieces))
        self.raw = bare - self.coded
        self.types = {
            name: common_type([self._held(piece, name)[1] for piece in pieces], kind)
            for name, kind in self._kinds.items()
        }

    def uniform(
        self, piece: Piece, frame: pl.LazyFrame, names: Sequence[str]
    ) -> pl.LazyFrame:
        """Return the columns of some rows of a piece in their common form."""
        cells = {
            inner(name): as_type(
                *self._held(piece, name), self.types[name], self._kinds[name]
            )
            for name in names
        }
        return frame.select(cell.alias(name) for name, cell in cells.items())

    def _held(self, piece: Piece, name: str) -> tuple[pl.Expr, Any]:
        """Return how a piece gives a column, and in which type."""
        cell = piece.columns[name]
        if name in piece.coded - self.coded:
            words = key_words(cell, keys_of(self._data, name))
            return words.cast(pl.Binary) if name in self.raw else words, pl.String()
        if name in piece.raw - self.raw:
            return bytes_words(cell), pl.String()
        return cell, piece.types[name]


def with_places(source: Source, data: Data) -> Source:
    """Return the source with its raw columns coded: looked up among their keys.

    A join looks up many rows several times as fast as an expression does.
    """
    tables = {
        inner(name): key_places(inner(name), _MARK, keys_of(data, name), raw=True)
        for name in source.raw
    }

    def portions(readings: Readings) -> Generator[tuple[int, pl.LazyFrame]]:
        with closing(source.portions(readings)) as found:
            for number, frame in found:
                coded = frame
                for name, table in tables.items():
                    if name in readings[number]:
                        coded = coded.join(table, on=name, how="left")
                        coded = coded.drop(name).rename({_MARK: name})
                yield number, coded
                del frame, coded

    types = dict(source.types) | dict.fromkeys(source.raw, pl.Int64())
    return replace(
        source,
        portions=portions,
        types=types,
        coded=source.coded | source.raw,
        raw=frozenset(),
    )


def sliced(frame: pl.DataFrame) -> Portions:
    """Return a frame in memory as portions."""
    most = SMALL // 2

    def portions(readings: Readings) -> Generator[tuple[int, pl.LazyFrame]]:
        for number in range(len(readings)):
            for start in range(0, max(frame.height, 1), most):
                yield number, frame.slice(start, most).lazy()

    return portions
