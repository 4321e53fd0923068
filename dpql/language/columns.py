"""The meaning of a column declaration."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language.context import (
    OPEN_TYPE,
    UNTYPED,
    Context,
    entries,
    items,
    number,
    text,
    value,
)
from dpql.language.found_keys import check_others
from dpql.language.key_lists import are_private, is_misread, resolve_keys
from dpql.language.nulls import resolve_nulls
from dpql.language.times import boolean, date, time
from dpql.language.tree import Entry, Node, Scalar
from dpql.model.characters import look, mixes_alphabets
from dpql.model.columns import OTHERS
from dpql.model.notation import number_text
from dpql.model.spec import (
    CategoryColumn,
    Column,
    IdColumn,
    NumberColumn,
    NumberType,
    PrivateColumn,
)
from dpql.statistics.statistic import PRIVATE


def resolve_columns(node: Node | None, context: Context) -> None:
    """Enter every declared column into the context, and note what is wrong."""
    names = entries(node)
    context.names = tuple(entry.key for entry in names)
    for entry in names:
        context.types[entry.name] = text(value(entry.value, "type")) or UNTYPED
        column = _column(entry, context)
        if column is not None:
            context.columns[entry.name] = column


def check_lookalikes(words: Iterable[Scalar], what: str, context: Context) -> None:
    """Note words that look like another one, or like what they are not."""
    looks: dict[str, Scalar] = {}
    for word in words:
        first = looks.setdefault(look(word.text), word)
        if first.text != word.text:
            context.add(
                "DPQL322",
                f"`{shown(word.text)}` looks like the {what} on line "
                f"{first.span.line} and is another",
                word.span,
                "rename one of them in the data",
            )
        if mixes_alphabets(word.text):
            context.add(
                "DPQL324",
                f"`{shown(word.text)}` mixes letters of several alphabets in a word",
                word.span,
                "type it anew in one alphabet, or rename it in the data",
            )


def _column(  # noqa: PLR0911  one per type
    entry: Entry, context: Context
) -> Column | None:
    match context.types[entry.name]:
        case "id":
            return _id(entry, context)
        case "category":
            return _category(entry, context)
        case NumberType.INTEGER | NumberType.DECIMAL | NumberType.FLOAT as kind:
            return _number(entry, NumberType(kind), context)
        case "boolean":
            return boolean(entry, context)
        case "date":
            return date(entry, context)
        case "time":
            return time(entry, context)
        case _:
            # Noted by its shape; wherever it is used nothing more is said.
            context.types[entry.name] = OPEN_TYPE
            return None


def _category(entry: Entry, context: Context) -> Column | None:
    keys, asked = value(entry.value, "keys"), value(entry.value, "others")
    others = asked is not None
    if keys is None or is_misread(keys):
        context.types[entry.name] = UNTYPED
        return None
    if are_private(keys):
        context.types[entry.name] = PRIVATE
        return PrivateColumn(name=entry.name, others=others)
    found, meant = resolve_keys(keys, context)
    if not meant.numeric:
        check_lookalikes(found, "key", context)
    if others:
        check_others(found, context)
    if not meant.keys:
        return None
    return CategoryColumn(
        name=entry.name,
        keys=(*meant.keys, OTHERS) if others else meant.keys,
        numeric=meant.numeric,
        digest=meant.digest,
        others=others,
    )


def _id(entry: Entry, context: Context) -> Column:
    if entry.name == "row":
        context.add(
            "DPQL323",
            "an id column cannot be called `row`",
            entry.key.span,
            "`unit: row` means that each row is a unit; rename the column",
        )
    return IdColumn(name=entry.name)


def _number(entry: Entry, kind: NumberType, context: Context) -> Column | None:
    node = value(entry.value, "bounds")
    ends = [number(item) for item in items(node)]
    if node is None or len(ends) != 2 or None in ends:  # noqa: PLR2004  two ends
        return None
    lower, upper = (Fraction(end or 0) for end in ends)
    step = _step(entry, kind)
    if lower >= upper:
        context.add(
            "DPQL303",
            f"the lower bound {number_text(lower)} is not below the upper bound "
            f"{number_text(upper)}",
            node.span,
            f"write `bounds: [{number_text(min(lower, upper))}, "
            f"{number_text(max(lower, upper))}]`"
            if lower > upper
            else "write two different numbers",
        )
    sound = lower < upper and _grid(entry, kind, (lower, upper), step, context)
    nulls = resolve_nulls(entry, (lower, upper), number_text, number, context)
    if nulls is None or not sound:
        return None
    return NumberColumn(
        name=entry.name,
        type=kind,
        lower=lower,
        upper=upper,
        step=step,
        unit=text(value(entry.value, "unit")),
        nulls=nulls,
    )


def _step(entry: Entry, kind: NumberType) -> Fraction | None:
    step = number(value(entry.value, "step"))
    return Fraction(1) if step is None and kind is NumberType.INTEGER else step


def _grid(
    entry: Entry,
    kind: NumberType,
    bounds: tuple[Fraction, Fraction],
    step: Fraction | None,
    context: Context,
) -> bool:
    """Tell whether the bounds are whole steps apart, or note that they are not."""
    lower, upper = bounds
    at = value(entry.value, "step") or value(entry.value, "bounds") or entry.value
    if kind is NumberType.INTEGER and any(
        end.denominator != 1 for end in (lower, upper, step or lower)
    ):
        message = "an integer column has whole bounds and a whole step"
        context.add("DPQL304", message, at.span, "round them, or use `type: decimal`")
    elif step is not None and step <= 0:
        context.add("DPQL304", "`step` must be above 0", at.span, "write `step: 0.01`")
    elif step is not None and ((upper - lower) / step).denominator != 1:
        most = lower + (upper - lower) // step * step
        hint = f"for example `bounds: [{number_text(lower)}, " + (
            f"{number_text(most)}]`" if most > lower else "...]`"
        )
        context.add(
            "DPQL304",
            f"the upper bound of `{shown(entry.name)}` is not a whole number of steps "
            "above the lower",
            at.span,
            hint,
        )
    else:
        return True
    return False
