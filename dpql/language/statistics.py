"""The meaning of a statistic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from dpql.diagnostics import shown
from dpql.language.context import (
    Context,
    distinct,
    items,
    number,
    text,
    value,
    whole,
)
from dpql.language.contributions import own
from dpql.language.left_out import setting
from dpql.language.numbers import exact, is_number
from dpql.language.suggestions import did_you_mean, quoted
from dpql.language.tree import Entry, Node, Scalar
from dpql.model.limits import LARGEST_EPSILON, MOST_CELLS
from dpql.model.notation import number_text
from dpql.model.shape import ListOf, Number
from dpql.model.spec import (
    AccuracyTarget,
    Condition,
    Epsilon,
    MechanismName,
    Neighbours,
    Rho,
    Share,
    Spend,
    Statistic,
)
from dpql.statistics import KEYS, Option, statistic_of, total
from dpql.statistics import Statistic as Kind
from dpql.statistics.option import Input, Usage, Value
from dpql.statistics.statistic import PRIVATE
from dpql.statistics.total import TOTAL


def resolve_statistic(
    entry: Entry, defaults: Node | None, context: Context
) -> Statistic | None:
    """Return the meaning of one statistic, or None after noting what is wrong."""
    word = next((word for word in KEYS if value(entry.value, word)), None)
    if word is None or word == TOTAL:
        return None
    given = value(entry.value, word)
    kind = statistic_of(word, text(given))
    _unit_counted(given, kind, context)
    columns = _inputs(given, kind, context)
    by = distinct(items(value(entry.value, "by")), "`by`", context)
    for item in items(value(entry.value, "by")):
        context.typed(item.text, item.span, GROUPING, "it cannot form groups")
    options = _options(entry, kind, columns, context)
    condition = _condition(given, context) if kind.takes_condition else None
    where = _condition(value(entry.value, "where"), context)
    split = columns if kind.splits else ()
    bins = max(1, len(options.get("edges", ())) - 1)
    each = max(1, len(options.get("at", ())))
    _cells(entry, (*by, *split), bins * each, context)
    _counted(entry, kind, context)
    mechanism = _mechanism(entry, kind, defaults, context)
    alpha = _level("alpha", entry, defaults, context)
    gamma = _level("gamma", entry, defaults, context)
    contributes = own(entry.value, context)
    spend = _spend(value(entry.value, "spend"), context)
    _purity(entry, defaults, mechanism, context)
    if alpha is None or gamma is None or spend is None or mechanism not in MECHANISMS:
        return None
    return Statistic(
        name=entry.name,
        kind=kind.name,
        columns=columns,
        condition=condition,
        where=where,
        by=by,
        contributes=contributes,
        mechanism=MechanismName(mechanism),
        alpha=alpha,
        gamma=gamma,
        spend=spend,
        **options,
    )


def is_total(entry: Entry) -> bool:
    """Tell whether an entry asks for the total of another statistic."""
    return value(entry.value, TOTAL) is not None


def resolve_total(
    entry: Entry,
    defaults: Node | None,
    context: Context,
    others: Mapping[str, Statistic | None],
) -> Statistic | None:
    """Return the meaning of a total, or None after noting what is wrong."""
    given = value(entry.value, TOTAL)
    name = text(given)
    assert given is not None, "is_total has looked"
    for key in _OF_GROUPS:
        misplaced = value(entry.value, key)
        if misplaced is not None:
            hint = f"a total has the `{key}` of its groups; delete it"
            message = f"`{key}` does not go with a total"
            context.add("DPQL330", message, misplaced.span, hint)
    mechanism = setting("mechanism", entry.value, defaults)
    alpha = _level("alpha", entry, defaults, context)
    gamma = _level("gamma", entry, defaults, context)
    spend = _spend(value(entry.value, "spend"), context)
    if name is not None and name not in others:
        close = did_you_mean(name, others)
        message = f"`{shown(name)}` is no statistic of this spec that has a total"
        hint = close or "write the name of a count of rows or a sum that has groups"
        context.add("DPQL330", message, given.span, hint)
    groups = others.get(name or "")
    if groups is None or alpha is None or gamma is None or spend is None:
        return None
    if mechanism not in MECHANISMS:
        return None
    found = Statistic(
        name=entry.name,
        kind=groups.kind,
        columns=(),
        where=None,
        by=(),
        mechanism=MechanismName(mechanism),
        alpha=alpha,
        gamma=gamma,
        spend=spend,
    )
    neighbours = context.neighbours or Neighbours.ADD_REMOVE
    private = [name for name, type_ in context.types.items() if type_ == PRIVATE]
    fault = total.objection(found, groups, neighbours, private=private)
    if fault is not None:
        context.add("DPQL330", fault[0], given.span, fault[1])
    return total.of(found, groups)


_OF_GROUPS = ("where", "by", "contributes")
"""What a total has from the statistic that it adds up."""

MECHANISMS = frozenset(MechanismName)
GROUPING = ("category", PRIVATE, "boolean")
"""The types of the columns that form groups."""


def check_level(name: str, node: Node | None, context: Context) -> None:
    """Note an alpha outside (0, 1) or a gamma outside (0, 1]."""
    level = number(node)
    if node is None or level is None:
        return
    if not 0 < level < 1 and not (name == "gamma" and level == 1):
        context.add(
            "DPQL312",
            f"`{name}` is {number_text(level)}, which is not a probability "
            "strictly between 0 and 1",
            node.span,
            "write `alpha: 0.05`" if name == "alpha" else "write `gamma: 1e-9`",
        )


def _unit_counted(node: Node | None, kind: Kind, context: Context) -> None:
    """Note units counted where each row is one, or as if they were values."""
    if not isinstance(node, Scalar):
        return
    if kind.once and not kind.finds and context.unit_is_row:
        context.add(
            "DPQL326",
            "each row is a unit of its own, so there are as many as rows",
            node.span,
            "write `count: rows`, or name an id column as `unit`",
        )
    if kind.counts_values and context.unit_column and node.text == context.unit:
        context.add(
            "DPQL327",
            f"`{shown(node.text)}` is the unit: each has one value, its own",
            node.span,
            "write `count: units`",
        )


def _inputs(node: Node | None, kind: Kind, context: Context) -> tuple[str, ...]:
    if kind.columns == 0:
        return ()
    found = (node,) if isinstance(node, Scalar) else items(node)
    for item in found:
        use = f"it has no {kind.name}"
        context.typed(item.text, item.span, kind.column_types, use)
    return distinct(found, f"`{kind.name}`", context)


def _options(
    entry: Entry, kind: Kind, columns: tuple[str, ...], context: Context
) -> dict[str, Any]:
    """Return the options by the members of the model that hold them."""
    usage = Usage(
        inputs=tuple(
            Input(
                name=name,
                type=context.types.get(name, ""),
                column=context.columns.get(name),
            )
            for name in columns
        ),
        known=_is_known(entry, context),
        given=frozenset(
            option.name for option in kind.options if value(entry.value, option.name)
        ),
        rows=context.rows,
    )
    found: dict[str, Any] = {}
    for option in kind.options:
        meant = _option(entry, option, usage, context)
        if option.meaning is not None:
            meant = option.meaning(meant, usage)
        if option.member not in found or option.is_given(meant):
            found[option.member] = meant
    return found


def _option(entry: Entry, option: Option, usage: Usage, context: Context) -> Value:
    node = value(entry.value, option.name)
    numbers = [item for item in items(node) if number(item) is not None]
    found: Value
    match option.field.shape:
        case ListOf():
            found = tuple(number(item) or Fraction(0) for item in numbers)
        case Number(whole=True):
            found = whole(node)
        case _:
            found = number(node)
    for objection in option.check(found, usage):
        at = entry.key if node is None else node
        if objection.item is not None:
            at = numbers[objection.item]
        context.add(objection.code, objection.message, at.span, objection.hint)
    return found


def _condition(node: Node | None, context: Context) -> Condition | None:
    if not isinstance(node, Scalar) or not node.text:
        return None
    # The parser behind it takes a tenth of a second to build; most specs do without.
    from dpql.language.expression import resolve_condition

    return resolve_condition(node, context)


def _cells(entry: Entry, grouped: tuple[str, ...], bins: int, context: Context) -> None:
    cells = bins
    for name in grouped:
        cells *= max(1, len(context.keys(name)))
    if cells > MOST_CELLS:
        context.add(
            "DPQL321",
            f"`{shown(entry.name)}` would release {cells} numbers",
            entry.key.span,
            f"group by fewer columns or keys; at most {MOST_CELLS}",
        )


def _is_known(entry: Entry, context: Context) -> bool:
    """Tell whether the statistic is of all rows, and their number is public."""
    return context.neighbours is Neighbours.REPLACE_ONE and not (
        # Of a unit's rows some are dropped, and how many are left is private.
        context.unit_column or value(entry.value, "where") or value(entry.value, "by")
    )


def _counted(entry: Entry, kind: Kind, context: Context) -> None:
    if kind.fewest_rows > (context.rows or kind.fewest_rows):
        context.add(
            "DPQL316",
            f"{kind.name} needs at least {kind.fewest_rows} rows",
            entry.key.span,
            "declare more rows, if there are more",
        )


def _mechanism(
    entry: Entry, kind: Kind, defaults: Node | None, context: Context
) -> str | None:
    if not kind.chooses:
        return setting("mechanism", entry.value, defaults)
    own = value(entry.value, "mechanism")
    if own is not None and text(own) in MECHANISMS - {MechanismName.AUTO}:
        context.add(
            "DPQL329",
            f"a {kind.name} is chosen: {text(own)} adds noise to numbers",
            own.span,
            "delete it",
        )
    return MechanismName.AUTO


def _purity(
    entry: Entry, defaults: Node | None, mechanism: str | None, context: Context
) -> None:
    """Note noise that needs a delta, and ways of spending that it does not have."""
    spends = value(entry.value, "spend")
    rho, epsilon = value(spends, "rho"), value(spends, "epsilon")
    own = value(entry.value, "mechanism") or value(defaults, "mechanism")
    gaussian = mechanism == MechanismName.GAUSSIAN
    if context.delta == 0:
        for node, what in ((own if gaussian else None, "Gaussian noise"), (rho, "ρ")):
            if node is not None:
                context.add(
                    "DPQL370",
                    f"{what} needs a delta above 0, and this release is pure",
                    node.span,
                    "write `delta: 1e-9` under `privacy`"
                    + (", or another mechanism" if gaussian else ""),
                )
        return
    if gaussian and epsilon is not None:
        context.add(
            "DPQL371",
            "Gaussian noise has no epsilon of its own",
            epsilon.span,
            "spend a share, a rho or an accuracy, or write `mechanism: auto`",
        )
    fits = gaussian or mechanism in (None, MechanismName.AUTO)
    if rho is not None and not fits:
        context.add(
            "DPQL371",
            f"a rho is spent by Gaussian noise, or by `auto`, not by {mechanism}",
            rho.span,
            "write `mechanism: auto`, or spend an epsilon",
        )


def _level(
    name: str, entry: Entry, defaults: Node | None, context: Context
) -> Fraction | None:
    check_level(name, value(entry.value, name), context)
    word = setting(name, entry.value, defaults)
    return exact(word) if word and is_number(word) else None


_WAYS: dict[str, Callable[[Fraction], Spend]] = {
    "share": lambda amount: Share(weight=amount),
    "epsilon": lambda amount: Epsilon(value=amount),
    "rho": lambda amount: Rho(value=amount),
    "accuracy": lambda amount: AccuracyTarget(within=amount),
}


def _spend(node: Node | None, context: Context) -> Spend | None:
    way = next((way for way in _WAYS if value(node, way)), None)
    amount_node = value(node, way) if way else None
    amount = number(amount_node)
    if way is None or amount_node is None or amount is None:
        return None
    most = context.epsilon or LARGEST_EPSILON
    if amount <= 0:
        message = f"`{way}` is {number_text(amount)}, and must be above 0"
        hint = f"write `spend: {{{way}: 1}}`, or another way: {quoted(_WAYS)}"
        context.add("DPQL314", message, amount_node.span, hint)
    elif way == "epsilon" and amount > most:
        message = (
            f"the statistic spends {number_text(amount)}, more than the total of "
            f"{number_text(Fraction(most))}"
        )
        hint = "lower it, or raise `epsilon` under `privacy`"
        context.add("DPQL314", message, amount_node.span, hint)
    return _WAYS[way](amount)
