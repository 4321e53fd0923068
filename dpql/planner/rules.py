"""What differs between the formats of a plan, and so between what planners decided.

A plan is audited by the rules of its own format. Only plans of today's format are made;
the rules of older ones are here so that what was signed can be verified.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpql.errors import PlanFault
from dpql.model.plan import VERSION, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a planner decides where planners have differed.

    Attributes:
        version: the format of the plans it makes.
        units_keep_n: under replace_one the number of rows is taken for public, also
            where units have several rows. Bounding them leaves a private number, so
            this was wrong: rows beyond the bound counted at their fill.
        tight_targets: accuracy targets are priced by the accuracy that a plan states;
            else by the plain form of snapping's, which asks for more epsilon.
        parts_of_one: where the noise allows, means, variances and covariances of a
            private number of rows are made of parts that share one sensitivity.
        automatic: the mechanisms among which `auto` chooses.
        expressions: columns may be derived, or dates, times and booleans, and
            conditions are expressions, which may be null.
        shared_candidates: quantiles of all statistics share a bound on candidates;
            else each statistic has its own.
    """

    version: int
    units_keep_n: bool
    tight_targets: bool
    parts_of_one: bool
    automatic: tuple[str, ...]
    expressions: bool
    shared_candidates: bool


_BOTH = ("snapping", "geometric")

NOW = Rules(
    version=VERSION,
    units_keep_n=False,
    tight_targets=True,
    parts_of_one=True,
    automatic=("geometric",),
    expressions=True,
    shared_candidates=True,
)
FORMAT_3 = replace(NOW, version=3, expressions=False, shared_candidates=False)
FORMAT_2 = replace(FORMAT_3, version=2, parts_of_one=False, automatic=_BOTH)
FORMAT_1 = replace(FORMAT_2, version=1, units_keep_n=True, tight_targets=False)

_BY_VERSION = {rules.version: rules for rules in (FORMAT_1, FORMAT_2, FORMAT_3, NOW)}


def rules_of(plan: Plan) -> Rules:
    """Return the rules that a plan was made by.

    Raises:
        PlanFault: its format is none that is known (DPQL401).
    """
    rules = _BY_VERSION.get(plan.version)
    if rules is None:
        raise PlanFault.of(
            "DPQL401",
            "the plan is of a format that this dpql does not know",
            hint="use the dpql that made it, or a later one",
        )
    return rules
