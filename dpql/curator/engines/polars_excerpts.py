"""Parquet files as polars reads them, a portion at a time, with text as bytes.

A portion is a few row groups of the columns that a query reads, held in memory as a
file of their own. Portions are read ahead, and added up one after the other.

A category of few keys whose words stand in dictionaries is read as places among its
keys: each word of a dictionary is looked up once, and no row is.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from dpql.curator.cells import keys_of
from dpql.curator.engines.ahead import Task, gathered
from dpql.curator.engines.files import Content
from dpql.curator.engines.parquet_copies import Part, Rooms, excerpt
from dpql.curator.engines.parquet_excerpts import Excerpts, excerpts
from dpql.curator.engines.parquet_footer import Leaf
from dpql.curator.engines.parquet_words import MOST_WORDS, Places
from dpql.curator.engines.polars_pieces import Piece, Readings
from dpql.curator.engines.polars_text import bytes_words, key_places, spelt
from dpql.model.spec import CategoryColumn, Data, IdColumn

_PORTION_BYTES = 24 << 20
"""Bytes of a portion, or a quarter more; fewer cost time, more cost memory.

Where row groups are large it is twice as much at most, so that one can be decoded while
another is added up.
"""

_PORTION_ROWS = 1 << 31
"""Rows of a portion, at most: polars counts them in 32 bits."""

_ROOMS = 2
"""Portions held at once: one is added up, one is made or ready."""

_FOOTER_BYTES = 1 << 7
"""Bytes that the footer has for a column of a row group, at most, about."""

_FEW_KEYS = 1 << 10
"""Categories of more keys are grouped by their bytes: there are too many words."""

_TEXT = 6
_TYPES = {
    (0, None): pl.Boolean(),
    (1, None): pl.Int32(),
    (2, None): pl.Int64(),
    (4, None): pl.Float32(),
    (5, None): pl.Float64(),
    (6, None): pl.Binary(),
    (1, 13): pl.UInt32(),
    (2, 14): pl.UInt64(),
}
"""Physical type and annotation -> type of polars."""

_MARK = "place"
"""No column of an excerpt: their names are numbers."""


def excerpt_piece(files: Sequence[Excerpts], data: Data) -> Piece:
    """Return the rows of files that agree in their leaves, and have row groups."""
    leaves = files[0].leaves
    texts = {name for name, leaf in leaves.items() if leaf.kind == _TEXT}
    every = [(file, group) for file in files for group in file.groups.values()]
    categories = texts & {
        column.name for column in data.columns if isinstance(column, CategoryColumn)
    }
    keys = {
        name: _Keys(declared)
        for name in categories
        if len(declared := keys_of(data, name)) <= _FEW_KEYS
        and _mostly_by_words(every, name)
    }
    coded = frozenset(keys)
    places = {name: str(place) for place, name in enumerate(leaves)}
    columns = {name: pl.col(place) for name, place in places.items()}
    for name in coded:
        columns[name] = pl.when(columns[name] > 0).then(columns[name] - 1)
    ids = texts & {
        column.name for column in data.columns if isinstance(column, IdColumn)
    }
    for name in texts - categories - ids:
        columns[name] = bytes_words(columns[name])
    types = {name: _type(leaf) for name, leaf in leaves.items()}
    types |= dict.fromkeys(texts - ids, pl.String()) | dict.fromkeys(coded, pl.Int32())

    def portions(readings: Readings) -> Generator[tuple[int, pl.LazyFrame]]:
        every_portion = [
            _Portion(number, parts, stored, words)
            for number, wanted in enumerate(readings)
            for stored in [[name for name in leaves if name in wanted]]
            for words, alike in _alike(every, coded.intersection(stored)).items()
            for parts in _portioned(alike, stored)
        ]
        largest = max((portion.size() for portion in every_portion), default=0)
        rooms = Rooms(largest, _ROOMS)

        def read(portion: _Portion) -> Iterator[tuple[int, pl.LazyFrame]]:
            known = {name: keys[name].places for name in portion.words}
            held, found = excerpt(portion.parts, portion.names, rooms, known)
            frame = pl.scan_parquet(held, use_statistics=False, cache=False)
            frame = frame.rename(
                {str(place): places[name] for place, name in enumerate(portion.names)}
            )
            for name in coded.intersection(portion.names) - found:
                frame = keys[name].joined(frame, places[name])
            yield portion.number, frame

        tasks: Iterator[Task[tuple[int, pl.LazyFrame]]] = (
            partial(read, portion) for portion in every_portion
        )
        # One thread reads ahead: memory is the bound of it, not the disk.
        return gathered(tasks, 1)

    return Piece(
        portions=portions,
        columns=columns,
        types=types,
        coded=coded,
        raw=frozenset(categories - coded),
        rows=lambda: sum(group.rows for _, group in every),
    )


@dataclass(frozen=True, slots=True)
class _Portion:
    """Columns of row groups, for a set of queries; ``words`` stand in dictionaries."""

    number: int
    parts: Sequence[Part]
    names: Sequence[str]
    words: frozenset[str]

    def size(self) -> int:
        """Return how many bytes an excerpt takes, at most."""
        return sum(_size(part, self.names) for part in self.parts)


class _Keys:
    """The declared keys of a category, and how words become places among them.

    In excerpts, places are counted from 1, and what is no key has 0.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = keys
        self.places = Places(spelt(keys))

    def joined(self, frame: pl.LazyFrame, column: str) -> pl.LazyFrame:
        """Return the frame with places instead of words in a column."""
        table = key_places(column, _MARK, self._keys, raw=True)
        counted = table.select(column, pl.col(_MARK).cast(pl.Int32) + 1)
        found = frame.join(counted, on=column, how="left")
        return found.drop(column).rename({_MARK: column})


def stored_numbers(
    content: Content, header: Any, schema: Any, names: Iterable[str], group: int
) -> dict[str, Any]:
    """Return the columns of numbers of a row group as arrays of Arrow, read by polars.

    Those are left out that polars cannot read, and text.
    """
    found: dict[str, Any] = {}
    for name in names:
        kind = schema.field(name).type
        parted = excerpts(content, header, {name: kind})
        if parted is None or group not in parted.groups:
            continue
        if parted.leaves[name].kind != _TEXT:
            held, _ = excerpt([(parted, parted.groups[group])], [name], Rooms(0, 1))
            frame = pl.read_parquet(held, use_statistics=False)
            found[name] = frame.to_series().to_arrow().cast(kind)
    return found


def _type(leaf: Leaf) -> Any:
    if leaf.digits is not None:
        scale, precision = leaf.digits
        return pl.Decimal(precision, scale)
    return _TYPES[leaf.kind, leaf.annotation]


def _mostly_by_words(parts: Sequence[Part], name: str) -> bool:
    """Tell whether at least half of all cells are words of dictionaries."""
    words = sum(group.rows for _, group in parts if group.chunks[name].by_words)
    return 2 * words >= sum(group.rows for _, group in parts)


def _alike(
    parts: Sequence[Part], names: Iterable[str]
) -> dict[frozenset[str], list[Part]]:
    """Return the row groups in which the cells of the same columns are words."""
    found: dict[frozenset[str], list[Part]] = {}
    for part in parts:
        words = frozenset(name for name in names if part[1].chunks[name].by_words)
        found.setdefault(words, []).append(part)
    return found


def _portioned(parts: Sequence[Part], names: Sequence[str]) -> Iterator[Sequence[Part]]:
    """Yield the row groups in portions; none has too many rows."""
    start = rows = 0
    for end, (_, group) in enumerate(parts):
        if rows + group.rows > _PORTION_ROWS:
            yield from _of_equal_size(parts[start:end], names)
            start, rows = end, 0
        rows += group.rows
    yield from _of_equal_size(parts[start:], names)


def _of_equal_size(
    parts: Sequence[Part], names: Sequence[str]
) -> Iterator[Sequence[Part]]:
    """Yield the row groups in portions of equal size, about.

    A small rest makes them larger: every portion has a cost of its own.
    """
    sizes = [_size(part, names) for part in parts]
    left, start = sum(sizes), 0
    most = min(max(_PORTION_BYTES, 2 * max(sizes)), 2 * _PORTION_BYTES)
    count = max(1, -(-(left - most // 4) // most))
    while start < len(parts):
        end, size = start + 1, sizes[start]
        while end < len(parts) and size + sizes[end] <= left // count:
            size += sizes[end]
            end += 1
        yield parts[start:end]
        start, left, count = end, left - size, max(1, count - 1)


def _size(part: Part, names: Sequence[str]) -> int:
    """Return how many bytes a row group takes in an excerpt, at most."""
    file, group = part
    texts = sum(file.leaves[name].kind == _TEXT for name in names)
    words = 4 * min(group.rows, MOST_WORDS) * texts
    return group.size(names) + len(names) * _FOOTER_BYTES + words
