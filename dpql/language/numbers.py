"""The numbers of a spec: exact, and short enough to be answered at once."""

from __future__ import annotations

import re
from fractions import Fraction

from dpql.model.limits import LONGEST_NUMBER

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_WHOLE = r"(?:0|[1-9][0-9]*(?:_[0-9]+)*)"
_EXPONENT = r"[eE][-+]?0*(?:[0-9]{1,2}|[12][0-9]{2}|30[0-8])"

WHOLE_PATTERN = rf"-?{_WHOLE}"
NUMBER_PATTERN = (
    rf"-?{_WHOLE}(?:/[1-9][0-9]*(?:_[0-9]+)*|(?:\.{_DIGITS})?(?:{_EXPONENT})?)"
)
"""`0.1`, `1e-6`, `2_000_000`, `1/3`; never `010`, `.5`, `0x1F`, `12:30`, `.nan`."""

_NUMBER = re.compile(NUMBER_PATTERN)
_NUMBER_OF_ANY_SIZE = re.compile(
    rf"-?{_WHOLE}(?:/{_DIGITS}|(?:\.{_DIGITS})?(?:[eE][-+]?[0-9]+)?)"
)
_WHOLE_NUMBER = re.compile(WHOLE_PATTERN)


def is_number(text: str) -> bool:
    """Tell whether the text is a number of the language."""
    return len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text) is not None


def is_whole(text: str) -> bool:
    """Tell whether the text is a whole number of the language."""
    return len(text) <= LONGEST_NUMBER and _WHOLE_NUMBER.fullmatch(text) is not None


def is_oversized(text: str) -> bool:
    """Tell whether the text would be a number if it were smaller or shorter."""
    return not is_number(text) and _NUMBER_OF_ANY_SIZE.fullmatch(text) is not None


def exact(text: str) -> Fraction:
    """Return the exact value of a text for which `is_number` holds."""
    return Fraction(text.replace("_", ""))
