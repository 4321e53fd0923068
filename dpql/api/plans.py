"""The verbs that see no data: load, plan, read, diff."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpql.model.plan import Plan
    from dpql.model.spec import Spec
    from dpql.review.diff import Difference


def load(path: str | Path) -> Spec:
    """Return the meaning of a spec file, ``.yaml`` or ``.dpql``.

    >>> spec = load("specs/district_wages.yaml")
    >>> spec.release, [statistic.name for statistic in spec.statistics]
    ('district_wages_2025', ['headcount', 'wage_mean', 'ages'])

    Both forms of a spec mean the same:

    >>> spec == load("specs/district_wages.dpql")
    True

    Args:
        path: the file; its suffix tells the form.

    Raises:
        dpql.errors.SpecError: with every fault of the file and its position.
    """
    from dpql.language import load as load_spec

    return load_spec(path)


def plan(spec: Spec | str | Path) -> Plan:
    """Return what will be done, decided without data.

    ``print(plan)`` is the table that a reviewer reads; ``plan.digest`` names the plan.

    >>> decided = plan("specs/smallest_mean.yaml")
    >>> decided.epsilon, decided.loss <= decided.spent <= decided.epsilon
    (Fraction(1, 1), True)
    >>> print(decided)  # doctest: +ELLIPSIS
    plan ...   (no data was read)
    ...

    Args:
        spec: a spec, or the path of one.

    Raises:
        dpql.errors.SpecError: the file at the path has faults.
        dpql.errors.PlanFault: the spec cannot be planned as it stands (4xx).
    """
    from dpql.planner import plan as make_plan

    return make_plan(load(spec) if isinstance(spec, str | Path) else spec)


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
    from dpql.errors import PlanFault
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
