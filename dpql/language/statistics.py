"""The meaning of a statistic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

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
from dpql.language.suggestions import quoted
from dpql.language.tree import Entry, Node, Scalar
from dpql.language.vocabulary import STATISTICS, StatisticWord
from dpql.model.limits import LARGEST_EPSILON, MOST_CELLS
from dpql.model.notation import number_text
from dpql.model.spec import (
    AccuracyTarget,
    Condition,
    Epsilon,
    MechanismName,
    Neighbours,
    NumberColumn,
    NumberType,
    Share,
    Spend,
    Statistic,
    StatisticKind,
)

_NUMBERS = tuple(NumberType)


def resolve_statistic(
    entry: Entry, defaults: Node | None, context: Context
) -> Statistic | None:
    """Return the meaning of one statistic, or None after noting what is wrong."""
    word = next((word for word in STATISTICS if value(entry.value, word)), None)
    if word is None:
        return None
    rule = STATISTICS[word]
    columns = _inputs(value(entry.value, word), rule, context)
    by = distinct(items(value(entry.value, "by")), "`by`", context)
    for item in items(value(entry.value, "by")):
        context.typed(item.text, item.span, ("category",), "it cannot form groups")
    edges = _edges(entry, rule, columns, context)
    where = _where(entry, context)
    histogram = columns if rule.kind is StatisticKind.HISTOGRAM else ()
    _cells(entry, (*by, *histogram), max(1, len(edges) - 1), context)
    _counted(entry, rule, context)
    mechanism = text(_setting("mechanism", entry, defaults)) or rule.mechanism
    alpha = _level("alpha", entry, defaults, context)
    gamma = _level("gamma", entry, defaults, context)
    spend = _spend(value(entry.value, "spend"), context)
    if alpha is None or gamma is None or spend is None or mechanism not in MECHANISMS:
        return None
    return Statistic(
        name=entry.name,
        kind=rule.kind,
        columns=columns,
        edges=edges,
        where=where,
        by=by,
        at_least=whole(value(entry.value, "at_least")),
        mechanism=MechanismName(mechanism),
        alpha=alpha,
        gamma=gamma,
        spend=spend,
    )


MECHANISMS = frozenset(MechanismName)


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


def _inputs(
    node: Node | None, rule: StatisticWord, context: Context
) -> tuple[str, ...]:
    if rule.inputs == 0:
        return ()
    found = (node,) if isinstance(node, Scalar) else items(node)
    allowed = (*_NUMBERS, "category") if rule.of_category else _NUMBERS
    for item in found:
        use = f"it has no {rule.kind}"
        context.typed(item.text, item.span, allowed, use)
    return distinct(found, f"`{rule.kind}`", context)


def _edges(
    entry: Entry, rule: StatisticWord, columns: tuple[str, ...], context: Context
) -> tuple[Fraction, ...]:
    node = value(entry.value, "bins")
    if rule.kind is not StatisticKind.HISTOGRAM or not columns:
        return ()
    kind, column = context.types.get(columns[0]), context.columns.get(columns[0])
    if node is None:
        if kind in _NUMBERS:
            context.add(
                "DPQL306",
                f"the histogram of the {kind} column `{shown(columns[0])}` needs bins",
                entry.key.span,
                "add `bins: [...]` with the edges of the bins",
            )
        return ()
    if kind == "category":
        context.add(
            "DPQL306",
            f"`{shown(columns[0])}` is a category: its keys are the bins",
            node.span,
            "delete `bins`",
        )
        return ()
    edges = [(item, number(item)) for item in items(node)]
    known = [(item, edge) for item, edge in edges if edge is not None]
    for (_, before), (item, edge) in pairwise(known):
        if edge <= before:
            context.add(
                "DPQL306",
                f"the bin edge {number_text(edge)} is not above the one before it",
                item.span,
                "list the edges from the smallest to the largest",
            )
    for item, edge in known:
        if (
            isinstance(column, NumberColumn)
            and not column.lower <= edge <= column.upper
        ):
            context.add(
                "DPQL306",
                f"the bin edge {number_text(edge)} is outside the bounds of "
                f"`{shown(columns[0])}`",
                item.span,
                f"keep within {number_text(column.lower)} and "
                f"{number_text(column.upper)}",
            )
    return tuple(edge for _, edge in known)


def _where(entry: Entry, context: Context) -> Condition | None:
    node = value(entry.value, "where")
    if not isinstance(node, Scalar) or not node.text:
        return None
    # The parser behind it takes a tenth of a second to build; most specs do without.
    from dpql.language.condition import resolve_condition

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


def _counted(entry: Entry, rule: StatisticWord, context: Context) -> None:
    public = context.neighbours is Neighbours.REPLACE_ONE and not (
        # Of a unit's rows some are dropped, and how many are left is private.
        context.unit_column or value(entry.value, "where") or value(entry.value, "by")
    )
    if rule.needs_public_count and context.neighbours and not public:
        context.add(
            "DPQL318",
            f"{rule.kind} needs a public number of rows",
            entry.key.span,
            "declare `rows: {exactly: N}`, `unit: row` and `neighbours: replace_one`, "
            "without `where` and `by`",
        )
    if rule.fewest_rows > (context.rows or rule.fewest_rows):
        context.add(
            "DPQL316",
            f"{rule.kind} needs at least {rule.fewest_rows} rows",
            entry.key.span,
            "declare more rows, if there are more",
        )
    node = value(entry.value, "at_least")
    least = whole(node)
    if node is None or least is None or not rule.takes_at_least:
        return
    if public:
        context.add(
            "DPQL317",
            "`at_least` says nothing here: the number of rows is public",
            node.span,
            "delete it",
        )
    elif least < 1 or (context.rows is not None and least > context.rows):
        context.add(
            "DPQL317",
            f"`at_least` is {least}, which is not from 1 to the declared rows",
            node.span,
            "promise only what is publicly known of every group",
        )


def _setting(name: str, entry: Entry, defaults: Node | None) -> Node | None:
    return value(entry.value, name) or value(defaults, name)


def _level(
    name: str, entry: Entry, defaults: Node | None, context: Context
) -> Fraction | None:
    own = value(entry.value, name)
    check_level(name, own, context)
    if own is None and value(defaults, name) is None:
        context.add(
            "DPQL313",
            f"`{shown(entry.name)}` has no `{name}`, and neither do the defaults",
            entry.key.span,
            "add `defaults: {alpha: 0.05, gamma: 1e-9}`",
        )
    return number(_setting(name, entry, defaults))


_WAYS: dict[str, Callable[[Fraction], Spend]] = {
    "share": lambda amount: Share(weight=amount),
    "epsilon": lambda amount: Epsilon(value=amount),
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
