"""Writes the text of small specs, and reads it as a person's file would be read."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from dpql.language import load_text
from dpql.model.spec import Spec

ID = "{type: id}"


def number(x: Fraction | int | str) -> str:
    """Return the plain decimal of a rational that has one."""
    x = Fraction(x)
    with localcontext() as context:
        context.prec = 200
        text = format(Decimal(x.numerator) / Decimal(x.denominator), "f")
    assert Fraction(text) == x
    return text


def integer(lower: int, upper: int, nulls: str = "{as: %s}") -> str:
    """Return the declaration of an integer column."""
    fill = nulls % lower if "%" in nulls else nulls
    return f"{{type: integer, bounds: [{lower}, {upper}], unit: m, nulls: {fill}}}"


def decimal_column(lower: str, upper: str, step: Fraction, nulls: str = "") -> str:
    """Return the declaration of a decimal column."""
    low, high = number(lower), number(upper)
    fill = nulls or f"{{as: {low}}}"
    grid = f"bounds: [{low}, {high}], step: {number(step)}"
    return f"{{type: decimal, {grid}, nulls: {fill}}}"


def spec_text(
    columns: dict[str, str],
    statistics: dict[str, dict[str, str]],
    *,
    rows: str = "{at_most: 1000}",
    unit: str = "row",
    contributes: str | None = None,
    neighbours: str = "add_remove",
    epsilon: str = "1",
    delta: str | None = None,
    alpha: str = "0.05",
    gamma: str = "1e-9",
    mechanism: str = "geometric",
    purpose: str = "A test.",
) -> str:
    """Return the YAML text of a spec."""
    lines = [
        "dpql: 1",
        "release: test",
        f"purpose: {purpose}",
        "data:",
        "  source: rows",
        f"  rows: {rows}",
        "  columns:",
        *(f"    {name}: {column}" for name, column in columns.items()),
        "privacy:",
        f"  unit: {unit}",
        *([f"  contributes: {contributes}"] if contributes else []),
        f"  neighbours: {neighbours}",
        f"  epsilon: {epsilon}",
        f"  delta: {delta or ('1e-6' if mechanism == 'gaussian' else 0)}",
        f"defaults: {{alpha: {alpha}, gamma: {gamma}, mechanism: {mechanism}}}",
        "statistics:",
    ]
    for name, members in statistics.items():
        lines.append(f"  {name}:")
        lines += [f"    {key}: {value}" for key, value in members.items()]
    return "\n".join([*lines, "report: {signer: tester}"]) + "\n"


def make_spec(*arguments: object, **options: object) -> Spec:
    """Return the spec that `spec_text` spells."""
    return load_text(spec_text(*arguments, **options), form="yaml")  # type: ignore[arg-type]
