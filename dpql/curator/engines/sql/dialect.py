"""What differs between databases: names, literals, casts, keys, dates, sums.

The base has what most databases share; each dialect overrides what it writes otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from dpql.curator.engines.progression import progression
from dpql.curator.grid import FARTHEST


class Kind(Enum):
    """What a stored type holds, as far as SQL must know."""

    SMALL = "integers of at most 32 bits"
    WHOLE = "integers of 64 bits"
    WIDE = "integers of more bits"
    REAL = "floats"
    FIXED = "decimals of at most 15 digits"
    LONG = "decimals of more digits"
    FLAG = "true or false"
    WORD = "text"
    DAY = "dates"
    CLOCK = "timestamps of a wall clock"
    INSTANT = "timestamps with a time zone"


FEW_DIGITS = 15
"""Every decimal of so many digits is the nearest to its double."""

WIDEST = 1 << 62
"""Doubles below this can be cast to 64-bit integers."""

_DAY = 86_400
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect(ABC):
    """How one database writes what every statement needs.

    Attributes:
        name: that of the engine.
        mark: stands around identifiers.
        real: the type of doubles.
        text: the type of text.
        binary: a text that is compared by its bytes, whatever the column says.
        divide: the operator that divides integers.
        fence: behind a subquery, keeps its expressions from being computed again at
            every use.
        limb: bits of a term whose sums cannot overflow; None where none can.
        bits: a number's bits from one on, as far as a mask says.
        answer: how a number of an answer is written, so that it comes exactly.
    """

    name: str
    mark: str = '"'
    real: str = "DOUBLE PRECISION"
    text: str = "TEXT"
    binary: str = "{0}"
    divide: str = "/"
    fence: str = ""
    limb: int | None = None
    bits: str = "shiftright({0}, {1}) & {2}"
    answer: str = "{0}"

    def named(self, name: str) -> str:
        """Return an identifier, whatever its characters and its case."""
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark

    def double(self, number: float) -> str:
        """Return a double; a bare literal may be a decimal."""
        return f"CAST('{number!r}' AS {self.real})"

    def is_number(self, cell: str) -> str:
        """Return where a double is no NaN, which most databases take for itself."""
        return f"{cell} <> {self.double(float('nan'))}"

    def literal(self, text: str) -> str | None:
        """Return a text; None where the database can hold no such text."""
        return "'" + text.replace("'", "''") + "'"

    def words(self, cell: str) -> str:
        """Return text that is compared byte by byte, whatever its collation."""
        return self.binary.format(f"CAST({cell} AS {self.text})")

    def word_id(self, cell: str) -> str:
        """Return an id that is text; an empty one is none."""
        return f"NULLIF({self.words(cell)}, {self.literal('')})"

    def code(self, word: str, keys: Sequence[str]) -> str:
        """Return the code of a word among the keys; null where it is none."""
        found = [(self.literal(key), code) for code, key in enumerate(keys)]
        return choice(word, [(text, code) for text, code in found if text is not None])

    def wide(self, cell: str) -> str:
        """Return an integer of any size, moved to the farthest if beyond."""
        return as_integer(clamped(cell, str(-FARTHEST), str(FARTHEST)))

    def decimal(self, cell: str, kind: Kind) -> str:
        """Return a decimal, or a wide integer, as its nearest double."""
        del kind
        return f"CAST({cell} AS {self.real})"

    def nearest(self, cell: str) -> str:
        """Return the integer nearest to a decimal, ties up, none too far."""
        floor = f"FLOOR({cell})"
        whole = self.wide(floor)
        return f"({whole} + CASE WHEN {cell} - {floor} >= 0.5 THEN 1 ELSE 0 END)"

    def days(self, cell: str) -> str:
        """Return the days from 1970-01-01 to a date of the years 1 to 9999."""
        inside = f"{cell} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
        return f"CASE WHEN {inside} THEN {self.day_number(cell)} END"

    def day_number(self, cell: str) -> str:
        """Return the days from 1970-01-01 to a date."""
        return f"CAST({cell} - DATE '1970-01-01' AS BIGINT)"

    @abstractmethod
    def seconds(self, cell: str, kind: Kind) -> str:
        """Return the seconds since 1970 of a timestamp, floored."""

    def months(self, days: str) -> str:
        """Return the months from year 0 on of days since 1970-01-01."""
        date = f"(DATE '1970-01-01' + CAST({days} AS INTEGER))"
        return (
            f"CAST(12 * EXTRACT(YEAR FROM {date}) + EXTRACT(MONTH FROM {date}) - 1 "
            "AS BIGINT)"
        )

    def product(self, above: str, scale: float) -> str:
        """Return a number that is not negative times a scale."""
        return f"{above} * {self.double(scale)}"

    def floor(self, number: str) -> str:
        """Return the floor of a double that fits 64 bits."""
        return as_integer(f"FLOOR({number})")

    def reached(self, cell: str, starts: Sequence[int] | Sequence[float]) -> str:
        """Return the index of the last start that a number is not below."""
        found = progression(starts)
        if found is None:
            return halved(cell, [self.number(one) for one in starts], 0, len(starts))
        first, width, scale = map(self.double, found)
        near = f"FLOOR(({cell} - {first}) * {scale})"
        last = len(starts) - 1
        return (
            f"CAST(CASE WHEN {near} > {last} THEN {last} "
            f"WHEN {cell} < {near} * {width} + {first} THEN {near} - 1 "
            f"ELSE {near} END AS INTEGER)"
        )

    def number(self, number: float) -> str:
        """Return a number as a literal."""
        return str(number) if isinstance(number, int) else self.double(number)


def clamped(cell: str, lower: str, upper: str) -> str:
    """Return the nearest number within bounds; null stays.

    What is usual is asked first; LEAST and GREATEST are slower, and skip nulls.
    """
    return (
        f"(CASE WHEN {cell} BETWEEN {lower} AND {upper} THEN {cell} "
        f"WHEN {cell} < {lower} THEN {lower} WHEN {cell} > {upper} THEN {upper} END)"
    )


def as_integer(number: object) -> str:
    """Return a whole number as an integer of 64 bits."""
    return f"CAST({number} AS BIGINT)"


def choice(cell: str, entries: Sequence[tuple[object, int]]) -> str:
    """Return the number that stands beside a value; null where none does."""
    if not entries:
        return "CAST(NULL AS INTEGER)"
    return f"CASE {cell} {' '.join(f'WHEN {x} THEN {n}' for x, n in entries)} END"


def halved(cell: str, starts: Sequence[str], first: int, last: int) -> str:
    """Return the index of the last start that is reached, by halving."""
    if last - first == 1:
        return str(first)
    middle = (first + last) // 2
    low = halved(cell, starts, first, middle)
    high = halved(cell, starts, middle, last)
    return f"CASE WHEN {cell} < {starts[middle]} THEN {low} ELSE {high} END"


def of_known_years(seconds: str) -> str:
    """Return seconds since 1970, null where they are not of the years 1 to 9999."""
    first, last = _FIRST_DAY * _DAY, _LAST_DAY * _DAY + _DAY - 1
    return f"CASE WHEN {seconds} BETWEEN {first} AND {last} THEN {seconds} END"
