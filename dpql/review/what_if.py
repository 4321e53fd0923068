"""What a spec would give with other settings, beside the plan as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpql.diagnostics import shown
from dpql.model.figures import amount_text, decimal, equal_to, rational, within_text
from dpql.model.key_text import from_text
from dpql.model.plan import Plan, Step
from dpql.model.promised_rows import condition_words
from dpql.model.spec import MechanismName
from dpql.planner import plan as make_plan
from dpql.review.alternatives import error_at
from dpql.review.names import whole
from dpql.review.render import marked
from dpql.statistics import STATISTICS

_ROWS = 1_000
_STAR = " *"
_DAGGER = " †"
_FOOTNOTE = "* for 1 000 rows; each value comes with its interval."

_HEADING = ("statistic", "mechanism", "ε", "within", "now")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfStep:
    """One statistic with the other settings."""

    name: str
    mechanism: str
    epsilon: Fraction | None
    rho: Fraction | None
    accuracy: Fraction | None
    unit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What other settings would give; it is not a plan and cannot be saved or run."""

    epsilon: Fraction
    spent: Fraction
    steps: tuple[WhatIfStep, ...]


def what_if(
    plan: Plan,
    *,
    epsilon: Fraction | None = None,
    alpha: Fraction | None = None,
    mechanism: MechanismName | None = None,
) -> WhatIf:
    """Return what the plan's spec would give with another total, alpha or mechanism.

    Raises:
        PlanFault: it cannot be planned so (4xx).
    """
    spec = plan.spec
    statistics = tuple(
        replace(
            each,
            alpha=alpha or each.alpha,
            mechanism=(
                each.mechanism
                if mechanism is None or _has_its_own(each.kind)
                else mechanism
            ),
        )
        for each in spec.statistics
    )
    privacy = replace(spec.privacy, epsilon=epsilon or spec.privacy.epsilon)
    other = make_plan(replace(spec, privacy=privacy, statistics=statistics))
    return WhatIf(
        epsilon=other.epsilon,
        spent=other.spent,
        steps=tuple(
            WhatIfStep(
                name=step.name,
                mechanism=step.mechanism,
                epsilon=step.epsilon,
                rho=step.rho,
                accuracy=step.accuracy,
                unit=step.accuracy_unit,
            )
            for step in other.steps
        ),
    )


def _has_its_own(kind: str) -> bool:
    """Tell whether a statistic has one mechanism alone, which is kept."""
    return STATISTICS[kind].chooses or STATISTICS[kind].finds


def render(
    plan: Plan, settings: dict[str, Any], form: str, *, source: str
) -> str | dict[str, Any]:
    """Return what other settings would give, as text, Markdown or a JSON document.

    Raises:
        PlanFault: it cannot be planned so (4xx).
    """
    other = what_if(plan, **settings)
    words = ", ".join(f"{name} = {value}" for name, value in settings.items())
    if form == "json":
        return _document(plan, other, settings)
    rows = [_HEADING, *_rows(plan, other, settings.get("alpha"))]
    starred = any(cell.endswith(_STAR) for row in rows for cell in row)
    notes = [_FOOTNOTE] * starred + [
        f"{_DAGGER.strip()} {whole(step.name)}: only {condition}."
        for step in plan.steps
        if (condition := condition_words(step)) is not None
    ]
    if form == "markdown":
        return _markdown(rows, words) + "".join(f"\n{marked(n)}\n" for n in notes)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "   ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    rule = "─" * max(map(len, lines))
    body = "\n".join(f" {line}" for line in (lines[0], rule, *lines[1:]))
    spends = f"ε {equal_to(other.spent)} instead of {rational(plan.spent)}"
    return (
        f"{shown(source)}   what if {words}   (not a plan; cannot be saved)\n\n"
        f"{body}\n\n spends     {spends}\n"
        + ("\n" + "".join(f" {note}\n" for note in notes) if notes else "")
    )


def _rows(plan: Plan, other: WhatIf, alpha: Fraction | None) -> list[tuple[str, ...]]:
    signed = any(one.epsilon is None for one in other.steps)
    return [
        (
            whole(outcome.name),
            outcome.mechanism,
            amount_text(outcome.epsilon, outcome.rho)
            if signed
            else rational(outcome.epsilon or Fraction(0)),
            _within(_at(plan, alpha), step, outcome),
            _within(plan, step, step),
        )
        for outcome, step in zip(other.steps, plan.steps, strict=True)
    ]


def _at(plan: Plan, alpha: Fraction | None) -> Plan:
    """Return the plan with another alpha in its spec, to compute errors with."""
    if alpha is None:
        return plan
    statistics = tuple(replace(each, alpha=alpha) for each in plan.spec.statistics)
    return replace(plan, spec=replace(plan.spec, statistics=statistics))


def _within(plan: Plan, step: Step, outcome: WhatIfStep | Step) -> str:
    if outcome.accuracy is not None:
        dagger = "" if condition_words(step) is None else _DAGGER
        return within_text(outcome.accuracy, step.accuracy_unit) + dagger
    amount = outcome.rho if outcome.epsilon is None else outcome.epsilon
    assert amount is not None, "noise spends one or the other"
    error = error_at(plan, step, outcome.mechanism, amount, rows=_ROWS)
    if error is None:
        return "known after the run"
    if step.names_only:
        return from_text(step, error)
    return f"{within_text(error, outcome.unit)}{_STAR}"


def _markdown(rows: list[tuple[str, ...]], words: str) -> str:
    heading, *body = [f"| {' | '.join(map(marked, row))} |" for row in rows]
    rule = "| :-- | :-- | --: | --: | --: |"
    return "\n".join([f"### What if {words}", "", heading, rule, *body]) + "\n"


def _document(plan: Plan, other: WhatIf, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "supposing": {name: str(value) for name, value in settings.items()},
        "epsilon": _both(other.epsilon),
        "spent": _both(other.spent),
        "statistics": [
            _entry(outcome, condition_words(step))
            for outcome, step in zip(other.steps, plan.steps, strict=True)
        ],
    }


def _entry(outcome: WhatIfStep, condition: str | None) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "mechanism": outcome.mechanism,
        "epsilon": None if outcome.epsilon is None else _both(outcome.epsilon),
        **({} if outcome.rho is None else {"rho": _both(outcome.rho)}),
        "accuracy": None if outcome.accuracy is None else _both(outcome.accuracy),
        "only": condition,
        "unit": outcome.unit,
    }


def _both(number: Fraction) -> dict[str, str]:
    return {"exact": str(number), "decimal": decimal(number, 6).replace(" ", "")}
