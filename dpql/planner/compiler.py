"""The planner's pipeline: a tuple of passes, then an audit of what they made."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Plan, spec_digest
from dpql.model.plan_bytes import decode_plan
from dpql.model.spec import Spec
from dpql.planner.accuracy import state_accuracy
from dpql.planner.audit import audit_loss, refuse_altered
from dpql.planner.bind import bind_columns, bound_contributions, describe_queries
from dpql.planner.calibrate import calibrate_noise
from dpql.planner.draft import Draft
from dpql.planner.price import price_accuracy
from dpql.planner.release_size import refuse_unreadable
from dpql.planner.rules import NOW, Rules, rules_of
from dpql.planner.soundness import is_sound
from dpql.planner.split import split_shares

PASSES: tuple[Callable[[Draft], Draft], ...] = (
    bind_columns,
    bound_contributions,
    describe_queries,
    price_accuracy,
    split_shares,
    calibrate_noise,
    state_accuracy,
)

_LONGEST = 10**2_000
"""What no numerator and no denominator of a total may reach, so that it is read."""

COMPOSITION = "the losses of the steps add up"


def plan(spec: Spec) -> Plan:
    """Return the plan of a spec, without data.

    Raises:
        PlanFault: the spec cannot be planned as it stands (4xx).
    """
    made = compiled(spec, NOW)
    refuse_unreadable(made)
    audit_loss(made)
    if is_sound(spec, NOW):
        # What it compiles to is the plan itself.
        made.note_audit()
    return made


def read(data: bytes) -> Plan:
    """Return the plan that the bytes encode, after auditing all of it.

    A plan of an older format is read too, by its own rules: it may be shown, compared
    and expected of a release, but not run (`audit`).

    Raises:
        PlanFault: the bytes are not a plan (DPQL400, DPQL401), disagree with
            themselves (DPQL402), or lose more than their budget (DPQL403).
    """
    found = decode_plan(data)
    audit_published(found)
    return found


def audit(given: Plan) -> None:
    """Refuse a plan that is not exactly what this planner makes of its own spec.

    Raises:
        PlanFault: the plan is of an older format (DPQL404), disagrees with itself
            (DPQL402), overspends (DPQL403) or releases too much (DPQL435).
    """
    given.require_current()
    refuse_unreadable(given)
    audit_published(given)


def audit_published(given: Plan) -> None:
    """Refuse a plan that is not exactly what its own format makes of its own spec.

    First the loss is recomputed from the mechanisms' parameters alone; that check
    knows nothing of the passes. Then every other member is derived again, by the rules
    of the plan's format. It is for what has been signed; what is to be run or signed
    must pass `audit`. A value that this process has made or audited is not derived
    twice.

    Raises:
        PlanFault: the plan is of no known format (DPQL401), disagrees with itself
            (DPQL402) or overspends (DPQL403).
    """
    if given.audited:
        return
    rules = rules_of(given)
    audit_loss(given)
    refuse_altered(given, rules, compiled)
    given.note_audit()


def compiled(spec: Spec, rules: Rules) -> Plan:
    """Return the plan that these rules make of a spec, before any audit."""
    draft = Draft(spec=spec, rules=rules)
    for compile_pass in PASSES:
        draft = compile_pass(draft)
    nothing = Fraction(0)
    spent = sum((step.epsilon for step in draft.steps), nothing)
    loss = sum((step.loss for step in draft.steps), nothing)
    _require_short(spent, loss)
    return Plan(
        version=rules.version,
        spec=spec,
        spec_digest=spec_digest(spec, rules.version),
        composition=COMPOSITION,
        epsilon=spec.privacy.epsilon,
        delta=spec.privacy.delta,
        spent=spent,
        loss=loss,
        steps=draft.steps,
    )


def _require_short(*totals: Fraction) -> None:
    for total in totals:
        if max(total.numerator, total.denominator) >= _LONGEST:
            raise PlanFault.of(
                "DPQL431",
                "the total loss cannot be written down exactly",
                hint="write epsilons and shares with few digits, such as `0.1` or `2`",
            )
