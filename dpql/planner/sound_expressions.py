"""What the expressions inside a plan must be, whoever wrote the plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from dpql.diagnostics import is_hidden
from dpql.model import limits
from dpql.model.characters import look, mixes_alphabets
from dpql.model.expression import (
    And,
    Bands,
    Between,
    Comparison,
    Constant,
    Expression,
    IsNull,
    Listed,
    Map,
    Membership,
    Not,
    Or,
    Ranged,
    Reference,
    columns_in,
    operands_of,
    walk,
)
from dpql.model.lattice import Lattice
from dpql.model.lattice_nodes import Kind
from dpql.model.lattice_rules import Untyped, Word, as_truth
from dpql.model.spec import Data

_OLD = (And, Or, Not, Comparison, Membership, Between, IsNull)
"""What conditions were made of before there were expressions."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_FEWEST_EDGES = 2


def is_formatted(text: str, text_format: limits.TextFormat) -> bool:
    """Tell whether a text could have been written in a spec."""
    return (
        len(text) <= text_format.longest
        and re.fullmatch(text_format.pattern, text) is not None
        and not any(map(is_hidden, text))
    )


def are_unmistakable(words: Sequence[str], text_format: limits.TextFormat) -> bool:
    """Tell whether no word looks like another one, or like what it is not."""
    return (
        all(is_formatted(word, text_format) for word in words)
        and are_distinct(list(map(look, words)))
        and not any(map(mixes_alphabets, words))
    )


def are_distinct(names: Sequence[object]) -> bool:
    """Tell whether no item is there twice."""
    return len(set(names)) == len(names)


def lattice_of(data: Data) -> Lattice | None:
    """Return the lattice of columns whose derived ones are sound, else None."""
    declared = {column.name for column in data.columns}
    for column in data.derived:
        if column.name in declared or not _is_written(column.expression):
            return None
    try:
        found = data.lattice
    except Untyped:
        return None
    dates = (Kind.DATE, Kind.TIME)
    for node in found.derived.values():
        if node.shape.excess or isinstance(node, Word) or node.shape.kind in dates:
            return None
    return found


def is_condition(expression: Expression, lattice: Lattice, *, old: bool) -> bool:
    """Tell whether an expression is one of rows that pass, or of the ``old`` kind."""
    if old and not all(isinstance(one, _OLD) for one in walk(expression)):
        return False
    if not _is_written(expression):
        return False
    try:
        node = as_truth(lattice.typed(expression))
    except Untyped:
        return False
    return not node.shape.excess


def _is_written(expression: Expression) -> bool:
    """Tell whether a text could be of that depth and length, and name a column."""
    parts = list(walk(expression))
    return (
        _depth(expression) <= limits.DEEPEST
        and sum(map(_pieces, parts)) <= limits.CONDITION.longest // 2
        and all(map(_is_sound, parts))
        and bool(columns_in(expression))
    )


def _depth(expression: Expression) -> int:
    """Return the height of the tree, which the reading of a plan has bounded.

    Columns and constants add none to what holds them.
    """
    operands = operands_of(expression)
    if not operands:
        return 1
    names = (Reference, Constant)
    return 1 + max(0 if isinstance(one, names) else _depth(one) for one in operands)


def _pieces(expression: Expression) -> int:
    """Return a number of words of two characters, signs included, that it has."""
    match expression:
        case Membership(values=values) | Listed(values=values):
            return 1 + len(values)
        case Bands(edges=edges):
            return 1 + len(edges)
        case Map(pairs=pairs, digest=None):
            return 1 + 2 * len(pairs)
        case _:
            return 1


def _is_sound(expression: Expression) -> bool:  # noqa: PLR0911  one per kind
    """Tell whether one part keeps what its type states in words."""
    match expression:
        case And(operands=operands) | Or(operands=operands):
            flat = not any(type(operand) is type(expression) for operand in operands)
            return flat and len(operands) > 1
        case Membership(values=values) | Listed(values=values):
            return bool(values) and are_distinct(values)
        case Between(lower=lower, upper=upper):
            return lower <= upper
        case Ranged(lower=lower, upper=upper):
            return type(lower) is type(upper) and lower <= upper  # type: ignore[operator]
        case Bands(edges=edges):
            enough = _FEWEST_EDGES <= len(edges) <= limits.MOST_EDGES
            return enough and all(low < high for low, high in pairwise(edges))
        case Map():
            return _is_sound_map(expression)
        case _:
            return True


def _is_sound_map(found: Map) -> bool:
    given = [pair.value for pair in found.pairs]
    given += [one for one in (found.otherwise, found.missing) if one is not None]
    values = list(dict.fromkeys(given))
    return (
        bool(found.pairs)
        and are_distinct([pair.key for pair in found.pairs])
        and are_unmistakable(values, limits.KEY)
        and (found.digest is None or _DIGEST.fullmatch(found.digest) is not None)
    )
