"""Derived columns for a reviewer: what each is, and what can come out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpql.model.condition_text import condition_text
from dpql.model.expression import Expression, columns_in
from dpql.model.figures import exactly, plural
from dpql.model.lattice_nodes import Kind, Shape
from dpql.model.notation import quoted
from dpql.model.spec import Data
from dpql.review.names import column_name, whole

_LONGEST = 600
_SHOWN = 4
"""Keys that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedLine:
    """A derived column: its expression, its values and the columns that it names.

    A number is ``lower``, ``lower + step``, and so on to ``upper``, in Q steps.
    """

    name: str
    expression: Expression
    shape: Shape
    reads: tuple[str, ...]

    def __str__(self) -> str:
        reads = ", ".join(map(column_name, self.reads)) or "nothing"
        return (
            f"{column_name(self.name)} = {whole(expression_text(self.expression))}: "
            f"{values_text(self.shape)}; reads {reads}"
        )

    def document(self) -> dict[str, Any]:
        """Return the line as JSON."""
        shape = self.shape
        found: dict[str, Any] = {
            "name": self.name,
            "expression": condition_text(self.expression),
            "kind": shape.kind.name.lower(),
            "nullable": shape.nullable,
            "reads": list(self.reads),
        }
        if shape.kind is Kind.KEY:
            return found | {"keys": list(shape.keys)}
        return found | {
            "lower": str(shape.lower),
            "upper": str(shape.upper),
            "step": str(shape.step),
            "Q": str(shape.steps),
        }


def derived_lines(data: Data) -> tuple[DerivedLine, ...]:
    """Return the derived columns in the order of the spec."""
    return tuple(
        DerivedLine(
            name=column.name,
            expression=column.expression,
            shape=data.lattice.derived[column.name].shape,
            reads=tuple(sorted(columns_in(column.expression))),
        )
        for column in data.derived
    )


def expression_text(expression: Expression) -> str:
    """Return an expression; of a long map only its beginning."""
    text = condition_text(expression)
    more = len(text) - _LONGEST
    if more <= 0:
        return text
    return f"{text[:_LONGEST]} ... ({plural(more, 'character')} more in the plan)"


def values_text(shape: Shape) -> str:
    """Return the values that an expression can have, in words."""
    null = ", or null" if shape.nullable else ""
    match shape.kind:
        case Kind.KEY:
            keys = [whole(quoted(key)) for key in shape.keys[:_SHOWN]]
            if len(shape.keys) > _SHOWN:
                keys[-1:] = ["...", whole(quoted(shape.keys[-1]))]
            return f"{plural(len(shape.keys), 'key')} {', '.join(keys)}{null}"
        case Kind.BOOLEAN:
            return f"true or false{null}"
        case _:
            ends = f"[{exactly(shape.lower)}, {exactly(shape.upper)}]"
            steps = f"Q = {plural(shape.steps, 'step')} of {exactly(shape.step)}"
            return f"{ends} in {steps}{null}"
