"""A `Spec` to the tree that means it, and so to text in either form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import assert_never

from dpql.errors import Span
from dpql.language.formatter import written
from dpql.language.key_lists import PRIVATE, Keys, listed
from dpql.language.predicate_text import predicate_text
from dpql.language.source import form_named
from dpql.language.tree import Entry, Mapping, Node, Scalar, Sequence
from dpql.model.calendar import STEPS, date_text, time_text, zone_text
from dpql.model.condition_text import condition_text
from dpql.model.notation import number_text
from dpql.model.spec import (
    AccuracyTarget,
    BooleanColumn,
    CategoryColumn,
    Column,
    Condition,
    Contributes,
    DateColumn,
    DropNulls,
    Epsilon,
    FillNulls,
    IdColumn,
    Nulls,
    NumberColumn,
    Privacy,
    PrivateColumn,
    Rho,
    RowsExactly,
    Share,
    Spec,
    Spend,
    Statistic,
    TimeColumn,
)
from dpql.statistics import STATISTICS
from dpql.statistics.option import Value

Plain = str | Node | list["Plain"] | dict[str, "Plain"]
"""A tree of which parts have no spans yet."""

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
        case _:
            return plain


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
            **_derived(spec),
        },
        "privacy": _privacy(spec.privacy),
        "statistics": {
            statistic.name: _statistic(statistic, _names(spec))
            for statistic in spec.statistics
        },
    }
    if spec.signer is not None:
        plain["report"] = {"signer": spec.signer}
    return plain


def _names(spec: Spec) -> frozenset[str]:
    """Return what is a column wherever a key could stand."""
    columns = [*spec.data.columns, *spec.data.derived]
    return frozenset(column.name for column in columns)


def _derived(spec: Spec) -> dict[str, Plain]:
    names = _names(spec)
    found: dict[str, Plain] = {
        column.name: _condition(column.expression, names)
        for column in spec.data.derived
    }
    return {"derived": found} if found else {}


def _privacy(privacy: Privacy) -> Plain:
    plain: dict[str, Plain] = {"unit": privacy.unit or "row"}
    if privacy.unit is not None:
        plain["contributes"] = _contributes(privacy.contributes)
    return plain | {
        "neighbours": privacy.neighbours.value,
        "epsilon": number_text(privacy.epsilon),
        "delta": number_text(privacy.delta),
    }


def _contributes(contributes: Contributes) -> Plain:
    plain: dict[str, Plain] = {
        "rows": str(contributes.rows),
        "groups": str(contributes.groups),
    }
    if contributes.total is not None:
        plain["total"] = str(contributes.total)
    return plain


def _column(  # noqa: PLR0911  one per type
    column: Column,
) -> Plain:
    match column:
        case IdColumn():
            return {"type": "id"}
        case CategoryColumn(declared=keys, numeric=numeric):
            node = listed(Keys(keys=keys, numeric=numeric), _NOWHERE)
            return {"type": "category", "keys": node} | _others(column)
        case PrivateColumn():
            return {"type": "category", "keys": PRIVATE} | _others(column)
        case NumberColumn():
            return _number_column(column)
        case BooleanColumn():
            return {"type": "boolean", "nulls": _boolean_nulls(column.nulls)}
        case DateColumn():
            return _date_column(column)
        case TimeColumn():
            return _time_column(column)
        case _:
            assert_never(column)


def _others(column: CategoryColumn | PrivateColumn) -> dict[str, Plain]:
    return {"others": "true"} if column.others else {}


def _boolean_nulls(nulls: Nulls) -> Plain:
    if isinstance(nulls, DropNulls):
        return "drop"
    return {"as": "true" if nulls.value else "false"}


def _date_column(column: DateColumn) -> Plain:
    return {
        "type": "date",
        "bounds": [date_text(column.first), date_text(column.last)],
        "nulls": _nulls_of_days(column.nulls, date_text),
    }


def _time_column(column: TimeColumn) -> Plain:
    return {
        "type": "time",
        "bounds": [time_text(column.first), time_text(column.last)],
        "step": next(word for word, step in STEPS.items() if step == column.step),
        "zone": zone_text(column.zone),
        "nulls": _nulls_of_days(column.nulls, time_text),
    }


def _nulls_of_days(nulls: Nulls, write: Callable[[int], str]) -> Plain:
    if isinstance(nulls, DropNulls):
        return "drop"
    return {"as": write(int(nulls.value))}


def _number_column(column: NumberColumn) -> Plain:
    plain: dict[str, Plain] = {
        "type": column.type.value,
        "bounds": [number_text(column.lower), number_text(column.upper)],
    }
    if column.step is not None:
        plain["step"] = number_text(column.step)
    if column.unit is not None:
        plain["unit"] = column.unit
    fill = column.nulls.value if isinstance(column.nulls, FillNulls) else None
    plain["nulls"] = "drop" if fill is None else {"as": number_text(fill)}
    return plain


def _statistic(statistic: Statistic, names: frozenset[str]) -> Plain:
    if statistic.total_of is not None:
        return {"total": statistic.total_of, **_paid(statistic)}
    kind = STATISTICS[statistic.kind]
    of: Plain = list(statistic.columns)
    if statistic.condition is not None:
        of = _condition(statistic.condition, names)
    elif not statistic.columns:
        of = kind.subject
    elif len(statistic.columns) == 1:
        of = statistic.columns[0]
    plain: dict[str, Plain] = {kind.keyword: of}
    for option in kind.options:
        given = getattr(statistic, option.member)
        if option.is_given(given) and option.meaning is None:
            plain[option.name] = _option(given)
    if statistic.where is not None:
        plain["where"] = _condition(statistic.where, names)
    if statistic.by:
        plain["by"] = list(statistic.by)
    if statistic.contributes is not None:
        plain["contributes"] = _contributes(statistic.contributes)
    return plain | _paid(statistic)


def _paid(statistic: Statistic) -> dict[str, Plain]:
    return {
        "mechanism": statistic.mechanism.value,
        "alpha": number_text(statistic.alpha),
        "gamma": number_text(statistic.gamma),
        "spend": _spend(statistic.spend),
    }


def _condition(condition: Condition, names: frozenset[str]) -> str:
    """Return a condition as the formatter leaves it: keys bare where they can be."""
    from dpql.language.grammar import parse_condition

    return predicate_text(parse_condition(condition_text(condition))[0], names)


def _option(value: Value) -> Plain:
    if isinstance(value, tuple):
        return [number_text(number) for number in value]
    return number_text(value) if isinstance(value, Fraction) else str(value)


def _spend(spend: Spend) -> Plain:
    match spend:
        case Share(weight=amount):
            return {"share": number_text(amount)}
        case Epsilon(value=amount):
            return {"epsilon": number_text(amount)}
        case Rho(value=amount):
            return {"rho": number_text(amount)}
        case AccuracyTarget(within=amount):
            return {"accuracy": number_text(amount)}
        case _:
            assert_never(spend)
