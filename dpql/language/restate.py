"""A `Spec` to the tree that means it, and so to text in either form."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dpql.errors import Span
from dpql.language import numbers, words
from dpql.language.formatter import written
from dpql.language.source import form_named
from dpql.language.tree import Entry, Mapping, Node, Plain, Scalar, Sequence
from dpql.model.spec import (
    AccuracyTarget,
    And,
    Between,
    CategoryColumn,
    Column,
    Comparison,
    Condition,
    Epsilon,
    FillNulls,
    IdColumn,
    IsNull,
    Literal,
    Membership,
    Not,
    NumberColumn,
    Or,
    Privacy,
    RowsExactly,
    Share,
    Spec,
    Spend,
    Statistic,
    StatisticKind,
)

_NOWHERE = Span("<spec>", 1, 1, 1, 1)


def print_spec(spec: Spec, form: str) -> str:
    """Return a text that means the spec, with every default written out."""
    tree = _node(_spec(spec))
    assert isinstance(tree, Mapping)
    return written(tree, form_named(form))


def _node(plain: Plain) -> Node:
    match plain:
        case dict():
            entries = (
                Entry(Scalar(name, _NOWHERE), _node(value))
                for name, value in plain.items()
            )
            return Mapping(tuple(entries), _NOWHERE)
        case list():
            return Sequence(tuple(_node(item) for item in plain), _NOWHERE)
        case str():
            return Scalar(plain, _NOWHERE)


def _spec(spec: Spec) -> Plain:
    rows = spec.data.rows
    bound = "exactly" if isinstance(rows, RowsExactly) else "at_most"
    plain: dict[str, Plain] = {
        "dpql": "1",
        "release": spec.release,
        "purpose": spec.purpose,
        "data": {
            "source": spec.data.source,
            "rows": {bound: str(rows.count)},
            "columns": {column.name: _column(column) for column in spec.data.columns},
        },
        "privacy": _privacy(spec.privacy),
        "statistics": {ask.name: _statistic(ask) for ask in spec.statistics},
    }
    if spec.signer is not None:
        plain["report"] = {"signer": spec.signer}
    return plain


def _privacy(privacy: Privacy) -> Plain:
    plain: dict[str, Plain] = {"unit": privacy.unit or "row"}
    if privacy.unit is not None:
        plain["contributes"] = {
            "rows": str(privacy.contributes.rows),
            "groups": str(privacy.contributes.groups),
        }
    return plain | {
        "neighbours": privacy.neighbours.value,
        "epsilon": numbers.spelled(privacy.epsilon),
        "delta": numbers.spelled(privacy.delta),
    }


def _column(column: Column) -> Plain:
    match column:
        case IdColumn():
            return {"type": "id"}
        case CategoryColumn(keys=keys):
            return {"type": "category", "keys": list(keys)}
        case NumberColumn():
            return _number_column(column)
        case _:
            assert_never(column)


def _number_column(column: NumberColumn) -> Plain:
    plain: dict[str, Plain] = {
        "type": column.type.value,
        "bounds": [numbers.spelled(column.lower), numbers.spelled(column.upper)],
    }
    if column.step is not None:
        plain["step"] = numbers.spelled(column.step)
    if column.unit is not None:
        plain["unit"] = column.unit
    fill = column.nulls.value if isinstance(column.nulls, FillNulls) else None
    plain["nulls"] = "drop" if fill is None else {"as": numbers.spelled(fill)}
    return plain


def _statistic(ask: Statistic) -> Plain:
    of: Plain = list(ask.columns)
    if ask.kind is StatisticKind.COUNT:
        of = "rows"
    elif len(ask.columns) == 1:
        of = ask.columns[0]
    plain: dict[str, Plain] = {ask.kind.value: of}
    if ask.edges:
        plain["bins"] = [numbers.spelled(edge) for edge in ask.edges]
    if ask.where is not None:
        plain["where"] = condition_text(ask.where)
    if ask.by:
        plain["by"] = list(ask.by)
    if ask.at_least is not None:
        plain["at_least"] = str(ask.at_least)
    return plain | {
        "mechanism": ask.mechanism.value,
        "alpha": numbers.spelled(ask.alpha),
        "gamma": numbers.spelled(ask.gamma),
        "spend": _spend(ask.spend),
    }


def _spend(spend: Spend) -> Plain:
    match spend:
        case Share(weight=amount):
            return {"share": numbers.spelled(amount)}
        case Epsilon(value=amount):
            return {"epsilon": numbers.spelled(amount)}
        case AccuracyTarget(within=amount):
            return {"accuracy": numbers.spelled(amount)}
        case _:
            assert_never(spend)


def condition_text(condition: Condition) -> str:  # noqa: PLR0911  one per kind
    """Return the canonical spelling of a condition."""
    match condition:
        case Comparison(column=column, operator=operator, value=value):
            return f"{words.spelled_name(column)} {operator} {_literal(value)}"
        case Membership(column=column, values=values):
            listed = ", ".join(_literal(value) for value in values)
            return f"{words.spelled_name(column)} in [{listed}]"
        case Between(column=column, lower=lower, upper=upper):
            ends = f"{numbers.spelled(lower)} and {numbers.spelled(upper)}"
            return f"{words.spelled_name(column)} between {ends}"
        case IsNull(column=column):
            return f"{words.spelled_name(column)} is null"
        case Not(operand=operand):
            return _negation(operand)
        case And(operands=operands):
            return " and ".join(_operand(operand) for operand in operands)
        case Or(operands=operands):
            return " or ".join(_operand(operand) for operand in operands)
        case _:
            assert_never(condition)


def _negation(operand: Condition) -> str:
    if isinstance(operand, IsNull):
        return f"{words.spelled_name(operand.column)} is not null"
    return f"not {_operand(operand)}"


def _operand(condition: Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, And | Or) else text


def _literal(value: Literal) -> str:
    if isinstance(value, Fraction):
        return numbers.spelled(value)
    return words.spelled_literal(value)
