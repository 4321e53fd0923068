"""Recompute the values of a report from its plan and its noisy numbers alone."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import starmap, zip_longest
from operator import eq
from typing import Protocol

from dpql.diagnostics import shown
from dpql.errors import DpqlError, VerifyFault
from dpql.mechanisms import MECHANISMS
from dpql.model.key_text import has_others
from dpql.model.many_values import ManyValues
from dpql.model.plan import Chosen, Part, Plan, Step
from dpql.model.release import Release, Result, ShownKeys, Value, cells
from dpql.reports.predicate import (
    COINS,
    DATA,
    ENGINES,
    FIRST_FORMAT,
    CellValue,
    LedgerRecord,
    ReportPredicate,
    StatisticRecord,
)
from dpql.reports.sentences import TRUST_MODEL
from dpql.reports.shown_keys import KeyOutcomes, require_possible
from dpql.statistics.agreement import agreed
from dpql.statistics.reading import reader_of

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}", re.ASCII)
_DATASET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_HEAD = re.compile(r"[0-9a-f]{64}", re.ASCII)

_FIRST_DRAW = 3
"""A draw comes after the opening of its dataset and its own reservation."""


def require_plausible(predicate: ReportPredicate) -> None:
    """Refuse claims of the signer on the run or its debit that cannot be true.

    Raises:
        VerifyFault: no release has these coins, this trust model or this engine, a
            version is not a word, or the record of the ledger does not add up
            (DPQL608).
    """
    made = predicate.implementation
    if made.randomness != COINS or made.trust_model != TRUST_MODEL:
        raise mismatch("the source of the coins or the trust model")
    if made.engine not in ENGINES:
        raise mismatch("the engine")
    words = [made.dpql, *(word for pair in made.packages for word in pair)]
    if not all(_WORD.fullmatch(word) for word in words):
        raise mismatch("a version")
    record = predicate.ledger
    known = ("",) if predicate.format == FIRST_FORMAT else DATA
    if record is not None and not (
        record.before >= 0
        and _adds_up(record, predicate.plan)
        and record.after <= record.cap
        and record.seq >= _FIRST_DRAW
        and _HEAD.fullmatch(record.head)
        and _DATASET.fullmatch(record.dataset)
        and record.data in known
    ):
        raise mismatch("the record of the ledger")


def _adds_up(record: LedgerRecord, plan: Plan) -> bool:
    """Tell whether a debit can have been that of the plan.

    Where the budget has a delta, what a plan adds to it depends on all other runs.
    """
    if record.delta == 0:
        return plan.delta_spent == 0 and record.after == record.before + plan.spent
    return 0 < record.delta < 1 and record.after >= record.before


def recompute(predicate: ReportPredicate) -> Release:
    """Return the release that follows from the plan and noisy numbers of a report.

    Nothing else of the report is used: cells come from the plan and the keys that its
    searches show, values and intervals from the noisy numbers, each of which must be a
    possible outcome of its mechanism.

    Raises:
        VerifyFault: statistics or cells are not those of the plan (DPQL608), or a
            noisy number is off its lattice or beyond its clamp, or no search of the
            plan can have shown a key (DPQL609).
    """
    plan = predicate.plan
    if len(predicate.statistics) != len(plan.steps):
        raise mismatch("the statistics")
    pairs = list(zip(plan.steps, predicate.statistics, strict=True))
    found = {
        step.name: _shown(plan, step, record)
        for step, record in pairs
        if step.search is not None
    }
    results = [
        _result(plan, step, record, found.get(step.found_by or step.name))
        for step, record in pairs
    ]
    return Release(
        plan=plan,
        results=agreed(results),
        coins=predicate.implementation.randomness,
        engine=predicate.implementation.engine,
    )


def with_prose_of(given: ReportPredicate, derived: ReportPredicate) -> ReportPredicate:
    """Return the derived predicate with the prose that another dpql wrote.

    Numbers, cells, parameters and names stay as they were derived.
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


def mismatch(what: str) -> VerifyFault:
    """Return the fault of a report with a member that does not follow from others."""
    return VerifyFault.of(
        "DPQL608",
        f"{what} of the report is not what its plan and noisy numbers give",
        hint="the signer altered it, or used another version of dpql",
    )


def _shown(plan: Plan, step: Step, record: StatisticRecord) -> ShownKeys:
    """Return the keys that a search shows, if it can have shown them."""
    require_possible(step, record, plan.spec.data)
    keys = tuple(ManyValues.of(record.values).cells)
    others = has_others(plan, step)
    return ShownKeys(columns=step.by, keys=keys, others=others)


def _result(
    plan: Plan, step: Step, record: StatisticRecord, shown_keys: ShownKeys | None
) -> Result:
    given = ManyValues.of(record.values)
    expected = cells(step, plan.spec.data, version=plan.version, shown=shown_keys)
    if not all(starmap(eq, zip_longest(given.cells, expected))):
        raise mismatch(f"the list of cells of `{shown(step.name)}`")
    lattices: list[_Outcomes] = [_Lattice(part) for part in step.parts]
    if step.search is not None:
        lattices = [KeyOutcomes(step)]
    if isinstance(step.readout, Chosen):
        lattices = [_Indices(step.readout)]
        _require_sorted(step, given)
    read = reader_of(step, version=plan.version)

    def derived(kind: CellValue) -> Value:
        noisy = kind.noisy
        if len(noisy) != len(lattices) or not all(
            lattice.holds(x) for lattice, x in zip(lattices, noisy, strict=True)
        ):
            raise VerifyFault.of(
                "DPQL609",
                f"its noise cannot have made a noisy number of `{shown(step.name)}`",
                hint="outcomes lie on a grid, inside a clamp, both known from the plan",
            )
        reading = read(noisy)
        return Value(
            cell=(),
            noisy=noisy,
            value=reading.value,
            lower=reading.lower,
            upper=reading.upper,
        )

    return Result(step=step, values=given.of_kinds(derived))


def _require_sorted(step: Step, given: ManyValues[CellValue]) -> None:
    """Refuse quantiles of a cell that fall: they are released in rising order."""
    count = len(step.picks)
    different = {kind.noisy for kind in given.kinds}
    order = {noisy: rank for rank, noisy in enumerate(sorted(different))}
    found = list(given.each(lambda kind: order[kind.noisy]))
    for first in range(0, len(found), count):
        ranks = found[first : first + count]
        if ranks != sorted(ranks):
            raise VerifyFault.of(
                "DPQL609",
                f"the quantiles of `{shown(step.name)}` are not in order",
                hint="the quantiles of a group are released from the smallest on",
            )


class _Outcomes(Protocol):
    """The possible outcomes of noise."""

    def holds(self, x: Fraction) -> bool:
        """Tell whether a number is one of them."""


class _Indices:
    """The possible outcomes of a choice: the index of each candidate."""

    def __init__(self, readout: Chosen) -> None:
        self._count = readout.candidates

    def holds(self, x: Fraction) -> bool:
        """Tell whether a number is the index of a candidate."""
        return x.denominator == 1 and 0 <= x < self._count


class _Lattice:
    """The possible outcomes of the noise of a part.

    They are evenly spaced, except where a clamp cuts the first and the last.
    """

    def __init__(self, part: Part) -> None:
        self._module = MECHANISMS[part.noise.mechanism]
        try:
            self._noise = self._module.restore(dict(part.noise.parameters))
        except DpqlError:
            raise mismatch("the noise") from None
        self._origin = self._module.outcome(self._noise, 0)
        self._spacing = self._module.outcome(self._noise, 1) - self._origin
        self._whole = self._origin == 0 and self._spacing == 1

    def holds(self, x: Fraction) -> bool:
        """Tell whether a number is one of the outcomes."""
        if self._whole and x.denominator == 1:
            nearest = {x.numerator}
        else:
            steps = (x - self._origin) / self._spacing
            nearest = {steps.__floor__(), steps.__ceil__()}
        return any(self._module.outcome(self._noise, step) == x for step in nearest)
