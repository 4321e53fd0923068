"""Derives the values of a report again, from its plan and its noisy numbers alone."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import DpqlError, VerifyFault
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Part, Plan, Step
from dpql.model.release import Release, Result, Value, cells
from dpql.reports.predicate import (
    COINS,
    DATA,
    ENGINES,
    FIRST_FORMAT,
    ReportPredicate,
    StatisticRecord,
)
from dpql.reports.sentences import TRUST_MODEL
from dpql.statistics.readout import read

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}", re.ASCII)
_DATASET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_HEAD = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FIRST_DRAW = 3
"""A draw comes after the opening of its dataset and its own reservation."""


def require_stated(predicate: ReportPredicate) -> None:
    """Refuse what a signer states of the run and of its debit, where it cannot be.

    Raises:
        VerifyFault: the coins, the trust model or the engine are none of a release, a
            version is no word, or the record of the ledger does not hold (DPQL608).
    """
    made = predicate.implementation
    if made.randomness != COINS or made.trust_model != TRUST_MODEL:
        raise disagrees("the source of the coins or the trust model")
    if made.engine not in ENGINES:
        raise disagrees("the engine")
    words = [made.dpql, *(word for pair in made.packages for word in pair)]
    if not all(_WORD.fullmatch(word) for word in words):
        raise disagrees("a version")
    record = predicate.ledger
    known = ("",) if predicate.format == FIRST_FORMAT else DATA
    if record is not None and not (
        record.before >= 0
        and record.after == record.before + predicate.plan.spent
        and record.after <= record.cap
        and record.seq >= _FIRST_DRAW
        and _HEAD.fullmatch(record.head)
        and _DATASET.fullmatch(record.dataset)
        and record.data in known
    ):
        raise disagrees("the record of the ledger")


def recompute(predicate: ReportPredicate) -> Release:
    """Return the release that the plan and the noisy numbers of a report make.

    Nothing else of the report is believed: cells come from the plan, values and
    intervals from the noisy numbers, each of which must be an outcome that its
    mechanism can have.

    Raises:
        VerifyFault: statistics or cells are not those of the plan (DPQL608), or a
            noisy number is off its lattice or beyond its clamp (DPQL609).
    """
    plan = predicate.plan
    if len(predicate.statistics) != len(plan.steps):
        raise disagrees("the statistics")
    results = [
        _result(plan, step, record)
        for step, record in zip(plan.steps, predicate.statistics, strict=True)
    ]
    return Release(
        plan=plan,
        results=tuple(results),
        coins=predicate.implementation.randomness,
        engine=predicate.implementation.engine,
    )


def in_the_words_of(
    given: ReportPredicate, derived: ReportPredicate
) -> ReportPredicate:
    """Return what was derived with the prose of the report, which is of another dpql.

    Every number, cell, parameter and name stays as it was derived.
    """
    statistics = [
        replace(
            record,
            definition=written.definition,
            accuracy_of=written.accuracy_of,
            post_processing=written.post_processing,
        )
        for record, written in zip(derived.statistics, given.statistics, strict=True)
    ]
    guarantee = replace(
        derived.guarantee,
        variant=given.guarantee.variant,
        unprotected=given.guarantee.unprotected,
        words=given.guarantee.words,
    )
    return replace(derived, statistics=tuple(statistics), guarantee=guarantee)


def disagrees(what: str) -> VerifyFault:
    """Return the fault of a report whose members do not follow from one another."""
    return VerifyFault.of(
        "DPQL608",
        f"{what} of the report is not what its plan and noisy numbers give",
        hint="the signer altered it, or used another version of dpql",
    )


def _result(plan: Plan, step: Step, record: StatisticRecord) -> Result:
    expected = list(cells(step, plan.spec.data, version=plan.version))
    if [value.cell for value in record.values] != expected:
        raise disagrees(f"the list of cells of `{shown(step.name)}`")
    lattices = [_Lattice(part) for part in step.parts]
    widths = [part.half_width for part in step.parts]
    values = []
    for given in record.values:
        if len(given.noisy) != len(lattices) or not all(
            lattice.holds(x) for lattice, x in zip(lattices, given.noisy, strict=True)
        ):
            raise VerifyFault.of(
                "DPQL609",
                f"a noisy number of `{shown(step.name)}` is none that its noise "
                "can make",
                hint="outcomes lie on a grid, inside a clamp, both known from the plan",
            )
        reading = read(
            step.readout,
            given.noisy,
            widths,
            lower=step.lower,
            upper=step.upper,
            quantisation=step.quantisation,
        )
        values.append(
            Value(
                cell=given.cell,
                noisy=given.noisy,
                value=reading.value,
                lower=reading.lower,
                upper=reading.upper,
            )
        )
    return Result(step=step, values=tuple(values))


class _Lattice:
    """The outcomes that a part's noise can have.

    Outcomes lie evenly, but for the two at the ends, where a clamp may cut.
    """

    def __init__(self, part: Part) -> None:
        self._module = MECHANISMS[part.noise.mechanism]
        try:
            self._noise = self._module.restore(dict(part.noise.parameters))
        except DpqlError:
            raise disagrees("the noise") from None
        self._origin = self._module.outcome(self._noise, 0)
        self._spacing = self._module.outcome(self._noise, 1) - self._origin

    def holds(self, x: Fraction) -> bool:
        """Tell whether a number is one of the outcomes."""
        steps = (x - self._origin) / self._spacing
        nearest = {steps.__floor__(), steps.__ceil__()}
        return any(self._module.outcome(self._noise, step) == x for step in nearest)
