"""A plan in words and numbers, for the person who must approve it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpql.mechanisms import IMPURE
from dpql.model.expression import columns_in
from dpql.model.figures import (
    decimal,
    equal_to,
    percent,
    plural,
    rational,
    times,
    within_text,
)
from dpql.model.key_text import from_text
from dpql.model.notation import unit_text
from dpql.model.plan import Plan, Step
from dpql.model.promised_rows import condition_words
from dpql.model.spec import Neighbours
from dpql.model.step_text import bounds_text, excess_text, kept_by
from dpql.planner.bind import statistic_of
from dpql.planner.mechanism_choice import hiding
from dpql.review.alternatives import (
    alone,
    amount_for,
    error_at,
    finer_grid,
    round_target,
)
from dpql.review.cautions import cautions, losses
from dpql.review.derived import DerivedLine, derived_lines
from dpql.review.found_keys import (
    KeysLine,
    delta_text,
    keys_lines,
)
from dpql.review.made_of import made_of
from dpql.review.names import column_name, whole

_NOTED = 50
"""Plans with more steps get no notes on alternatives: nobody would read them."""

SAMPLES = (1_000, 100_000)
"""Counts at which the error of a ratio is shown when no count is promised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One statistic in the table.

    ``cost`` is what it takes of what the statistics share: an epsilon, or a rho.
    ``condition`` is what the accuracy depends on, None where it always holds. With
    ``per_key`` the cells are those of each key that is found.
    """

    step: Step
    name: str
    mechanism: str
    cells: int
    epsilon: Fraction | None
    rho: Fraction | None
    cost: Fraction
    share: Fraction
    within: str
    condition: str | None
    per_key: bool
    accuracy: Fraction | None
    accuracy_all: Fraction | None
    alpha: Fraction
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a reviewer reads; `dpql.review.render` turns it into text."""

    digest: str
    release: str
    purpose: str
    epsilon: Fraction
    delta: Fraction
    spent: Fraction
    rho: Fraction | None
    in_rho: bool
    lines: tuple[Line, ...]
    facts: tuple[tuple[str, str], ...]
    derived: tuple[DerivedLine, ...]
    keys: tuple[KeysLine, ...]
    notes: tuple[str, ...]


def explain(plan: Plan) -> Explanation:
    """Return the plan in words: costs, promises, and what else is possible."""
    notes = [*cautions(plan), *losses(plan)]
    notes += [note for step in plan.steps for note in made_of(plan, step)]
    if len(plan.steps) <= _NOTED:
        notes += [note for step in plan.steps for note in _alternatives(plan, step)]
    if plan.spent < plan.epsilon:
        left = rational(plan.epsilon - plan.spent)
        notes.append(f"ε {left} of the total stays unspent: no statistic asks for it.")
    return Explanation(
        digest=plan.digest,
        release=plan.spec.release,
        purpose=plan.spec.purpose,
        epsilon=plan.epsilon,
        delta=plan.delta,
        spent=plan.spent,
        rho=plan.rho,
        in_rho=plan.in_rho,
        lines=tuple(_line(plan, step) for step in plan.steps),
        facts=tuple(_facts(plan)),
        derived=derived_lines(plan.spec.data),
        keys=keys_lines(plan),
        notes=tuple(notes),
    )


def _facts(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "protects", _protects(plan)
    yield "spends", _spends(plan)
    if plan.in_rho:
        assert plan.rho is not None, "the steps share it"
        yield "accounts", f"ρ {equal_to(plan.rho)}: {plan.composition}"
    delta = delta_text(plan)
    if delta is not None:
        yield "chance", delta
    epsilon = alone(plan)
    if epsilon is not None:
        yield "exactly", f"ε ≈ {decimal(epsilon, 4, up=True)} at this δ, as it is alone"
    counts = _counts(plan)
    if counts:
        yield "counts", counts
    yield "reads", ", ".join(map(column_name, reads(plan)))
    if plan.spec.filled_in:
        yield "filled in", ", ".join(plan.spec.filled_in)


def _counts(plan: Plan) -> str:
    """Return which rows of a unit count; no interval shows this error."""
    bounds = bounds_text(plan)
    if not bounds:
        return ""
    text = f"{whole('; '.join(bounds))}: {excess_text(plan)}"
    if plan.version > 1 and plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE:
        # The declared number is that of all rows, not of those that are kept.
        text += ", and how many are kept is private"
    return text


def reads(plan: Plan) -> tuple[str, ...]:
    """Return the columns that a run reads, in the order of the spec."""
    used = used_in(plan)
    return tuple(c.name for c in plan.spec.data.columns if c.name in used)


def used_in(plan: Plan) -> frozenset[str]:
    """Return the columns that a run uses, declared and derived."""
    used: set[str] = set()
    for each in plan.steps:
        step = kept_by(plan, each)
        used |= {*step.columns, *step.by, *asked_of(step)}
    if plan.spec.privacy.unit is not None:
        used.add(plan.spec.privacy.unit)
    return plan.spec.data.needed(used)


def asked_of(step: Step) -> set[str]:
    """Return the columns that the conditions of a step read."""
    return columns_in(step.condition) | columns_in(step.where)


def guarantee(plan: Plan, epsilon: Fraction) -> str:
    """Return what spending an epsilon means for one unit, as a clause."""
    change = {
        Neighbours.ADD_REMOVE: f"whether or not one {_unit(plan)} is in the data",
        Neighbours.REPLACE_ONE: f"replacing one {_unit(plan)} by any other",
    }[plan.spec.privacy.neighbours]
    delta = plan.delta_spent
    more = f", and by {decimal(delta, 3, up=True)} beyond that" if delta else ""
    return (
        f"{change} changes the probability of any result by a factor of at most "
        f"{times(epsilon)}{more}"
    )


def title(step: Step) -> str:
    """Return the step's name with its groups."""
    groups = f" by {', '.join(map(column_name, step.by))}" if step.by else ""
    return whole(step.name) + groups


def promise(step: Step, significant: int = 5) -> str:
    """Return the stated accuracy and the condition it depends on."""
    condition = condition_words(step)
    return within(step, significant) + (f" {condition}" if condition else "")


def within(step: Step, significant: int = 5) -> str:
    """Return the stated accuracy alone."""
    if step.search is not None and step.accuracy is None:
        return from_text(step, step.search.usual)
    if step.accuracy is None:
        return "known after the run"
    return within_text(step.accuracy, step.accuracy_unit, significant)


def _line(plan: Plan, step: Step) -> Line:
    return Line(
        step=step,
        name=title(step),
        mechanism=step.mechanism,
        cells=step.cells,
        epsilon=step.epsilon,
        rho=step.rho,
        cost=plan.cost(step),
        share=plan.cost(step) / plan.shared,
        within=within(step),
        condition=condition_words(step),
        per_key=step.per_key,
        accuracy=step.accuracy,
        accuracy_all=step.accuracy_all,
        alpha=step.alpha,
        unit=step.accuracy_unit,
    )


def _unit(plan: Plan) -> str:
    return whole(unit_text(plan.spec.privacy.unit))


def _protects(plan: Plan) -> str:
    privacy = plan.spec.privacy
    how = {
        Neighbours.ADD_REMOVE: "added or removed",
        Neighbours.REPLACE_ONE: "replaced by any other",
    }[privacy.neighbours]
    if privacy.unit is None:
        return f"one row, {how}"
    if any(statistic.contributes for statistic in plan.spec.statistics):
        # There is no one bound; that of each statistic stands under `counts`.
        return f"one {_unit(plan)}, {how}"
    rows = plural(privacy.contributes.rows, "row")
    groups = plural(privacy.contributes.groups, "group")
    in_all = privacy.contributes.total
    total = "" if in_all is None else f", {in_all} in all"
    return f"one {_unit(plan)} (at most {rows} in each of {groups}{total}), {how}"


def _spends(plan: Plan) -> str:
    exact = str(plan.spent) == decimal(plan.spent, 6)
    amount = equal_to(plan.spent)
    if not exact and not amount.startswith("≈"):
        amount += f" ({decimal(plan.spent, 6)})"
    if plan.delta_spent:
        delta = decimal(plan.delta_spent, 3, up=True)
        return f"ε {amount}, δ = {delta}: {guarantee(plan, plan.spent)}"
    return f"ε {amount}, pure DP: {guarantee(plan, plan.spent)}"


def _alternatives(plan: Plan, step: Step) -> list[str]:
    notes: list[str] = []
    name, unit = whole(step.name), step.accuracy_unit
    if step.total_of is not None or step.total is not None:
        # What another mechanism or epsilon would give is not theirs alone.
        return notes
    unsaid = step.accuracy is None and not step.names_only
    if unsaid:
        samples = " and ".join(
            f"{within_text(error, unit)} over {plural(rows, 'row')}"
            for rows in SAMPLES
            if rows <= plan.spec.data.rows.count
            and (error := error_at(plan, step, step.mechanism, step.amount, rows=rows))
        )
        if samples:
            notes.append(f"{name}: {samples}; each value comes with its interval.")
    condition = condition_words(step)
    given = f", {condition}" if condition else ""
    most = min(SAMPLES[0], plan.spec.data.rows.count)
    over = f" over {plural(most, 'row')}" if unsaid else ""
    rows = most if unsaid else step.at_least
    sign = "ρ" if plan.in_rho else "ε"
    for other in hiding(plan.spec, statistic_of(plan, step)):
        amount = amount_for(plan, step, other)
        if other == step.mechanism or amount is None:
            continue
        error = error_at(plan, step, other, amount, rows=rows)
        same = "share" if not plan.in_rho and other in IMPURE else sign
        if error is not None:
            found = (
                f"show keys{from_text(step, error).removeprefix('shown')}"
                if step.names_only
                else f"give {within_text(error, unit)}{over}"
            )
            notes.append(f"{name}: {other} would {found} at the same {same}{given}.")
    finer = finer_grid(plan, step)
    if finer is not None:
        notes.append(
            f"{name}: its ε is just at a power of two; a millionth more would halve "
            f"the grid and give {within_text(finer, unit)}{given}."
        )
    target = round_target(plan, step)
    if target is not None:
        notes.append(
            f"To get within {within_text(target.within, unit)}, {name} needs "
            f"{sign} ≈ {decimal(target.amount, 3, up=True)} "
            f"(total {decimal(target.total, 3, up=True)}){given}."
        )
    return notes


def confidence(lines: tuple[Line, ...]) -> str | None:
    """Return the probability that all lines share, or None when they differ."""
    levels = {line.alpha for line in lines}
    return percent(1 - levels.pop()) if len(levels) == 1 else None
