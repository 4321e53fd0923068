"""The predicate of a report: everything that a report says, as frozen values.

All members follow from the plan, except the noisy numbers, the date, the record of the
ledger and the versions; verification derives them again and compares. No member is a
float, a count of rows, a digest of data, a time of day or a path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpql.model.codec import Members
from dpql.model.lean import Lean
from dpql.model.plan import Bound, Plan
from dpql.model.spec import Neighbours

FORMAT = 4
FIRST_FORMAT = 1
"""The format of dpql 0.1; `dpql.reports.format_versions` says how formats differ."""

BOUND_FROM = 4
"""The first format that says of each statistic what one unit adds at most."""

RELEASE = "urn:dpql:predicate:release:v1"
REHEARSAL = "urn:dpql:predicate:rehearsal:v1"
APPROVAL = "urn:dpql:predicate:approval:v1"

COINS = "os.urandom"
"""The only source of coins that a release may name."""

BOUND = "bound"
SHARED = "shared"
MEMORY = "memory"
DATA = (BOUND, SHARED, MEMORY)
"""How the data of a release are bound to budgets: to this one alone, to others too by
the owner's decision, or to none because they came from memory."""

ENGINES = ("polars", "duckdb", "postgres", "spark")
"""The engines that may have aggregated the rows of a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What is promised to whom, in numbers and in words.

    ``rows`` and ``groups`` bound what one unit adds to statistics without a bound of
    their own; the bound of each stands in its record.
    """

    variant: str
    epsilon: Fraction
    delta: Fraction
    unit: str
    rows: int
    groups: int
    neighbours: Neighbours
    composition: str
    unprotected: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisePart(Lean):
    """One noisy number per cell: its mechanism, its cost and its error.

    ``epsilon`` is None where the noise is not pure; ``rho`` is None in a pure plan.
    ``delta`` is the probability that it shows keys which one unit alone has.
    """

    LEFT_OUT: ClassVar[Mapping[str, Any]] = {"delta": "0"}

    name: str
    mechanism: str
    parameters: Members
    epsilon: Fraction | None
    level: Fraction
    half_width: Fraction
    rho: Fraction | None = None
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellValue:
    """A released value, its interval, and the noisy numbers it follows from."""

    cell: tuple[str, ...]
    value: Fraction
    lower: Fraction
    upper: Fraction
    noisy: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticRecord:
    """One statistic with all its values, in the order of the plan.

    ``values`` is a tuple, or equal to one. ``epsilon`` and ``rho`` are those of its
    step. ``bound`` is what one unit adds at most: rows in each of so many cells; None
    where a row is one, and before format 4.
    """

    name: str
    definition: str
    headings: tuple[str, ...]
    unit: str | None
    epsilon: Fraction | None
    alpha: Fraction
    accuracy: Fraction | None
    accuracy_of: str
    parts: tuple[NoisePart, ...]
    post_processing: str
    values: Sequence[CellValue]
    rho: Fraction | None = None
    bound: Bound | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRecord:
    """The debit: what was spent before and after it, and its entry in the chain.

    ``data`` is a word of `DATA`; it is empty in format 1. ``delta`` is that of the
    budget: with one, before and after are the epsilons that all runs amount to.
    """

    dataset: str
    cap: Fraction
    before: Fraction
    after: Fraction
    seq: int
    head: str
    data: str
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """The software that ran, as the signer states it."""

    dpql: str
    packages: Members
    engine: str
    randomness: str
    trust_model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPredicate:
    """Everything that a release or a rehearsal says.

    ``approvals`` are whole envelopes, so that a reader can verify them too. ``ledger``
    is null when no budget was debited. ``caveats`` are what the budget does not cover.
    """

    format: int
    title: str
    purpose: str
    date: str
    guarantee: Guarantee
    statistics: tuple[StatisticRecord, ...]
    ledger: LedgerRecord | None
    caveats: tuple[str, ...]
    approvals: tuple[str, ...]
    implementation: Implementation
    plan_digest: str
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPredicate:
    """A reviewer allows ``runs`` runs of a plan, up to the day ``until``.

    ``dataset`` is the owner's name of the data; it is empty in format 1.
    """

    format: int
    title: str
    dataset: str
    epsilon: Fraction
    plan_digest: str
    runs: int
    until: str | None
