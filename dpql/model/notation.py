"""How names, keys and numbers are written, so that different ones are different texts.

What is written here is read back by the language: names bare or in backquotes, keys in
double quotes, numbers exactly. A medium (terminal, HTML, Markdown) escapes on top.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact
from fractions import Fraction

from dpql.model.limits import LARGEST_EXPONENT, LONGEST_NUMBER

RESERVED = frozenset(
    {
        "dpql",
        "release",
        "from",
        "with",
        "at",
        "most",
        "least",
        "exactly",
        "rows",
        "row",
        "groups",
        "group",
        "step",
        "drop",
        "nulls",
        "as",
        "protect",
        "giving",
        "in",
        "under",
        "spending",
        "default",
        "where",
        "by",
        "bins",
        "using",
        "alpha",
        "gamma",
        "spend",
        "report",
        "signed",
        "or",
        "and",
        "not",
        "between",
        "is",
        "null",
    }
)
"""The words of query.lark; a column of such a name is written in backquotes."""

QUOTE_LOOKALIKES = (
    "\u02ba\u02dd\u02ee\u02f6\u05f2\u05f4\u1cd3\u201c\u201d\u201e\u201f\u2033\u2036"
    "\u3003\uff02"
)
"""What a reader could take for a double quote (confusables.txt of UTS 39)."""

_NAME = re.compile(r"[^\W\d]\w*")
_BIN = re.compile(r"\[-?[0-9][0-9./e-]*, -?[0-9][0-9./e-]*[)\]]")
_CODED = re.compile(rf"[{QUOTE_LOOKALIKES}]|(?<= ) ")
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{4})\}|\\(.)")

_DIGITS = 15
_LONGEST_BARE = 60
_MOST_ZEROS = 4
_MOST_DIGITS = 40


def is_bare(text: str) -> bool:
    """Tell whether a name needs no backquotes."""
    return _NAME.fullmatch(text) is not None and text not in RESERVED


def name_text(name: str) -> str:
    """Return the name of a column; no column has a backquote in its name."""
    return name if is_bare(name) else f"`{name}`"


def unit_text(unit: str | None) -> str:
    """Return the protected unit: the name of its column, or the word `row`."""
    return "row" if unit is None else name_text(unit)


def quoted(text: str) -> str:
    """Return the text in double quotes; `unescaped` reads what is between them.

    What looks like a quote is written by its code, and so is a space after a space:
    browsers and folded lines make one of many.
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    coded = _CODED.sub(lambda found: f"\\u{{{ord(found[0]):04x}}}", escaped)
    return f'"{coded}"'


def unescaped(text: str) -> str:
    """Return what stands between two quotes, without its escapes."""
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], text)


def key_text(key: str, *, apart: str = "") -> str:
    """Return a key for a table or a list: bare, or in quotes where it needs them.

    It needs them if it holds a quote, a backslash, two spaces in a row or a character
    of ``apart``, by which the reader tells the parts of a list from one another; or if
    it is so long that a terminal may fold it, and its end could pass for a row.
    """
    return key if _is_plain(key, apart) or _BIN.fullmatch(key) else quoted(key)


def heading_text(name: str, *, apart: str = "") -> str:
    """Return the name of a column above a table: bare, or in backquotes."""
    return name if _is_plain(name, apart) else f"`{name}`"


def measure_text(unit: str) -> str:
    """Return a unit of measure that stands after a number and before other words."""
    return key_text(unit, apart=",;:=±≈→")


def list_text(keys: Iterable[str]) -> str:
    """Return keys in a list, apart by commas."""
    return ", ".join(key_text(key, apart=",") for key in keys)


def cell_text(headings: Sequence[str], cell: Sequence[str]) -> str:
    """Return a cell as one text: ``district=north, sex=f``; empty for one number."""
    return ", ".join(
        f"{heading_text(heading, apart=',=')}={key_text(key, apart=',=')}"
        for heading, key in zip(headings, cell, strict=True)
    )


def _is_plain(text: str, apart: str) -> bool:
    marks = f'"\\`{QUOTE_LOOKALIKES}{apart}'
    return (
        0 < len(text) <= _LONGEST_BARE
        and text.isprintable()
        and text == text.strip()
        and "  " not in text
        and not any(mark in text for mark in marks)
    )


def number_text(value: Fraction) -> str:
    """Return a number of the language whose exact value is ``value``.

    It is no longer than a number may be when ``value`` was once written as such.
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
    text = sign + _decimal(digits, places)
    if (
        len(text) <= LONGEST_NUMBER
        and abs(len(digits) - places - 1) <= LARGEST_EXPONENT
    ):
        return text
    return min(
        [
            str(value),
            *(sign + other for other in _with_exponents(digits, places)),
        ],
        key=len,
    )


def plain(x: Fraction, digits: int = _DIGITS, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return the decimal of x, exact if ``digits`` suffice, else rounded.

    ``rounding`` is a direction of `decimal`: an interval is rounded outwards, an
    error up, anything else to nearest.
    """
    if x.denominator == 1:
        return str(x.numerator)
    context = Context(prec=digits, rounding=rounding, Emax=10**6, Emin=-(10**6))
    number = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    if not context.flags[Inexact]:
        number = number.normalize(context)
    return format(number, "f" if number.adjusted() > -20 else "e")  # noqa: PLR2004  zeros


def _decimal(digits: str, places: int) -> str:
    point = len(digits) - places
    if places == 0 and point <= _MOST_DIGITS:
        return digits
    if -_MOST_ZEROS < point <= _MOST_DIGITS and len(digits) <= _MOST_DIGITS:
        return _pointed(digits, places)
    kept = digits.rstrip("0")
    rest = f".{kept[1:]}" if kept[1:] else ""
    return f"{kept[0]}{rest}e{point - 1}"


def _with_exponents(digits: str, places: int) -> list[str]:
    """Return the number with its point at every place that an exponent allows."""
    kept = digits.rstrip("0")
    last = len(digits) - len(kept) - places
    exponents = {
        min(max(exponent, -LARGEST_EXPONENT), LARGEST_EXPONENT)
        for exponent in (0, *range(last, last + len(kept)))
    }
    return [
        _pointed(kept, exponent - last) + (f"e{exponent}" if exponent else "")
        for exponent in sorted(exponents)
    ]


def _pointed(digits: str, places: int) -> str:
    """Return ``digits`` times ten to the minus ``places`` without an exponent."""
    if places <= 0:
        return digits + "0" * -places
    padded = digits.rjust(places + 1, "0")
    return f"{padded[:-places]}.{padded[-places:]}"
