"""Why a cell may not fit: how spreadsheets and exports write what was meant."""

from __future__ import annotations

import re
from enum import StrEnum

from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DateColumn,
    NumberColumn,
    TimeColumn,
)


class Notation(StrEnum):
    """What a cell looks like, in words."""

    BLANKS = "blanks around it"
    DECIMALS = "a whole number written with decimals"
    BOOLEAN = "a Boolean"
    MONEY = "a sign of currency or separators of thousands"
    COMMA = "a comma where the point of a number belongs"
    PERCENT = "a percentage"
    MISSING = "a word for a missing value"
    CASE = "another case than that of a declared key"
    WORDS = "a Boolean in other words"
    DATE = "a date that is not written as 2013-01-31"


_MISSING = frozenset(
    {
        *("na", "n/a", "nan", "null", "none", "nil", "missing", "unknown"),
        *("#n/a", "#null!", "?", "-", "--", ".", "\\n"),
    }
)
_TRUTHS = frozenset(
    {
        *("true", "false", "yes", "no", "y", "n", "t", "f", "on", "off"),
        *("1", "0", "1.0", "0.0"),
    }
)
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PLAIN = re.compile(_NUMBER, re.ASCII)
_MONEY = re.compile(
    r"[-+(]*\s*[$€£¥]?\s*[-+]?\d{1,3}(?:[ ,.'\u00a0\u202f_]?\d{3})*(?:[.,]\d+)?\s*"
    r"(?:[$€£¥]|[A-Z]{3})?\)?"
)
_COMMA = re.compile(r"[-+]?\d+,(?!\d{3}$)\d+")
_PERCENT = re.compile(_NUMBER + r"\s*%", re.ASCII)
_DECIMALS = re.compile(r"([-+]?\d+)\.0*", re.ASCII)
_DATE = re.compile(r"\d{1,4}[-/. ]\w{1,9}[-/., ]+\d{1,4}.*")
_LONGEST = 200


def notation_of(text: str, column: Column) -> Notation | None:
    """Return what a cell that does not fit a column looks like."""
    stripped = text.strip()
    if len(text) > _LONGEST:
        return None
    if stripped.lower() in _MISSING or not stripped:
        return Notation.MISSING
    found: Notation | None = None
    match column:
        case CategoryColumn(keys=keys):
            found = _of_key(text, stripped, keys)
        case BooleanColumn():
            found = _of_truth(text, stripped)
        case NumberColumn():
            found = _of_number(text, stripped)
        case DateColumn() | TimeColumn():
            found = _of_date(text, stripped)
    return found


def _of_date(text: str, stripped: str) -> Notation | None:
    if not _DATE.fullmatch(stripped):
        return None
    iso = stripped[:4].isdigit() and stripped[4:5] == "-"
    return Notation.BLANKS if text != stripped and iso else Notation.DATE


def _of_key(text: str, stripped: str, keys: tuple[str, ...]) -> Notation | None:
    if stripped in keys and text != stripped:
        return Notation.BLANKS
    whole = _DECIMALS.fullmatch(stripped)
    if whole and whole[1] in keys:
        return Notation.DECIMALS
    lowered = {key.lower() for key in keys}
    if stripped.lower() in lowered:
        return Notation.CASE
    truths = lowered & _TRUTHS
    return Notation.WORDS if truths and stripped.lower() in _TRUTHS else None


def _of_truth(text: str, stripped: str) -> Notation | None:
    if stripped.lower() not in _TRUTHS:
        return None
    known = stripped.lower() in ("true", "false", "1", "0")
    return Notation.BLANKS if known and text != stripped else Notation.WORDS


def _of_number(text: str, stripped: str) -> Notation | None:
    if text != stripped and _PLAIN.fullmatch(stripped):
        return Notation.BLANKS
    for notation, pattern in (
        (Notation.PERCENT, _PERCENT),
        (Notation.COMMA, _COMMA),
        (Notation.MONEY, _MONEY),
    ):
        if pattern.fullmatch(stripped):
            return notation
    return Notation.WORDS if stripped.lower() in _TRUTHS else None
