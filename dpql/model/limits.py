"""How long, deep and large a spec may be: one set of limits for every stage.

The language refuses a text beyond them, and the planner a plan whose spec no text
could have written.
"""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_EPSILON = 1_000
"""No release may spend more; beyond this the noise would be for show."""

MOST_CELLS = 1_000_000
"""The most numbers one statistic may release."""

LARGEST_RELEASE = 1 << 30
"""The most bytes that the signed envelope of a release may have."""

MOST_ROWS = 1 << 62
"""The most rows that may be declared: their count fits a signed 64-bit number."""

MOST_PARTS = 50_000
"""The most scalars, lists and blocks of YAML, or tokens of query text."""

MOST_EDGES = 10_000
"""The most edges of the bins of a histogram."""

MOST_QUANTILES = 15
"""The most quantiles of one statistic; beyond, a histogram promises more."""

FINEST_QUANTILE = 1 << 20
"""The largest denominator of a quantile: scores of 2**42 rows stay below 2**62."""

MOST_GROUPINGS = 8
"""The most columns that a statistic is grouped by."""

LARGEST_WHOLE = 1 << 60
"""Integers are counted exactly while their bounds are no farther from 0 than this."""

LONGEST_NUMBER = 64
"""The most characters a number may have."""

LARGEST_EXPONENT = 308
"""The largest power of ten a number may be written with."""

DEEPEST = 32
"""The deepest nesting of a spec and of a condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """The format of a text in a spec: a pattern of all of it, and a length."""

    pattern: str
    longest: int


_ANY = r"\S(?:[^\t]*\S)?"

NAME = TextFormat(pattern=r"[A-Za-z_][A-Za-z0-9_.-]*", longest=64)
"""A release, a source or a statistic."""

COLUMN = TextFormat(pattern=r"[^\s`](?:[^`\t]*[^\s`])?", longest=128)
KEY = TextFormat(pattern=_ANY, longest=128)
FILE = TextFormat(pattern=r"[^\s\\](?:[^\t\\]*[^\s\\])?", longest=256)
"""The path of a file below the folder of a spec, with `/` between its parts."""

PURPOSE = TextFormat(pattern=_ANY, longest=1_000)
SIGNER = TextFormat(pattern=_ANY, longest=128)
UNIT = TextFormat(pattern=_ANY, longest=32)
CONDITION = TextFormat(pattern=r".+", longest=4_096)
"""A condition, or the expression of a derived column."""

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
DAY = TextFormat(pattern=_DAY, longest=10)
CLOCK = TextFormat(
    pattern=rf"{_DAY}(?:[ T][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}})?)?", longest=19
)
ZONE = TextFormat(pattern=r"[-+][0-9]{2}:[0-9]{2}", longest=6)
