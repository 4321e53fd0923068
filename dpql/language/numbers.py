"""The numbers of a spec: exact, and short enough to be answered at once."""

from __future__ import annotations

import re
from fractions import Fraction

LONGEST = 64
"""The most characters a number may have."""

LARGEST_EXPONENT = 308
"""The largest power of ten a number may be written with."""

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
    return len(text) <= LONGEST and _NUMBER.fullmatch(text) is not None


def is_whole(text: str) -> bool:
    """Tell whether the text is a whole number of the language."""
    return len(text) <= LONGEST and _WHOLE_NUMBER.fullmatch(text) is not None


def is_oversized(text: str) -> bool:
    """Tell whether the text would be a number if it were smaller or shorter."""
    return not is_number(text) and _NUMBER_OF_ANY_SIZE.fullmatch(text) is not None


def exact(text: str) -> Fraction:
    """Return the exact value of a text for which `is_number` holds."""
    return Fraction(text.replace("_", ""))


def spelled(value: Fraction) -> str:
    """Return a number of the language whose exact value is ``value``.

    It is no longer than `LONGEST` when ``value`` was once written as such a number.
    """
    twos = (value.denominator & -value.denominator).bit_length() - 1
    fives, rest = 0, value.denominator >> twos
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator)
    sign = "-" if value < 0 else ""
    return sign + _decimal(digits, places)


_MOST_ZEROS = 4
_MOST_DIGITS = 40


def _decimal(digits: str, places: int) -> str:
    point = len(digits) - places
    if places == 0 and point <= _MOST_DIGITS:
        return digits
    if -_MOST_ZEROS < point <= _MOST_DIGITS and len(digits) <= _MOST_DIGITS:
        padded = digits.rjust(places + 1, "0")
        return f"{padded[:-places]}.{padded[-places:]}"
    kept = digits.rstrip("0")
    rest = f".{kept[1:]}" if kept[1:] else ""
    return f"{kept[0]}{rest}e{point - 1}"
