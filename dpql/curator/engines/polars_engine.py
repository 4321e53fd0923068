"""The polars engine: the steps of a plan in few calls of the streaming engine.

Steps that share their cells share a query, and queries that share columns are collected
together. Each reads only the columns it needs. Counts and sums take as many bits as the
number of rows may need, so they are exact whatever the data are.

Where units have several rows, the units are split into parts by a salted hash, each
part is read, bounded and added up by itself, and memory holds one part at a time. Rows
of a part are dealt to hands while they are read, so that a unit's rows meet in one
hand, small enough for the cache of a processor.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from operator import add

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.bounding import HAND_BITS, Contest, content_hashes, dealt, salted
from dpql.curator.cells import races
from dpql.curator.engines import Sums, Tick
from dpql.curator.engines.polars_pieces import Readings, Source, with_places
from dpql.curator.engines.polars_query import (
    Family,
    Query,
    Reading,
    bounded_queries,
    plain_queries,
)
from dpql.curator.engines.polars_sheet import Sheet
from dpql.curator.engines.polars_source import open_frame
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours

__all__ = ["add_up", "open_frame"]

PART_ROWS = 1 << 24
"""Rows of a part of the units, about, if there are as many as declared."""

CHUNK_ROWS = 1 << 15
"""Rows that travel together to the queries that share them; more take more memory."""

HAND_ROWS = 1 << 18
"""Rows of a hand, at most, about."""

_HELD = 16
"""Answers to portions that are held before they are merged."""

_NARROW = (
    pl.Int8,
    pl.Int16,
    pl.Int32,
    pl.Int64,
    pl.UInt8,
    pl.UInt16,
    pl.UInt32,
    pl.UInt64,
)
_APART = pl.QueryOptFlags(comm_subplan_elim=False)
_SHARED = pl.QueryOptFlags()

_lock = threading.Lock()
_running: list[None] = []
_restored = ExitStack()

Moments = dict[str, list[int]]


def add_up(plan: Plan, opened: Source, *, salt: bytes, tick: Tick | None) -> Sums:
    """Return the moments of every step, exactly, for every declared cell."""
    rows = opened.rows() if _public(plan) else None
    with _settings(CHUNK_ROWS if plan.spec.privacy.unit is None else None):
        totals = _empty(plan)
        if plan.spec.privacy.unit is None:
            sheet = Sheet(plan, opened)
            families = plain_queries(sheet, once=opened.costly, small=opened.small)
            answers = [_Answers(family) for family in families]
            readings = [family.reads for family in families]
            with closing(_portions(opened, readings, tick)) as portions:
                for number, portion in portions:
                    answers[number].take(portion)
                    del portion
            for found in answers:
                for reading, answer in found.all():
                    _add(totals, reading, answer)
        else:
            placed = with_places(opened, plan.spec.data)
            sheet = Sheet(plan, placed)
            with closing(_parts(sheet, placed, salt, tick)) as parts:
                for part in parts:
                    queries = bounded_queries(sheet, part)
                    frames = _collected(queries, optimizations=_APART)
                    for query, frame in zip(queries, frames, strict=True):
                        _add(totals, query.reading, frame)
    return Sums(rows=rows, moments=tuple(totals))


@contextmanager
def _settings(chunk_rows: int | None) -> Iterator[None]:
    """Set polars up for a run; the last of several leaves it as the first found it.

    The settings are those of the process, so runs of several threads share them.
    """
    with _lock:
        if not _running:
            _restored.enter_context(pl.Config(verbose=False))
        _running.append(None)
        if chunk_rows is not None:
            pl.Config.set_streaming_chunk_size(chunk_rows)
    try:
        yield
    finally:
        with _lock:
            _running.pop()
            if not _running:
                _restored.close()


def _public(plan: Plan) -> bool:
    """Tell whether the number of rows is public."""
    return plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE


def _portions(
    opened: Source, readings: Readings, tick: Tick | None
) -> Generator[tuple[int, pl.LazyFrame]]:
    """Yield the rows for each set of columns, in one portion or several.

    Whoever stops early closes it: what is ended by the collector of garbage cannot
    raise an interrupt, and Python would print it.
    """
    with closing(opened.portions(readings)) as portions:
        for number, rows in portions:
            yield number, rows if tick is None else _ticking(rows, tick)
            del rows  # so that its memory can be used again


class _Answers:
    """What the queries of a family find, added up portion by portion."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._found: list[tuple[Reading, list[pl.DataFrame]]] = []

    def take(self, portion: pl.LazyFrame) -> None:
        """Ask the queries of one more portion."""
        queries = self._family.queries(portion)
        answers = _collected(queries, optimizations=_SHARED)
        if not self._found:
            self._found = [(query.reading, []) for query in queries]
        for (reading, some), answer in zip(self._found, answers, strict=True):
            some.append(answer)
            if len(some) == _HELD:
                some[:] = [reading.merged(some)]

    def all(self) -> Iterator[tuple[Reading, pl.DataFrame]]:
        """Yield the answers to all portions, and how each is read."""
        for reading, some in self._found:
            yield reading, reading.merged(some)


def _collected(
    queries: Sequence[Query], *, optimizations: pl.QueryOptFlags
) -> list[pl.DataFrame]:
    frames = [query.frame for query in queries]
    with _one_interrupt():
        return pl.collect_all(frames, engine="streaming", optimizations=optimizations)


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """Let an interrupt come once: polars answers it, and then Python does.

    The second one would fall into whatever comes next, such as the ending of threads.
    Here it takes the place of the first.
    """
    try:
        yield
    except KeyboardInterrupt:
        time.sleep(0)
        raise


def _add(totals: list[Moments], reading: Reading, answer: pl.DataFrame) -> None:
    """Add what a query found to the totals."""
    for index, moments in reading.moments(answer).items():
        for name, numbers in moments.items():
            total = totals[index][name]
            assert len(total) == len(numbers), "there is a number for every cell"
            totals[index][name] = list(map(add, total, numbers))


def _parts(
    sheet: Sheet, opened: Source, salt: bytes, tick: Tick | None
) -> Generator[pl.DataFrame]:
    """Yield the rows of a part of the units, with what survives of them marked."""
    declared = sheet.plan.spec.data.rows.count
    count = max(1, -(-declared // PART_ROWS))
    bits = min(HAND_BITS, (declared // count // HAND_ROWS).bit_length())
    (seed,) = salted(salt, "unit", 1)
    for index in range(count):
        hands = _Hands(bits)
        with closing(_portions(opened, [sheet.part_reads()], tick)) as portions:
            for _, frame in portions:
                part = sheet.part(frame, seed, index, count)
                dealt_rows = part.map_batches(hands.deal, streamable=True)
                with _one_interrupt():
                    dealt_rows.collect(engine="streaming")
        with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
            marked = threads.map(
                lambda rows: _marked(rows, sheet, salt), hands.all(part)
            )
            whole = pl.concat(marked, rechunk=False)
        del hands
        yield whole


class _Hands:
    """Rows dealt by a hash of their unit, batch by batch, from any thread."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._batches: list[tuple[pl.DataFrame, list[int]]] = []

    def deal(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Take the rows of a batch, and leave none of them."""
        places, ends = dealt(batch["hash"].to_numpy(), self._bits)
        self._batches.append((batch[places], [0, *ends]))
        return batch.clear()

    def all(self, part: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        """Yield the rows of each hand."""
        empty = pl.DataFrame(schema=part.collect_schema())
        for hand in range(1 << self._bits):
            pieces = [rows[e[hand] : e[hand + 1]] for rows, e in self._batches]
            yield pl.concat([empty, *pieces], rechunk=False)


def _marked(rows: pl.DataFrame, sheet: Sheet, salt: bytes) -> pl.DataFrame:
    """Return rows of whole units with a column for each race: which of them survive."""
    rows = rows.rechunk()
    units, hashes = rows["unit"], rows["hash"].to_numpy()
    seen = rows.drop("unit", "hash")
    contents = content_hashes(salt, hashes, [column.to_numpy() for column in seen])
    known = units.is_not_null().to_numpy()
    contest = Contest(_numbered(units), hashes, contents, known, salt)
    words = {
        place.name: seen[place.name].to_numpy()[contest.order] for place in sheet.places
    }
    marks = []
    for number, (place, race) in enumerate(
        zip(sheet.places, races(sheet.plan), strict=True)
    ):
        single = race.grouping.count(sheet.data) == 1
        keep = np.zeros(len(rows), np.bool_)
        keep[contest.order] = contest.survivors(
            (words[place.name] & place.mask) >> place.shift,
            rows=race.bound.rows,
            most_cells=None if single else race.bound.cells,
        )
        marks.append(pl.Series(f"keep{number}", keep))
    return seen.with_columns(marks)


def _numbered(units: pl.Series) -> NDArray[np.int64]:
    """Return a number for each id, the same for equal ids only.

    Hashes would not do: they might join two units. A missing id may share the number
    of another; it takes no part.
    """
    if units.dtype in _NARROW:
        wrapped = units.cast(pl.Int64, wrap_numerical=True)
        return wrapped.fill_null(0).to_numpy()
    ids = units.to_frame("unit")
    numbers = ids.unique().with_row_index("number")
    found = ids.join(
        numbers, on="unit", how="left", nulls_equal=True, maintain_order="left"
    )
    return found["number"].cast(pl.Int64).to_numpy()


def _ticking(frame: pl.LazyFrame, tick: Tick) -> pl.LazyFrame:
    def through(batch: pl.DataFrame) -> pl.DataFrame:
        tick()
        return batch

    return frame.map_batches(through, streamable=True)


def _empty(plan: Plan) -> list[Moments]:
    return [
        {moment.name: [0] * step.cells for moment in step.moments}
        for step in plan.steps
    ]
