"""A plan in sentences for a report: what is computed, what is promised to whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from dpql.exact import exp_up, round_up_to_digits
from dpql.model.plan import (
    Affine,
    CentredMean,
    CentredVariance,
    Plan,
    Step,
)
from dpql.model.release_text import plain
from dpql.model.spec import (
    And,
    Between,
    CategoryColumn,
    Comparison,
    Condition,
    DropNulls,
    IsNull,
    Literal,
    Membership,
    Neighbours,
    Not,
    NumberColumn,
    Or,
    RowsExactly,
    StatisticKind,
)

VARIANT = "pure differential privacy"
TRUST_MODEL = "central: the owner sees the data and is trusted to run this plan on them"


def guarantee_words(plan: Plan) -> str:
    """Return the promise as one sentence."""
    privacy = plan.spec.privacy
    factor = plain(round_up_to_digits(exp_up(plan.spent), 3))
    each, groups = privacy.contributes.rows, privacy.contributes.groups
    if privacy.unit is None:
        who = "one row"
    else:
        who = (
            f"one {privacy.unit} (at most {_many(each, 'row')} "
            f"in each of at most {_many(groups, 'group')})"
        )
    if privacy.neighbours is Neighbours.ADD_REMOVE:
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


def definition(step: Step) -> str:
    """Return what a statistic computes, as one phrase."""
    match step.statistic:
        case StatisticKind.COUNT:
            head = "number of rows"
        case StatisticKind.HISTOGRAM:
            head = f"number of rows by {step.columns[0]}"
        case StatisticKind.COVARIANCE:
            head = f"sample covariance of {step.columns[0]} and {step.columns[1]}"
        case StatisticKind.VARIANCE:
            head = f"sample variance of {step.columns[0]}"
        case StatisticKind.SUM | StatisticKind.MEAN:
            head = f"{step.statistic.value} of {step.columns[0]}"
        case _:
            assert_never(step.statistic)
    by = f", by {' and '.join(step.by)}" if step.by else ""
    where = f", where {condition_text(step.where)}" if step.where else ""
    return f"{head}{where}{by}"


def before_noise(plan: Plan, step: Step) -> str:
    """Return which number the noise is added to, and so what accuracy is about.

    Rows and values that are left out or moved before the noise are in no interval.
    """
    return "; ".join(_kept(plan, step)) or "all rows"


def _kept(plan: Plan, step: Step) -> Iterator[str]:
    bound, unit = step.bound, plan.spec.privacy.unit
    if bound is not None:
        rows = f"at most {_many(bound.rows, 'row')} of a {unit}"
        if step.cells > 1:
            rows += f" in each of at most {_many(bound.cells, 'group')}"
        yield rows
    used = [plan.spec.data.column(name) for name in (*step.columns, *step.by)]
    if any(isinstance(column, CategoryColumn) for column in used):
        yield "declared keys only"
    if step.edges:
        yield "only values inside the bins"
    numbers = [column for column in used if isinstance(column, NumberColumn)]
    if any(isinstance(column.nulls, DropNulls) for column in numbers):
        yield "only rows that hold a number"
    if numbers:
        yield "values clamped into their bounds"


def post_processing(step: Step) -> str:
    """Return how noisy numbers become the released value."""
    low, high = plain(step.lower), plain(step.upper)
    match step.readout:
        case Affine(offset=offset, scale=scale):
            plainly = offset == 0 and scale == 1
            rule = "none" if plainly else "shifted and scaled to its unit"
        case CentredMean():
            rule = (
                "noisy sum about the middle, over the noisy count taken as at least 1"
            )
        case CentredVariance():
            rule = "from noisy squares, sum and count, the count taken as at least 1"
        case _:
            assert_never(step.readout)
    return f"{rule}; clamped into the public range {low} to {high}"


def condition_text(condition: Condition) -> str:
    """Return a condition as a spec would write it."""
    match condition:
        case Comparison(column=column, operator=operator, value=value):
            return f"{column} {operator.value} {_literal(value)}"
        case Membership(column=column, values=values):
            return f"{column} in [{', '.join(_literal(value) for value in values)}]"
        case Between(column=column, lower=lower, upper=upper):
            return f"{column} between {plain(lower)} and {plain(upper)}"
        case IsNull(column=column):
            return f"{column} is null"
        case Not(operand=operand):
            return f"not ({condition_text(operand)})"
        case And(operands=operands) | Or(operands=operands):
            word = " and " if isinstance(condition, And) else " or "
            return word.join(_operand(operand) for operand in operands)
        case _:
            assert_never(condition)


def _operand(condition: Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, And | Or) else text


def _literal(value: Literal) -> str:
    return f'"{value}"' if isinstance(value, str) else plain(value)


def _declared(plan: Plan) -> Iterator[str]:
    data = plan.spec.data
    if isinstance(data.rows, RowsExactly):
        yield f"the number of rows, declared as exactly {data.rows.count}"
    else:
        yield f"that there are at most {data.rows.count} rows, declared"
    for column in data.columns:
        match column:
            case CategoryColumn(name=name):
                yield f"the keys of {name}, declared"
            case NumberColumn(name=name, lower=lower, upper=upper):
                yield f"the bounds {plain(lower)} to {plain(upper)} of {name}, declared"
            case _:
                pass
    if any(step.at_least for step in plan.steps):
        yield "that every group has at least so many rows as declared"


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
