"""A plan in sentences for a report: what is computed, what is promised to whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from dpql.exact import exp_up, round_up_to_digits
from dpql.model.calendar import date_text, time_text
from dpql.model.columns import OTHERS
from dpql.model.condition_text import condition_text
from dpql.model.expression import columns_in
from dpql.model.format1 import filled
from dpql.model.key_text import finder, has_others, most_text, shown_text
from dpql.model.lattice_nodes import Kind
from dpql.model.notation import name_text, number_text, plain, unit_text
from dpql.model.plan import (
    Affine,
    CentredMean,
    CentredVariance,
    Chosen,
    PartsOfOne,
    Plan,
    Search,
    Step,
)
from dpql.model.promised_rows import condition_words
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Data,
    DateColumn,
    DropNulls,
    FillNulls,
    IdColumn,
    Neighbours,
    NumberColumn,
    PrivateColumn,
    RowsExactly,
    TimeColumn,
)
from dpql.model.step_text import bound_text, kept_by
from dpql.reports.shown_keys import least_shown

PURE = "pure differential privacy"
APPROXIMATE = "approximate differential privacy"
TRUST_MODEL = "central: the owner sees the data and is trusted to run this plan on them"

_LONGEST = 40
"""Characters of the longest number that a public range shows exactly."""

_LONGEST_EXPRESSION = 300
"""Characters of a derived column that are shown; the plan has all."""


def variant(plan: Plan) -> str:
    """Return which kind of differential privacy a release has."""
    return APPROXIMATE if plan.delta_spent else PURE


def guarantee_words(plan: Plan) -> str:
    """Return the promise as one sentence."""
    privacy = plan.spec.privacy
    factor = plain(round_up_to_digits(exp_up(plan.spent), 3))
    each, groups = privacy.contributes.rows, privacy.contributes.groups
    who = f"one {unit_text(privacy.unit)}"
    own = any(statistic.contributes for statistic in plan.spec.statistics)
    if privacy.unit is not None and not own:
        total = privacy.contributes.total
        in_all = "" if total is None else f", {total} in all"
        who += (
            f" (at most {_many(each, 'row')} in each of at most "
            f"{_many(groups, 'group')}{in_all})"
        )
    if plan.version <= _LAST_LIKELIER:
        return _likelier(privacy.neighbours, who, factor)
    if privacy.neighbours is Neighbours.ADD_REMOVE:
        change = f"Whether or not {who} is in the data"
    else:
        change = f"Replacing {who} by any other"
    more = ""
    if plan.delta_spent:
        delta = plain(round_up_to_digits(plan.delta_spent, 3))
        more = f", and by at most {delta} beyond that"
    return (
        f"{change} changes the probability of any result by a factor of at most "
        f"{factor}{more}, whatever else is known."
    )


_LAST_LIKELIER = 3
"""The last format of plans whose reports say what is likelier with a unit."""


def _likelier(neighbours: Neighbours, who: str, factor: str) -> str:
    """Return the promise as reports of formats 1 to 3 say it."""
    if neighbours is Neighbours.ADD_REMOVE:
        change = f"with {who} in the data than without"
    else:
        change = f"with {who} as it is than with any other in its place"
    return (
        f"Whatever else is known, any outcome of this release is at most {factor} "
        f"times likelier {change}."
    )


def unprotected(plan: Plan) -> tuple[str, ...]:
    """Return what is public without any noise, because the spec declares it."""
    return tuple(_declared(plan))


def before_noise(plan: Plan, step: Step) -> str:
    """Return which number the noise is added to; accuracy is relative to it.

    No interval covers the rows and values that are dropped or moved before the noise.
    """
    words = [*_used(plan, step), *_keys_shown(plan, step), *_conditions(step)]
    return "; ".join(words) or "all rows"


def _keys_shown(plan: Plan, step: Step) -> Iterator[str]:
    """Yield which keys a statistic has values of, where they are found."""
    found = finder(plan, step)
    if found is None or found.search is None:
        return
    if found is not step:
        others = has_others(plan, found)
        yield (
            f"keys that {name_text(found.name)} shows"
            + f", and {OTHERS} for all else" * others
        )
        return
    if not step.names_only:
        # Of keys alone it is what is promised.
        yield shown_text(plan, found)
    yield most_text(found.search)


def _used(plan: Plan, step: Step) -> Iterator[str]:
    unit = plan.spec.privacy.unit
    step = kept_by(plan, step)
    if step.bound is not None and unit is not None:
        others = "count at their fill" if step.name in filled(plan) else "are dropped"
        yield f"{bound_text(step, unit)}, the others {others}"
    names = tuple(dict.fromkeys((*step.columns, *step.by)))
    yield from _moved(plan.spec.data, names)
    asked = columns_in(step.where) | columns_in(step.condition)
    yield from _derived(plan.spec.data, names, asked)
    if step.edges:
        yield "only values inside the bins"


def _moved(data: Data, names: Sequence[str]) -> Iterator[str]:
    """Yield what happens to cells before anything is counted."""
    derived = data.lattice.derived
    used = [data.column(name) for name in names if name not in derived]
    public = [column for column in used if isinstance(column, CategoryColumn)]
    if any(not category.others for category in public):
        yield "declared keys only"
    for category in public:
        if category.others:
            name = name_text(category.name)
            yield f"a {name} that is no declared key counts as {OTHERS}"
    named = CategoryColumn | PrivateColumn | IdColumn
    counted = [column for column in used if not isinstance(column, named)]
    if any(isinstance(column.nulls, DropNulls) for column in counted):
        numbers = all(isinstance(column, NumberColumn) for column in counted)
        yield f"only rows that hold a {'number' if numbers else 'value'}"
    for column in counted:
        if isinstance(column.nulls, FillNulls):
            fill = _cell_text(column, column.nulls.value)
            yield f"a missing {name_text(column.name)} counts as {fill}"
    if any(not isinstance(column, BooleanColumn) for column in counted):
        yield "values clamped into their bounds"
    for column in counted:
        step = getattr(column, "step", None)
        if step is not None and step != 1:
            how = "counted in" if isinstance(column, TimeColumn) else "rounded to"
            width = number_text(Fraction(step))
            unit = " seconds" if isinstance(column, TimeColumn) else ""
            yield f"{name_text(column.name)} {how} whole steps of {width}{unit}"


def _derived(data: Data, names: Sequence[str], asked: set[str]) -> Iterator[str]:
    """Yield what the derived columns are that a statistic uses."""
    needed = data.needed({*names, *asked})
    for column in data.derived:
        if column.name not in needed:
            continue
        shape = data.lattice.derived[column.name].shape
        text = condition_text(column.expression)
        if len(text) > _LONGEST_EXPRESSION:
            text = f"{text[:_LONGEST_EXPRESSION]} ..."
        how = ", of cells clamped and in whole steps"
        name = name_text(column.name)
        yield f"{name} is {text}" + how * (shape.kind is Kind.NUMBER)
        if column.name in names and shape.nullable:
            yield f"only rows where {name} is not null"


def _cell_text(column: Column, value: Fraction) -> str:
    """Return a value of a column as its spec writes it."""
    match column:
        case BooleanColumn():
            return "true" if value else "false"
        case DateColumn():
            return date_text(int(value))
        case TimeColumn():
            return time_text(int(value))
        case _:
            return number_text(value)


def _conditions(step: Step) -> Iterator[str]:
    """Yield the conditions of the stated accuracy."""
    if isinstance(step.readout, CentredMean | CentredVariance | PartsOfOne):
        yield "the value of a group without rows is noise alone"
    if isinstance(step.readout, Chosen):
        yield "the value of a group with few rows is arbitrary"
    condition = condition_words(step)
    if condition is not None:
        yield f"the stated ± holds {condition}"


def post_processing(step: Step) -> str:
    """Return how noisy numbers become the released value."""
    match step.readout:
        case Affine(offset=offset, scale=scale):
            unchanged = offset == 0 and scale == 1
            rule = "none" if unchanged else "shifted and scaled to its unit"
        case CentredMean():
            rule = (
                "noisy sum about the middle, over the noisy count taken as at least 1"
            )
        case CentredVariance():
            rule = "from noisy squares, sum and count, the count taken as at least 1"
        case PartsOfOne(what=what):
            rule = f"{what.value} read from noisy parts, to which a row adds one in all"
        case Chosen(candidates=candidates):
            order = ", sorted within each group" if len(step.picks) > 1 else ""
            rule = f"one of {candidates} values, chosen by rank{order}"
        case _:
            assert_never(step.readout)
    if step.search is not None:
        return _search_rule(step, step.search)
    ends = f"{_end(step.lower)} to {_end(step.upper)}"
    whole = step.total_of or step.total
    if whole is not None:
        moved = f"{rule}; moved" if rule != "none" else "moved"
        with_ = f"the groups of {name_text(whole)}"
        if step.total is not None:
            with_ = f"its groups and {name_text(whole)}"
        return (
            f"{moved} so that {with_} add up, by equal shares of what they differ by; "
            f"not clamped, the interval is cut to {ends}"
        )
    return f"{rule}; clamped into the public range {ends}"


def _search_rule(step: Step, search: Search) -> str:
    """Return how it is decided which keys are shown, and what is shown of them."""
    listed = "keys in their order"
    if step.names_only:
        return f"none; {listed}, no number with them"
    least = least_shown(search)
    return (
        f"counts below {least} are not shown, nor are their keys; {listed}; clamped "
        f"into the public range {_end(step.lower)} to {_end(step.upper)}"
    )


def _end(x: Fraction) -> str:
    text = number_text(x)
    return text if len(text) <= _LONGEST else f"about {plain(x)}"


def _declared(plan: Plan) -> Iterator[str]:
    data = plan.spec.data
    if isinstance(data.rows, RowsExactly):
        yield f"the number of rows, declared as exactly {data.rows.count}"
    else:
        yield f"that there are at most {data.rows.count} rows, declared"
    for column in data.columns:
        name = name_text(column.name)
        match column:
            case CategoryColumn():
                yield f"the keys of {name}, declared"
            case NumberColumn(lower=lower, upper=upper):
                ends = f"{number_text(lower)} to {number_text(upper)}"
                yield f"the bounds {ends} of {name}, declared"
            case (
                DateColumn(first=first, last=last) | TimeColumn(first=first, last=last)
            ):
                ends = " to ".join(
                    _cell_text(column, Fraction(end)) for end in (first, last)
                )
                yield f"the bounds {ends} of {name}, declared"
            case _:
                pass
    for step in plan.steps:
        if step.edges:
            yield f"the bins of {step.name}, declared"
    for step in plan.steps:
        if step.at_least is not None:
            rows = _many(step.at_least, "row")
            yield (
                f"that every group of {step.name} has at least {rows}, declared and "
                "not checked"
            )


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
