"""Hypothesis strategies for whole specs."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from dpql.diagnostics import is_hidden
from dpql.model.calendar import (
    DAY,
    FIRST_DAY,
    LARGEST_ZONE,
    LAST_DAY,
    SPAN,
    STEPS,
    date_text,
    time_text,
)
from dpql.model.characters import look, mixes_alphabets
from dpql.model.columns import OTHERS
from dpql.model.expression import (
    Bands,
    CalendarPart,
    Call,
    Compared,
    Constant,
    Expression,
    Function,
    Map,
    Pair,
    PartOf,
    Ranged,
    Reference,
)
from dpql.model.lattice import cell
from dpql.model.notation import RESERVED
from dpql.model.spec import (
    AccuracyTarget,
    And,
    Between,
    BooleanColumn,
    CategoryColumn,
    Column,
    Comparison,
    Condition,
    Contributes,
    Data,
    DateColumn,
    DerivedColumn,
    DropNulls,
    Epsilon,
    FillNulls,
    IdColumn,
    IsNull,
    MechanismName,
    Membership,
    Neighbours,
    Not,
    Nulls,
    NumberColumn,
    NumberType,
    Operator,
    Or,
    Privacy,
    PrivateColumn,
    Rho,
    RowsAtMost,
    RowsExactly,
    Share,
    Spec,
    Spend,
    Statistic,
    TimeColumn,
)
from dpql.statistics import STATISTICS

positive = st.one_of(
    st.integers(1, 10**9).map(Fraction),
    st.builds(Fraction, st.integers(1, 10**6), st.sampled_from([3, 7, 10, 1000, 8])),
    st.integers(1, 12).map(lambda decimals: Fraction(1, 10**decimals)),
)
probability = st.integers(1, 12).map(lambda decimals: Fraction(1, 10**decimals))
visible = st.characters(
    blacklist_categories=("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Zs"),
    blacklist_characters="`",
).filter(lambda character: not is_hidden(character))
words = st.text(visible, min_size=1, max_size=12).filter(
    lambda word: not mixes_alphabets(word)
)
texts = st.lists(words, min_size=1, max_size=4).map(" ".join)
keys = st.one_of(
    st.sampled_from(["north", "no", "010", "12:30", "1e5", "null", "a b", "~", "in"]),
    texts,
)
column_names = st.one_of(
    st.sampled_from(["age", "wage", *sorted(RESERVED - {"row"})]), texts
)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,20}", fullmatch=True)
ranks = st.fractions(0, 1, max_denominator=1 << 20).filter(lambda x: 0 < x < 1)


@st.composite
def number_columns(draw: st.DrawFn, name: str, *, drop: bool) -> NumberColumn:
    """Draw a number column."""
    kind = draw(st.sampled_from(NumberType))
    lower = Fraction(draw(st.integers(-(10**6), 10**6)))
    step = Fraction(1) if kind is NumberType.INTEGER else draw(positive)
    width = draw(st.integers(1, 10**6)) * step
    nulls = (
        DropNulls()
        if drop and draw(st.booleans())
        else FillNulls(value=lower + width * Fraction(draw(st.integers(0, 4)), 4))
    )
    return NumberColumn(
        name=name,
        type=kind,
        lower=lower,
        upper=lower + width,
        step=None if kind is NumberType.FLOAT else step,
        unit=draw(st.none() | texts.map(lambda text: text[:32].strip() or "x")),
        nulls=nulls,
    )


def _nulls(fills: st.SearchStrategy[int], *, drop: bool) -> st.SearchStrategy[Nulls]:
    filled: st.SearchStrategy[Nulls] = fills.map(lambda u: FillNulls(value=Fraction(u)))
    return filled | st.just(DropNulls()) if drop else filled


@st.composite
def other_columns(draw: st.DrawFn, name: str, *, drop: bool) -> Column:
    """Draw a column of truths, dates or times."""
    first = draw(st.integers(FIRST_DAY, LAST_DAY - 1))
    last = draw(st.integers(first + 1, LAST_DAY))
    match draw(st.sampled_from(["boolean", "date", "time"])):
        case "boolean":
            nulls = draw(_nulls(st.integers(0, 1), drop=drop))
            return BooleanColumn(name=name, nulls=nulls)
        case "date":
            nulls = draw(_nulls(st.integers(first, last), drop=drop))
            return DateColumn(name=name, first=first, last=last, nulls=nulls)
        case _:
            start, end = first * DAY + draw(st.integers(0, DAY - 1)), last * DAY
            nulls = draw(_nulls(st.sampled_from([start, end]), drop=drop))
            return TimeColumn(
                name=name,
                first=min(start, end - 1),
                last=end,
                step=draw(st.sampled_from(list(STEPS.values()))),
                zone=draw(st.integers(-LARGEST_ZONE, LARGEST_ZONE)),
                nulls=nulls,
            )


def expressions(column: Column) -> st.SearchStrategy[Expression]:
    """Return expressions of one column."""
    reference = Reference(column=column.name)
    match column:
        case NumberColumn(lower=lower, upper=upper):
            middle = (lower + upper) / 2
            return st.sampled_from(
                [
                    Call(function=Function.SUBTRACT, operands=(ZERO, reference)),
                    Call(function=Function.COALESCE, operands=(reference, ZERO)),
                    Bands(operand=reference, edges=(lower, upper)),
                    Compared(left=reference, operator=Operator.LESS, right=reference),
                    Comparison(
                        column=column.name, operator=Operator.LESS, value=middle
                    ),
                ]
            )
        case CategoryColumn(keys=keys):
            pairs = tuple(Pair(key=key, value=key) for key in keys)
            return st.builds(
                Map,
                operand=st.just(reference),
                pairs=st.just(pairs),
                otherwise=st.none() | st.sampled_from(keys),
                missing=st.none() | st.sampled_from(keys),
                digest=st.none(),
            )
        case DateColumn() | TimeColumn():
            parts = [one for one in CalendarPart if one in SPAN and one != "hour"]
            return st.builds(
                PartOf, part=st.sampled_from(parts), column=st.just(column.name)
            )
        case _:
            return st.sampled_from(
                [
                    Not(operand=reference),
                    Comparison(
                        column=column.name, operator=Operator.EQUAL, value="true"
                    ),
                ]
            )


ZERO = Constant(value=Fraction(0))


def conditions(columns: tuple[Column, ...]) -> st.SearchStrategy[Condition]:
    """Return conditions on the columns, none of which is an id."""
    leaves = st.sampled_from(columns).flatmap(_test)
    return st.recursive(leaves, _joined, max_leaves=8)


def _test(column: Column) -> st.SearchStrategy[Condition]:
    name = column.name
    null: st.SearchStrategy[Condition] = st.just(IsNull(column=name))
    if isinstance(column, CategoryColumn):
        key = st.sampled_from(column.keys)
        equalities = st.sampled_from([Operator.EQUAL, Operator.UNEQUAL])
        return null | st.one_of(
            st.builds(Comparison, column=st.just(name), operator=equalities, value=key),
            _membership(name, key),
        )
    if isinstance(column, BooleanColumn):
        return null | expressions(column)
    if isinstance(column, DateColumn | TimeColumn):
        write = date_text if isinstance(column, DateColumn) else time_text
        first, last = write(column.first), write(column.last)
        day = Reference(column=name)
        return null | st.one_of(
            st.builds(
                Comparison,
                column=st.just(name),
                operator=st.sampled_from(Operator),
                value=st.sampled_from([first, last]),
            ),
            _membership(name, st.sampled_from([first, last])),
            st.just(Ranged(operand=day, lower=first, upper=last)),
        )
    number = positive | positive.map(lambda value: -value) | st.just(Fraction(0))
    return null | st.one_of(
        st.builds(
            Comparison,
            column=st.just(name),
            operator=st.sampled_from(Operator),
            value=number,
        ),
        _membership(name, number),
        st.lists(number, min_size=2, max_size=2).map(
            lambda ends: Between(column=name, lower=min(ends), upper=max(ends))
        ),
    )


def _membership(name: str, values: st.SearchStrategy) -> st.SearchStrategy[Membership]:
    listed = st.lists(values, min_size=1, max_size=3, unique=True).map(tuple)
    return st.builds(Membership, column=st.just(name), values=listed)


def _joined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        inner.map(lambda operand: Not(operand=operand)),
        several.map(lambda operands: _flat(And, operands)),
        several.map(lambda operands: _flat(Or, operands)),
    )


def _flat(kind: type[And | Or], operands: list[Condition]) -> Condition:
    flat: list[Condition] = []
    for operand in operands:
        flat += operand.operands if isinstance(operand, kind) else [operand]
    return kind(operands=tuple(flat))


@st.composite
def contributions(draw: st.DrawFn) -> Contributes:
    """Draw what a unit may add, sometimes with a total."""
    rows, groups = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    totals = st.none() if groups == 1 else st.integers(rows, rows * groups - 1)
    return Contributes(rows=rows, groups=groups, total=draw(st.none() | totals))


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """Draw a spec that resolve could have made."""
    public = draw(st.booleans())
    found = draw(
        st.lists(
            column_names.map(str.strip).filter(bool),
            min_size=4,
            max_size=8,
            unique_by=look,
        )
    )
    unit, category, *others = found
    columns: list[Column] = [IdColumn(name=unit), draw(categories(category))]
    columns += [draw(number_columns(name, drop=not public)) for name in others]
    spare = draw(st.lists(column_names.map(str.strip).filter(bool), max_size=5))
    taken = set(map(look, found))
    derived: list[DerivedColumn] = []
    for name in spare:
        if look(name) in taken:
            continue
        taken.add(look(name))
        if draw(st.booleans()):
            columns.append(draw(other_columns(name, drop=not public)))
        elif draw(st.booleans()):
            columns.append(PrivateColumn(name=name, others=draw(st.booleans())))
        else:
            of = draw(st.sampled_from(_readable(columns)))
            if cell(of).shape.excess:
                continue
            derived.append(DerivedColumn(name=name, expression=draw(expressions(of))))
    by_row = draw(st.booleans())
    statistics = draw(
        st.lists(
            _statistics(
                tuple(columns), public=public and by_row, by_row=by_row, filtered=public
            ),
            min_size=1,
            max_size=4,
            unique_by=lambda statistic: statistic.name,
        )
    )
    private = {one.name for one in columns if isinstance(one, PrivateColumn)}
    grouped = {frozenset(one.by) & private for one in statistics} - {frozenset()}
    statistics = [
        draw(_searches(f"search.{number}", tuple(sorted(by)), by_row=by_row))
        for number, by in enumerate(sorted(grouped, key=sorted))
    ] + [one for one in statistics if not one.name.startswith("search.")]
    count = draw(st.integers(2, 10**12))
    delta = draw(st.sampled_from([Fraction(0), Fraction(1, 10**9)]))
    return Spec(
        release=draw(names),
        purpose=draw(texts),
        data=Data(
            source=draw(names),
            rows=RowsExactly(count=count) if public else RowsAtMost(count=count),
            columns=tuple(columns),
            derived=tuple(derived),
        ),
        privacy=Privacy(
            unit=None if by_row else unit,
            contributes=Contributes(rows=1, groups=1)
            if by_row
            else draw(contributions()),
            neighbours=Neighbours.REPLACE_ONE if public else Neighbours.ADD_REMOVE,
            epsilon=Fraction(1000),
            delta=Fraction(1, 10**6)
            if grouped or any(map(_needs_delta, statistics))
            else delta,
        ),
        statistics=tuple(statistics),
        signer=draw(st.none() | texts),
    )


def _spends(mechanism: MechanismName) -> st.SearchStrategy[Spend]:
    """Return the ways in which a statistic of that mechanism may be paid."""
    ways: list[st.SearchStrategy[Spend]] = [
        st.builds(Share, weight=positive),
        st.builds(AccuracyTarget, within=positive),
    ]
    if mechanism is not MechanismName.GAUSSIAN:
        ways.append(st.builds(Epsilon, value=probability))
    if mechanism in (MechanismName.GAUSSIAN, MechanismName.AUTO):
        ways.append(st.builds(Rho, value=positive))
    return st.one_of(ways)


def _needs_delta(statistic: Statistic) -> bool:
    """Tell whether a statistic has, or may have, noise that is not pure."""
    gaussian = statistic.mechanism is MechanismName.GAUSSIAN
    return gaussian or isinstance(statistic.spend, Rho)


@st.composite
def categories(draw: st.DrawFn, name: str) -> CategoryColumn:
    """Draw a column of declared keys, sometimes with one for everything else."""
    declared = tuple(draw(st.lists(keys, min_size=1, max_size=4, unique_by=look)))
    others = OTHERS not in map(look, declared) and draw(st.booleans())
    found = (*declared, OTHERS) if others else declared
    return CategoryColumn(name=name, keys=found, others=others)


def _readable(columns: list[Column] | tuple[Column, ...]) -> list[Column]:
    """Return the columns that expressions read."""
    return [one for one in columns if not isinstance(one, IdColumn | PrivateColumn)]


@st.composite
def _searches(
    draw: st.DrawFn, name: str, by: tuple[str, ...], *, by_row: bool
) -> Statistic:
    """Draw a statistic that finds the keys of private columns."""
    kind = draw(st.sampled_from(["keys", "count" if by_row else "units"]))
    finding = [one for one in MechanismName if one is not MechanismName.SNAPPING]
    mechanism = draw(st.sampled_from(finding))
    return Statistic(
        name=name,
        kind=kind,
        columns=(),
        where=None,
        by=by,
        shown_from=draw(st.none() | st.integers(1, 2)),
        contributes=None if by_row else draw(st.none() | contributions()),
        mechanism=mechanism,
        alpha=draw(probability),
        gamma=draw(probability),
        spend=draw(_spends(mechanism)),
    )


@st.composite
def _statistics(
    draw: st.DrawFn,
    columns: tuple[Column, ...],
    *,
    public: bool,
    by_row: bool,
    filtered: bool,
) -> Statistic:
    unit, category, *rest = columns
    others = [one for one in rest if isinstance(one, NumberColumn)]
    kind = draw(st.sampled_from([x for x in STATISTICS if not STATISTICS[x].finds]))
    readable = tuple(_readable(columns))
    where = draw(st.none() | conditions(readable))
    private = [one for one in rest if isinstance(one, PrivateColumn)]
    groups = st.lists(st.sampled_from([category, *private]), unique=True, max_size=3)
    by = tuple(one.name for one in draw(groups))
    known = public and where is None and not by
    inputs: tuple[Column, ...] = (draw(st.sampled_from(others)),)
    if kind == "units" and (by_row or (filtered and where is None and not by)):
        kind = "count"
    condition = None
    if kind == "proportion":
        condition = draw(conditions(readable))
    if kind in ("count", "units", "proportion"):
        inputs = ()
    elif kind == "distinct":
        exact = [one for one in others if one.type is not NumberType.FLOAT]  # type: ignore[union-attr]
        inputs = (draw(st.sampled_from([category, *private, *exact])),)
        inputs = (unit,) if by_row and draw(st.booleans()) else inputs
    elif kind in ("covariance", "ratio"):
        inputs = tuple(others[:2])
    elif kind == "histogram" and draw(st.booleans()):
        inputs = (category,)
    edges: tuple[Fraction, ...] = ()
    if kind == "histogram" and isinstance(inputs[0], NumberColumn):
        edges = (inputs[0].lower, inputs[0].upper)
    at: tuple[Fraction, ...] = ()
    if kind == "quantile":
        at = tuple(sorted(draw(st.sets(ranks, min_size=1, max_size=15))))
    promised = kind in ("mean", "variance", "proportion") and not known
    mechanism = MechanismName.AUTO
    if not STATISTICS[kind].chooses:
        mechanism = draw(st.sampled_from(MechanismName))
    return Statistic(
        name=draw(names),
        kind=kind,
        columns=tuple(column.name for column in inputs),
        edges=edges,
        at=at,
        condition=condition,
        where=where,
        by=by,
        at_least=draw(st.none() | st.just(2)) if promised else None,
        contributes=None if by_row else draw(st.none() | contributions()),
        mechanism=mechanism,
        alpha=draw(probability),
        gamma=draw(probability | st.just(Fraction(1))),
        spend=draw(_spends(mechanism)),
    )
