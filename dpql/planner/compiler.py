"""The planner's pipeline: a tuple of passes, then an audit of what they made."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import ln_down, round_up_to_digits
from dpql.mechanisms import CONCENTRATED
from dpql.mechanisms.composition import step_costs, total
from dpql.model.plan import ADDED_UP, Plan, spec_digest
from dpql.model.plan_bytes import decode_plan
from dpql.model.spec import Rho, Share, Spec
from dpql.planner.accuracy import state_accuracy
from dpql.planner.adding_up import agree_totals
from dpql.planner.audit import audit_loss, refuse_altered
from dpql.planner.bind import bind_columns, bound_contributions, describe_queries
from dpql.planner.calibrate import calibrate_noise, granted
from dpql.planner.draft import Draft
from dpql.planner.price import price_accuracy
from dpql.planner.release_size import refuse_unreadable, with_limits
from dpql.planner.rules import NOW, Rules, rules_of
from dpql.planner.settle import comparable_error, settle_mechanisms
from dpql.planner.soundness import is_sound
from dpql.planner.split import split_shares

PASSES: tuple[Callable[[Draft], Draft], ...] = (
    bind_columns,
    bound_contributions,
    describe_queries,
    price_accuracy,
    split_shares,
    settle_mechanisms,
    calibrate_noise,
    state_accuracy,
    agree_totals,
)

_LONGEST = 10**2_000
"""What no numerator and no denominator of a total may reach, so that it is read."""

_DIGITS = 15
_LEAST_ERROR = Fraction(1, 10**40)


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
    """Return the plan that these rules make of a spec, before any audit.

    With a delta there are two ways to share the budget: its epsilon among pure noises,
    or the rho that epsilon and delta give, among noises of either kind. The plan of the
    smaller errors is taken, and of equal ones the pure one.
    """
    if spec.privacy.delta == 0:
        return _finished(_passed(Draft(spec=spec, rules=rules)))
    drafts: list[Draft] = []
    faults: list[PlanFault] = []
    for concentrated in (False, True):
        if not concentrated and not _can_be_pure(spec):
            continue
        try:
            draft = Draft(spec=spec, rules=rules, concentrated=concentrated)
            drafts.append(_passed(draft))
        except PlanFault as fault:
            faults.append(fault)
    if not drafts:
        raise faults[0]
    return _finished(min(drafts, key=mean_log_error))


def _passed(draft: Draft) -> Draft:
    for compile_pass in PASSES:
        draft = compile_pass(draft)
    return draft


def _can_be_pure(spec: Spec) -> bool:
    return not any(
        statistic.mechanism in CONCENTRATED or isinstance(statistic.spend, Rho)
        for statistic in spec.statistics
    )


def mean_log_error(draft: Draft) -> Fraction:
    """Return the mean logarithm of the errors of all shares, weighted, rounded down.

    An error that depends on a private count is that over the declared rows.
    """
    total = weights = Fraction(0)
    for statistic, descriptions, choice in zip(
        draft.spec.statistics, draft.descriptions, draft.choices, strict=True
    ):
        if isinstance(statistic.spend, Share):
            error = comparable_error(
                statistic,
                descriptions[choice.mechanism],
                choice.mechanism,
                granted(choice),
                rows=draft.spec.data.rows.count,
            )
            weights += statistic.spend.weight
            total += statistic.spend.weight * ln_down(max(error, _LEAST_ERROR))
    return total / weights if weights else total


def _finished(draft: Draft) -> Plan:
    spec, rules = draft.spec, draft.rules
    spent, loss, rho, composition = _totals(draft)
    _require_short(spent, loss)
    made = Plan(
        version=rules.version,
        spec=spec,
        spec_digest=spec_digest(spec, rules.version),
        composition=composition,
        epsilon=spec.privacy.epsilon,
        delta=spec.privacy.delta,
        spent=spent,
        loss=loss,
        steps=draft.steps,
        rho=rho,
    )
    return with_limits(made)


def _totals(draft: Draft) -> tuple[Fraction, Fraction, Fraction | None, str]:
    """Return what is spent and lost, the rho, and how that follows from the steps."""
    privacy = draft.spec.privacy
    rho: Fraction | None = None
    if privacy.delta:
        rho = sum((step.rho or Fraction(0) for step in draft.steps), Fraction(0))
    if not draft.concentrated:
        spent = sum((step.epsilon or Fraction(0) for step in draft.steps), Fraction(0))
        loss = sum((step.loss or Fraction(0) for step in draft.steps), Fraction(0))
        return spent, loss, rho, ADDED_UP
    costs = [cost for step in draft.steps for cost in step_costs(step)]
    found = total(costs, privacy.delta - draft.events)
    loss = min(round_up_to_digits(found.epsilon, _DIGITS), privacy.epsilon)
    assert found.epsilon <= loss, "rho was split so that it is"
    shared = any(isinstance(one.spend, Share) for one in draft.spec.statistics)
    return privacy.epsilon if shared else loss, loss, rho, found.rule


def _require_short(*amounts: Fraction) -> None:
    for amount in amounts:
        if max(amount.numerator, amount.denominator) >= _LONGEST:
            raise PlanFault.of(
                "DPQL431",
                "the total loss cannot be written down exactly",
                hint="write epsilons and shares with few digits, such as `0.1` or `2`",
            )
