"""A dress rehearsal: invented rows, seeded coins, the same code; never a release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from dpql.curator.run import run
from dpql.errors import RunFault
from dpql.model.calendar import date_text, time_text
from dpql.model.notation import plain
from dpql.model.plan import Plan
from dpql.model.release import Rehearsal
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DateColumn,
    IdColumn,
    Neighbours,
    NumberColumn,
    PrivateColumn,
    TimeColumn,
)

_WORD = 8
_KEYS = 24
"""So many keys are invented where they are to be found."""

_FLOAT_STEPS = 1 << 20
_NULL_EVERY = 50
"""One number in so many is missing, so that the rule for nulls is rehearsed too."""


def rehearse(
    plan: Plan, rows: int, seed: int | str, *, engine: str = "polars"
) -> Rehearsal:
    """Run the plan on invented rows with coins that are a function of the seed.

    The rows keep to the spec: cells within bounds, declared keys, and units with about
    as many rows as the statistic that counts most of them. Where the number of rows is
    public, there are exactly so many.

    Raises:
        RunFault: DPQL507 when ``rows`` is not at least 1 or not the public number.
    """
    declared = plan.spec.data.rows.count
    public = plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE
    if rows < 1 or (public and rows != declared):
        wanted = f"exactly {declared} rows" if public else "at least one row"
        raise RunFault.of(
            "DPQL507",
            f"a rehearsal of this plan needs {wanted}",
            hint=f"ask for {declared if public else 1_000} rows",
        )
    frame = {
        column.name: _column(column, plan, rows, f"{seed}")
        for column in plan.spec.data.columns
    }
    done = run(
        plan, {plan.spec.data.source: frame}, bits=SeededStream(seed), engine=engine
    )
    assert isinstance(done, Rehearsal), "seeded coins release nothing"
    return done


class SeededStream:
    """Coins that are a function of a seed; whoever knows it knows the noise."""

    __slots__ = ("_key", "_reads")

    source = "seeded rehearsal"
    seeded = True

    def __init__(self, seed: int | str) -> None:
        self._key = hashlib.sha256(f"coins {seed}".encode()).digest()
        self._reads = 0

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return the next bits of the stream for each lane."""
        width = stop - start
        size = -(-width // 8)
        stream = hashlib.shake_256(self._key + self._reads.to_bytes(8, "big"))
        self._reads += 1
        content = bytearray(stream.digest(size * len(lanes)))
        mask = 0xFF >> (size * 8 - width)
        for first in range(0, len(content), size):
            content[first] &= mask
        return bytes(content)


def _column(column: Column, plan: Plan, rows: int, seed: str) -> list[str | None]:
    words = _words(f"column {column.name} {seed}", rows)
    make = _maker(column, max(1, -(-rows // _most_of_a_unit(plan))))
    return [make(word) for word in words]


def _most_of_a_unit(plan: Plan) -> int:
    """Return the most rows of a unit that any statistic counts."""
    bounds = [step.bound for step in plan.steps if step.bound is not None]
    return max((one.total or one.rows * one.cells for one in bounds), default=1)


def _maker(  # noqa: PLR0911  one per type
    column: Column, units: int
) -> Callable[[int], str | None]:
    match column:
        case IdColumn():
            return lambda word: f"unit{word % units}"
        case CategoryColumn(keys=keys):
            return lambda word: keys[word % len(keys)]
        case PrivateColumn():
            # Squares make some keys rare.
            return lambda word: f"key{word % _KEYS * (word // _KEYS % _KEYS) // _KEYS}"
        case NumberColumn():
            width = column.upper - column.lower
            each = column.step or width / _FLOAT_STEPS
            count = int(width / each) + 1
            return _whole(count, lambda u: plain(column.lower + u * each))
        case BooleanColumn():
            return lambda word: (None, "false", "true")[word % 3]
        case DateColumn(first=first, last=last):
            return _whole(last - first + 1, lambda u: date_text(first + u))
        case TimeColumn(first=first, last=last, step=step):
            # A time without a zone is one of the column's own zone.
            count = (last - first) // step + 1
            return _whole(count, lambda u: time_text(first + u * step))


def _whole(count: int, write: Callable[[int], str]) -> Callable[[int], str | None]:
    """Return what makes one of so many texts, or sometimes none."""

    def cell(word: int) -> str | None:
        return None if word % _NULL_EVERY == 0 else write(word // _NULL_EVERY % count)

    return cell


def _words(purpose: str, count: int) -> Iterator[int]:
    stream = hashlib.shake_256(purpose.encode()).digest(_WORD * count)
    for first in range(0, len(stream), _WORD):
        yield int.from_bytes(stream[first : first + _WORD], "big")
