"""The meaning of a tree: the only maker of a `Spec`."""

from __future__ import annotations

from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language.columns import resolve_columns
from dpql.language.context import (
    Context,
    entries,
    number,
    text,
    value,
    whole,
)
from dpql.language.contributions import promised
from dpql.language.derived import resolve_derived
from dpql.language.found_keys import check_found
from dpql.language.left_out import filled_in, setting
from dpql.language.numbers import exact, is_number
from dpql.language.source import Source
from dpql.language.statistics import (
    check_level,
    is_total,
    resolve_statistic,
    resolve_total,
)
from dpql.language.tree import Mapping, Node, Scalar, spans
from dpql.model.limits import LARGEST_EPSILON, MOST_ROWS
from dpql.model.notation import number_text
from dpql.model.spec import (
    Data,
    Neighbours,
    Privacy,
    Rows,
    RowsAtMost,
    RowsExactly,
    Spans,
    Spec,
    Statistic,
)


def resolve(root: Mapping, source: Source, *others: Source) -> Spec:
    """Return the meaning of a tree, or raise every fault of shape and of meaning.

    Faults of shape have been noted before. A part whose shape is at fault is skipped
    here, so that the rest of the spec is still checked. ``others`` are the sources of
    parts of the tree that stand elsewhere.
    """
    data, privacy = root.get("data"), root.get("privacy")
    context = Context(source, others, name=text(value(data, "source")) or "?")
    relation = setting("neighbours", privacy) if isinstance(privacy, Mapping) else None
    if relation in frozenset(Neighbours):
        context.neighbours = Neighbours(relation)
    unit = text(value(privacy, "unit"))
    context.unit_column = unit not in (None, "row")
    context.unit_is_row, context.unit = unit == "row", unit
    rows = _rows(value(data, "rows"), context)
    resolve_columns(value(data, "columns"), context)
    resolve_derived(value(data, "derived"), context)
    promise = _privacy(privacy, rows, context)
    defaults = root.get("defaults")
    for name in ("alpha", "gamma"):
        check_level(name, value(defaults, name), context)
    statistics = _statistics(root.get("statistics"), defaults, context)
    context.note_unknown()
    source.check()
    assert rows is not None
    assert promise is not None
    assert None not in statistics
    assert context.columns.keys() == context.types.keys()
    return Spec(
        release=text(root.get("release")) or "",
        purpose=text(root.get("purpose")) or "",
        data=Data(
            source=context.name,
            rows=rows,
            columns=tuple(
                column
                for name, column in context.columns.items()
                if name not in context.derived
            ),
            derived=tuple(context.derived.values()),
        ),
        privacy=promise,
        statistics=tuple(item for item in statistics if item is not None),
        signer=text(value(root.get("report"), "signer")),
        spans=Spans(by_path=dict(spans(root))),
        filled_in=filled_in(root),
    )


def _statistics(
    block: Node | None, defaults: Node | None, context: Context
) -> list[Statistic | None]:
    """Return the statistics in order; totals need those that they add up."""
    given = entries(block)
    others = {
        entry.name: resolve_statistic(entry, defaults, context)
        for entry in given
        if not is_total(entry)
    }
    totals: dict[str, Statistic | None] = {}
    named: set[str] = set()
    for entry in filter(is_total, given):
        found = resolve_total(entry, defaults, context, others)
        if found is not None and found.total_of in named:
            context.add(
                "DPQL330",
                f"`{shown(found.total_of)}` has a total already",
                entry.key.span,
                "delete one of them",
            )
        if found is not None and found.total_of is not None:
            named.add(found.total_of)
        totals[entry.name] = found
    all_ = [(totals if is_total(entry) else others)[entry.name] for entry in given]
    return check_found(given, all_, context)


def _rows(node: Node | None, context: Context) -> Rows | None:
    for name, kind in (("exactly", RowsExactly), ("at_most", RowsAtMost)):
        found = value(node, name)
        count = whole(found)
        if found is None or count is None:
            continue
        context.rows = count
        if count < 1:
            context.add(
                "DPQL316",
                f"`{name}` is {count}, and a data set has at least one row",
                found.span,
                "write the public number, such as `1_000`",
            )
        if count > MOST_ROWS:
            context.add(
                "DPQL325",
                f"`{name}` is more rows than can be counted",
                found.span,
                f"declare at most {MOST_ROWS}",
            )
        rows: Rows = kind(count=count)
        return rows
    return None


def _privacy(node: Node | None, rows: Rows | None, context: Context) -> Privacy | None:
    unit_node = value(node, "unit")
    contributes = promised(node, context)
    if context.neighbours is Neighbours.REPLACE_ONE and isinstance(rows, RowsAtMost):
        found = value(node, "neighbours")
        assert found is not None
        context.add(
            "DPQL309",
            "`replace_one` needs a public number of rows",
            found.span,
            "declare `rows: {exactly: N}`, or write `neighbours: add_remove`",
        )
    epsilon, delta = _epsilon(node, context), _delta(node, context)
    unit = text(unit_node)
    if isinstance(unit_node, Scalar) and unit not in (None, "row"):
        use = "it cannot be the unit of privacy"
        context.typed(unit_node.text, unit_node.span, ("id",), use)
    if contributes is None or context.neighbours is None:
        return None
    if unit is None or epsilon is None or delta is None:
        return None
    return Privacy(
        unit=None if unit == "row" else unit,
        contributes=contributes,
        neighbours=context.neighbours,
        epsilon=epsilon,
        delta=delta,
    )


def _epsilon(node: Node | None, context: Context) -> Fraction | None:
    found = value(node, "epsilon")
    epsilon = number(found)
    if found is None or epsilon is None:
        return None
    if 0 < epsilon <= LARGEST_EPSILON:
        context.epsilon = epsilon
    else:
        context.add(
            "DPQL310",
            f"`epsilon` is {number_text(epsilon)}, and must be above 0 and at most "
            f"{LARGEST_EPSILON}",
            found.span,
            "write a total such as `epsilon: 1.0`; smaller is more private",
        )
    return epsilon


def _delta(node: Node | None, context: Context) -> Fraction | None:
    found = value(node, "delta")
    word = setting("delta", node)
    delta = exact(word) if word and is_number(word) else None
    if found is not None and delta is not None and not 0 <= delta < 1:
        context.add(
            "DPQL311",
            f"`delta` is {number_text(delta)}, and must be at least 0 and below 1",
            found.span,
            "write `delta: 0`, or a small probability such as `delta: 1e-9`",
        )
    context.delta = delta or Fraction(0)
    return delta
