"""How names, keys and numbers are written, so that different ones are different texts.

What is written here is read back by the language: names bare or in backquotes, keys in
double quotes, numbers exactly. A medium (terminal, HTML, Markdown) escapes on top.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise

from dpql.model.characters import look
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

_MARKS = frozenset(f'"\\`{QUOTE_LOOKALIKES}')

BACKQUOTE_LOOKALIKES = (
    "\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02c8\u02ca\u02cb\u02f4\u0300\u0301\u0340"
    "\u0341\u0374\u0384\u055a\u055d\u05f3\u07f4\u07f5\u144a\u16cc\u1fbd\u1fbf\u1fef"
    "\u1ffd\u1ffe\u2018\u2019\u201b\u2032\u2035\ua78c\uff07\uff40"
)
"""What a reader could take for a backquote: its row in the same table, and accents."""

_NAME = re.compile(r"[^\W\d]\w*")
_BIN = re.compile(r"\[-?[0-9][0-9./e-]*, -?[0-9][0-9./e-]*[)\]]")
_CODED = re.compile(rf"[{QUOTE_LOOKALIKES}]|(?<= ) ")
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{4})\}|\\(.)")

_NAME_CODES = "|".join(f"{ord(mark):04x}" for mark in f" \\{BACKQUOTE_LOOKALIKES}")
_NAME_ESCAPE = re.compile(rf"\\u\{{({_NAME_CODES})\}}")
_NAME_CODED = re.compile(
    rf"[{BACKQUOTE_LOOKALIKES}]|(?<= ) |\\(?=u\{{(?:{_NAME_CODES})\}})"
)

_LETTERS = r"[^\W\d_\u00b2\u00b3\u00b9\u2070-\u2079]+"
_POWER = r"(?:\u207b?[\u00b2\u00b3\u00b9\u2074-\u2079]|\^-?[1-9])?"
_FACTOR = rf"(?:°?{_LETTERS}(?:-{_LETTERS})?|[%‰°€$£¥]){_POWER}"
_MEASURE = re.compile(rf"{_FACTOR}(?:[/·]{_FACTOR})*")
_WORD = re.compile(_LETTERS)
_ZEROS = re.compile(r"[Oo]|[OoIl]{2,}|[Oo]{3}.*")
_SYMBOLS = frozenset("αγδε")
_AMOUNTS = frozenset(
    {
        *("ten", "tens", "dozen", "dozens", "hundred", "hundreds", "tsd"),
        *("thousand", "thousands", "million", "millions", "mio", "mln", "mn"),
        *("billion", "billions", "bn", "mrd", "trillion", "trillions", "tn"),
    }
)
"""Words that multiply the number before them."""

_DIGITS = 15
_LONGEST_BARE = 60
_MOST_ZEROS = 4
_MOST_DIGITS = 40


def is_bare(text: str) -> bool:
    """Tell whether a name needs no backquotes."""
    return _NAME.fullmatch(text) is not None and text not in RESERVED


def name_text(name: str) -> str:
    """Return the name of a column; no column has a backquote in its name.

    Between backquotes, what looks like one is written by its code, as in `quoted`;
    `unescaped_name` reads it. A backslash is one, unless a known code follows it.
    """
    return name if is_bare(name) else _backquoted(name)


def column_text(name: str, keys: AbstractSet[str]) -> str:
    """Return the name of a column where a key could stand: not as one of the keys."""
    words = {"true", "false"} | keys
    return _backquoted(name) if name in words else name_text(name)


def unescaped_name(text: str) -> str:
    """Return the name that stands between two backquotes."""
    return _NAME_ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def unit_text(unit: str | None) -> str:
    """Return the protected unit: the name of its column, or the word `row`."""
    return "row" if unit is None else name_text(unit)


def quoted(text: str) -> str:
    """Return the text in double quotes; `unescaped` reads what is between them.

    What looks like a quote is written by its code, and so is a space after a space:
    browsers and folded lines make one of many.
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    coded = _CODED.sub(_code, escaped)
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
    marks = "" if is_bare(name) else BACKQUOTE_LOOKALIKES
    return name if _is_plain(name, f"{apart}{marks}") else _backquoted(name)


def measure_text(unit: str) -> str:
    """Return a unit of measure that stands after a number and before other words.

    It is bare only if it can be neither more digits of the number nor more words of
    the sentence: words without spaces, their powers, products and ratios.
    """
    return unit if _is_measure(unit) else quoted(unit)


def cell_text(headings: Sequence[str], cell: Sequence[str]) -> str:
    """Return a cell as one text: ``district=north, sex=f``; empty for one number."""
    return next(cell_texts(headings, [cell]))


def cell_texts(
    headings: Sequence[str], cells: Iterable[Sequence[str]]
) -> Iterator[str]:
    """Yield the text of every cell; a key that many cells share is written once."""
    names = [heading_text(heading, apart=",=") for heading in headings]
    key = cache(partial(key_text, apart=",="))
    for cell in cells:
        pairs = zip(names, cell, strict=True)
        yield ", ".join([f"{name}={key(text)}" for name, text in pairs])


def _backquoted(name: str) -> str:
    return f"`{_NAME_CODED.sub(_code, name)}`"


def _code(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):04x}}}"


def _is_measure(unit: str) -> bool:
    return _MEASURE.fullmatch(unit) is not None and not any(
        _is_amount(word) for word in _WORD.findall(unit)
    )


def _is_amount(word: str) -> bool:
    """Tell whether a word could be read as part of a number, or is a symbol of ours."""
    seen = look(word)
    return (
        not all(c.isalpha() and unicodedata.numeric(c, None) is None for c in word)
        or word in _SYMBOLS
        or seen in {"k", "M"}
        or seen.lower() in _AMOUNTS
        or _ZEROS.fullmatch(seen) is not None
    )


def _is_plain(text: str, apart: str) -> bool:
    return (
        0 < len(text) <= _LONGEST_BARE
        and text.isprintable()
        and text == text.strip()
        and "  " not in text
        and _MARKS.isdisjoint(text)
        and not any(mark in text for mark in apart)
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
    decimals = max(twos, fives)
    digits = str(abs(value.numerator) * 10**decimals // value.denominator)
    sign = "-" if value < 0 else ""
    text = sign + _decimal(digits, decimals)
    if (
        len(text) <= LONGEST_NUMBER
        and abs(len(digits) - decimals - 1) <= LARGEST_EXPONENT
    ):
        return text
    return min(
        [
            str(value),
            *(sign + other for other in _with_exponents(digits, decimals)),
        ],
        key=len,
    )


def bin_keys(
    edges: Sequence[Fraction], write: Callable[[Fraction], str] = number_text
) -> tuple[str, ...]:
    """Return the bins between edges as text; only the last one is closed."""
    last = len(edges) - 2
    return tuple(
        f"[{write(low)}, {write(high)}{']' if i == last else ')'}"
        for i, (low, high) in enumerate(pairwise(edges))
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


def _decimal(digits: str, decimals: int) -> str:
    point = len(digits) - decimals
    if decimals == 0 and point <= _MOST_DIGITS:
        return digits
    if -_MOST_ZEROS < point <= _MOST_DIGITS and len(digits) <= _MOST_DIGITS:
        return _pointed(digits, decimals)
    kept = digits.rstrip("0")
    rest = f".{kept[1:]}" if kept[1:] else ""
    return f"{kept[0]}{rest}e{point - 1}"


def _with_exponents(digits: str, decimals: int) -> list[str]:
    """Return the number with its point wherever an exponent allows."""
    kept = digits.rstrip("0")
    last = len(digits) - len(kept) - decimals
    exponents = {
        min(max(exponent, -LARGEST_EXPONENT), LARGEST_EXPONENT)
        for exponent in (0, *range(last, last + len(kept)))
    }
    return [
        _pointed(kept, exponent - last) + (f"e{exponent}" if exponent else "")
        for exponent in sorted(exponents)
    ]


def _pointed(digits: str, decimals: int) -> str:
    """Return ``digits`` times ten to the minus ``decimals`` without an exponent."""
    if decimals <= 0:
        return digits + "0" * -decimals
    padded = digits.rjust(decimals + 1, "0")
    return f"{padded[:-decimals]}.{padded[-decimals:]}"
