"""The verbs that see no data: load, plan, read, diff."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpql.errors import PlanFault

if TYPE_CHECKING:
    from dpql.model.plan import Plan
    from dpql.model.spec import Spec
    from dpql.review.diff import Difference


def load(spec: str | Path | Mapping[str, Any]) -> Spec:
    """Return the meaning of a spec: of a file, a text or a mapping.

    >>> spec = load("specs/district_wages.yaml")
    >>> spec
    <spec of district_wages_2025, 3 statistics>
    >>> [statistic.name for statistic in spec.statistics]
    ['headcount', 'wage_mean', 'ages']

    Both forms of a spec mean the same, and so do file, text and mapping:

    >>> spec == load("specs/district_wages.dpql")
    True
    >>> spec == load(Path("specs/district_wages.yaml").read_text(encoding="utf-8"))
    True

    Args:
        spec: the path of a ``.yaml`` or ``.dpql`` file; a text, which is a str with a
            line break; or a mapping like the YAML, with numbers as int, str, Fraction
            or Decimal. A float is refused: it is rarely the number that was typed.

    Raises:
        dpql.errors.SpecError: with every fault and its position.
    """
    from dpql import language

    if isinstance(spec, Mapping):
        return language.load_mapping(spec)
    if isinstance(spec, str) and "\n" in spec:
        return language.load_text(spec, form=language.form_of_text(spec))
    return language.load(spec)


def plan(spec: Spec | str | Path | Mapping[str, Any]) -> Plan:
    """Return what will be done, decided without data.

    ``print(plan)`` is the table that a reviewer reads; ``plan.digest`` names the plan.

    >>> decided = plan("specs/smallest_mean.yaml")
    >>> decided.epsilon, decided.loss <= decided.spent <= decided.epsilon
    (Fraction(1, 1), True)
    >>> print(decided)  # doctest: +ELLIPSIS
    plan ...   (no data was read)
    ...

    Args:
        spec: a spec, or what `load` takes.

    Raises:
        dpql.errors.SpecError: the spec has faults.
        dpql.errors.PlanFault: the spec cannot be planned as it stands (4xx).
    """
    from dpql.planner import plan as make_plan

    loaded = load(spec) if isinstance(spec, str | Path | Mapping) else spec
    try:
        return make_plan(loaded)
    except PlanFault as fault:
        raise _in_its_form(fault) from None


def _in_its_form(fault: PlanFault) -> PlanFault:
    """Return a fault with the hints of a .dpql file in its form."""
    from dpql.model.text_hints import in_text_form

    return PlanFault(
        replace(each, hint=in_text_form(each.hint))
        if each.hint and each.span and each.span.source.endswith(".dpql")
        else each
        for each in fault.diagnostics
    )


def read(path: str | Path) -> Plan:
    """Return the plan in a file, after auditing all of it.

    >>> read("specs/smallest_mean.plan.json") == plan("specs/smallest_mean.yaml")
    True

    Args:
        path: a file that ``dpql plan --out`` wrote.

    Raises:
        dpql.errors.PlanFault: the file is no plan, disagrees with itself, or loses
            more than its budget (DPQL400 to DPQL403).
    """
    from dpql import durable
    from dpql.diagnostics import shown
    from dpql.model.plan import LIMIT
    from dpql.planner import read as read_plan

    try:
        content, _ = durable.read(Path(path), limit=LIMIT)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise PlanFault.of(
            "DPQL400", f"cannot read `{shown(str(path))}`: {reason}"
        ) from error
    return read_plan(content)


def diff(old: Plan, new: Plan) -> Difference:
    """Return what changed between two plans, judged by rule.

    >>> same = plan("specs/smallest_mean.yaml")
    >>> diff(same, plan("specs/smallest_mean.dpql")).verdict.value
    'SAME'

    Args:
        old: the plan before the change.
        new: the plan after it.
    """
    from dpql.review.diff import diff as judge

    return judge(old, new)
