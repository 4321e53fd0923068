"""Build the predicate of a report from an outcome.

The input is a plan, noisy values and a receipt; data cannot get in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction

from dpql.errors import VerifyFault
from dpql.model.many_values import ManyValues
from dpql.model.plan import Part, Pick, Plan, Search, Step
from dpql.model.release import Outcome, Result, Value, headings
from dpql.model.step_text import kept_by
from dpql.reports.caveats import caveats
from dpql.reports.predicate import (
    BOUND_FROM,
    FORMAT,
    CellValue,
    Guarantee,
    Implementation,
    LedgerRecord,
    NoisePart,
    ReportPredicate,
    StatisticRecord,
)
from dpql.reports.sentences import (
    TRUST_MODEL,
    before_noise,
    guarantee_words,
    post_processing,
    unprotected,
    variant,
)
from dpql.statistics.definition import definition


def build(
    outcome: Outcome,
    *,
    day: date,
    ledger: LedgerRecord | None,
    approvals: Sequence[bytes],
    versions: Mapping[str, str],
) -> ReportPredicate:
    """Return the predicate of the report on an outcome.

    ``versions`` are those of dpql and of the packages it computed with.
    """
    others = {name: text for name, text in versions.items() if name != "dpql"}
    implementation = Implementation(
        dpql=versions["dpql"],
        packages=tuple(sorted(others.items())),
        engine=outcome.engine,
        randomness=outcome.coins,
        trust_model=TRUST_MODEL,
    )
    return predicate_of(
        outcome,
        day=day,
        ledger=ledger,
        approvals=tuple(_text(envelope) for envelope in approvals),
        implementation=implementation,
    )


def predicate_of(
    outcome: Outcome,
    *,
    day: date,
    ledger: LedgerRecord | None,
    approvals: tuple[str, ...],
    implementation: Implementation,
    format_: int = FORMAT,
) -> ReportPredicate:
    """Return the predicate of the report on an outcome, in a format."""
    plan = outcome.plan
    spec, privacy = plan.spec, plan.spec.privacy
    return ReportPredicate(
        format=format_,
        title=spec.release,
        purpose=spec.purpose,
        date=day.isoformat(),
        guarantee=Guarantee(
            variant=variant(plan),
            epsilon=plan.spent,
            delta=plan.delta_spent,
            unit="row" if privacy.unit is None else privacy.unit,
            rows=privacy.contributes.rows,
            groups=privacy.contributes.groups,
            neighbours=privacy.neighbours,
            composition=plan.composition,
            unprotected=unprotected(plan),
            words=guarantee_words(plan),
        ),
        statistics=tuple(
            _statistic(plan, result, format_) for result in outcome.results
        ),
        ledger=ledger,
        caveats=caveats(outcome, ledger, format_),
        approvals=approvals,
        implementation=implementation,
        plan_digest=plan.digest,
        plan=plan,
    )


def _text(envelope: bytes) -> str:
    try:
        return envelope.decode()
    except UnicodeError:
        raise VerifyFault.of("DPQL600", "an approval is not text") from None


def _statistic(plan: Plan, result: Result, format_: int) -> StatisticRecord:
    step = result.step
    return StatisticRecord(
        name=step.name,
        definition=definition(step),
        headings=headings(step),
        unit=step.unit,
        epsilon=step.epsilon,
        alpha=step.alpha,
        accuracy=step.accuracy,
        accuracy_of=before_noise(plan, step),
        parts=(
            *(_part(part.measure.name, part) for part in step.parts),
            *(_part(f"at {pick.at}", pick) for pick in step.picks),
            *([] if step.search is None else [_search(step, step.search)]),
        ),
        post_processing=post_processing(step),
        values=ManyValues.of(result.values).of_kinds(_value),
        rho=step.rho,
        bound=kept_by(plan, step).bound if format_ >= BOUND_FROM else None,
    )


def _value(value: Value) -> CellValue:
    return CellValue(
        cell=value.cell,
        value=value.value,
        lower=value.lower,
        upper=value.upper,
        noisy=value.noisy,
    )


def _part(name: str, part: Part | Pick) -> NoisePart:
    return NoisePart(
        name=name,
        mechanism=part.noise.mechanism,
        parameters=part.noise.parameters,
        epsilon=part.epsilon,
        level=part.level,
        half_width=part.half_width,
        rho=part.rho,
    )


def _search(step: Step, search: Search) -> NoisePart:
    """Return the noise by which keys are shown; without counts they have no error."""
    return NoisePart(
        name="keys",
        mechanism=search.noise.mechanism,
        parameters=search.noise.parameters,
        epsilon=search.epsilon,
        level=step.alpha,
        half_width=step.accuracy or Fraction(0),
        rho=step.rho,
        delta=search.delta,
    )
