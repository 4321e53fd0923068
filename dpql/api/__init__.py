"""The verbs of dpql; each one imports its stage when it is first called.

load    a spec from a file          plan     a plan from a spec
read    a plan from a file          diff     what a change means
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from dpql.model.plan import Plan
    from dpql.model.spec import Spec
    from dpql.planner.diff import Difference
    from dpql.reports.keys import Signer

__all__ = ["approve", "diff", "load", "plan", "read"]


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
        dpql.errors.SpecError: with every fault of the file and its place.
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
    from dpql.planner.diff import diff as judge

    return judge(old, new)


def approve(
    plan: Plan, key: Signer, *, runs: int = 1, until: date | None = None
) -> bytes:
    """Return a reviewer's signature on a plan, as an envelope to keep beside it.

    Args:
        plan: what may be run.
        key: the reviewer's key, from `dpql.reports.keys.load_key`.
        runs: how often it may be run.
        until: the last day on which it may be run.

    Raises:
        dpql.errors.VerifyFault: the number of runs is out of range (DPQL611).
    """
    from dpql.reports.approval import approve as sign_plan

    return sign_plan(plan, key, runs=runs, until=until)
