"""Exact numbers as text for people.

Digits come from integer arithmetic. An error is always shown rounded up, so that what
a person reads is never a stronger promise than the plan makes.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.diagnostics import WHOLE, shown
from dpql.exact import exp_up
from dpql.model.notation import measure_text, number_text

_SHORT = 7
"""A fraction of at most so many characters is shown as it is."""

_DECLARED = 12
"""Digits in which a declared number is shown as a person writes it."""

_TINY = -5

_HUGE = 400
"""Numbers of more digits before the point than any spec can hold are cut short."""


def rational(x: Fraction, significant: int = 4) -> str:
    """Return a short fraction as it is, any other as a decimal after ``≈``, up."""
    short = max(abs(x.numerator), x.denominator) < 10**_SHORT
    text = str(x) if short else ""
    if text and len(text) <= _SHORT:
        return text
    return f"≈ {decimal(x, significant, up=True)}"


def equal_to(x: Fraction, significant: int = 4) -> str:
    """Return ``= x`` where the number is shown as it is, else ``≈`` and a decimal."""
    text = rational(x, significant)
    return text if text.startswith("≈") else f"= {text}"


def amount_text(epsilon: Fraction | None, rho: Fraction | None) -> str:
    """Return what noise spends: an epsilon where it is pure, else a rho."""
    if epsilon is not None:
        return f"ε {rational(epsilon)}"
    assert rho is not None, "noise spends one or the other"
    return f"ρ {rational(rho)}"


def quantity(x: Fraction | None) -> str:
    """Return a number as a plain decimal of up to six significant digits."""
    return "-" if x is None else decimal(x, 6)


def within_text(error: Fraction, unit: str | None, significant: int = 5) -> str:
    """Return ``± error unit``, the error rounded up to five significant digits."""
    text = f"± {decimal(error, significant, up=True)}"
    return text if unit is None else f"{text} {shown(measure_text(unit), limit=WHOLE)}"


def exactly(x: Fraction) -> str:
    """Return a declared number: never rounded, thousands set apart where it is short.

    Two numbers that differ are two texts.
    """
    short = decimal(x, _DECLARED)
    return short if _value(short) == x else number_text(x)


def decimal(
    x: Fraction, significant: int, *, up: bool = False, down: bool = False
) -> str:
    """Return the decimal of so many significant digits, thousands set apart.

    All digits before the point are kept. ``up`` rounds away from zero, ``down``
    towards it, else to nearest with ties away from zero.
    """
    if x == 0:
        return "0"
    sign = "-" if x < 0 else ""
    x = abs(x)
    exponent = _magnitude(x)
    if exponent < _TINY or exponent > _HUGE:
        head = decimal(x / Fraction(10) ** exponent, significant, up=up, down=down)
        return f"{sign}{head}e{exponent}"
    decimals = max(0, significant - 1 - exponent)
    scaled = x * 10**decimals
    half = Fraction(0) if down else Fraction(1, 2)
    digits = -(-scaled // 1) if up else (scaled + half) // 1
    whole, part = divmod(digits, 10**decimals)
    tail = f"{part:0{decimals}d}".rstrip("0") if decimals else ""
    return sign + f"{whole:,}".replace(",", " ") + (f".{tail}" if tail else "")


def times(epsilon: Fraction, significant: int = 3) -> str:
    """Return e**epsilon, rounded up to three significant digits."""
    return decimal(exp_up(epsilon), significant, up=True)


def percent(x: Fraction) -> str:
    """Return a probability as a percentage of up to six significant digits."""
    return f"{decimal(100 * x, 6)}%"


def bar(share: Fraction, width: int = 10) -> str:
    """Return a bar of ``width`` cells, as many of them full as the share says."""
    full = min(max(round(share * width), 1 if share > 0 else 0), width)
    return "█" * full + "░" * (width - full)


def plural(count: int, word: str) -> str:
    """Return ``1 row`` or ``3 rows``."""
    return f"{decimal(Fraction(count), 1)} {word}" + ("" if count == 1 else "s")


def _magnitude(x: Fraction) -> int:
    """Return the exponent of the leading decimal digit of x > 0."""
    bits = x.numerator.bit_length() - x.denominator.bit_length()
    exponent = bits * 30103 // 100_000 + 1
    while x < Fraction(10) ** exponent:
        exponent -= 1
    return exponent


def _value(text: str) -> Fraction:
    return Fraction(text.replace(" ", ""))
