"""What the parts of the meaning of expressions share: an expression with its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpql.language.context import Context
from dpql.language.predicate import Argument, Piece, Predicate
from dpql.language.tree import Scalar
from dpql.model.expression import Expression
from dpql.model.lattice import Lattice
from dpql.model.lattice_nodes import Node


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression, and what it computes."""

    expression: Expression
    node: Node


class Typer(Protocol):
    """Types the parts of one expression, and notes their faults where they stand."""

    context: Context
    scalar: Scalar
    lattice: Lattice

    def typed(self, predicate: Predicate) -> Typed | None:
        """Return the meaning of a part, or None after noting what is wrong."""
        ...

    def made(
        self, expression: Expression, operands: Sequence[Typed], at: Predicate
    ) -> Typed | None:
        """Return an expression with its node, or note that it has none."""
        ...

    def missing(self, operand: Predicate, at: Predicate) -> Typed | None:
        """Return whether an operand is null."""
        ...

    def column(self, piece: Piece) -> Typed | None:
        """Return the column that a word names."""
        ...

    def number(self, piece: Piece) -> Fraction | None:
        """Return the number that a word is, or note that it is none."""
        ...

    def add(self, code: str, message: str, at: Argument, hint: str | None) -> None:
        """Note a fault of a part of the expression."""
        ...

    def text(self, found: Typed, at: Predicate) -> str:
        """Return a word for an operand, for a message."""
        ...
