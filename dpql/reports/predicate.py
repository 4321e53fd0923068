"""What a report says: the frozen values behind the predicate of its statement.

Every member but the noisy numbers, the date, the ledger's record and the versions
follows from the plan; verification derives it again and compares. There is no float
here, no count of rows, no digest of data, no time of day, no path.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.codec import Members
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours

FORMAT = 2
FIRST_FORMAT = 1
"""The format of dpql 0.1; `dpql.reports.format_versions` says how the two differ."""

RELEASE = "urn:dpql:predicate:release:v1"
REHEARSAL = "urn:dpql:predicate:rehearsal:v1"

COINS = "os.urandom"
"""The only source of coins that a release may name."""
APPROVAL = "urn:dpql:predicate:approval:v1"

BOUND = "bound"
SHARED = "shared"
MEMORY = "memory"
DATA = (BOUND, SHARED, MEMORY)
"""How the data of a release are bound to its budget: to this one alone, to others too
by the owner's decision, or to none since they came from memory."""

ENGINES = ("polars",)
"""The engines that may have aggregated the rows of a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What is promised to whom, in numbers and in words."""

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
class NoisePart:
    """One noisy number per cell: its mechanism, its cost, how far it may be off."""

    name: str
    mechanism: str
    parameters: Members
    epsilon: Fraction
    level: Fraction
    half_width: Fraction


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
    """One statistic with all its values, in the order of the plan."""

    name: str
    definition: str
    headings: tuple[str, ...]
    unit: str | None
    epsilon: Fraction
    alpha: Fraction
    accuracy: Fraction | None
    accuracy_of: str
    parts: tuple[NoisePart, ...]
    post_processing: str
    values: tuple[CellValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRecord:
    """The debit: what was spent before and after it, and its place in the chain.

    ``data`` is a word of `DATA`: how the data are bound to the budget. It is empty in
    format 1.
    """

    dataset: str
    cap: Fraction
    before: Fraction
    after: Fraction
    seq: int
    head: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """What ran, as the signer states it."""

    dpql: str
    packages: Members
    engine: str
    randomness: str
    trust_model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPredicate:
    """Everything that a release or a rehearsal says of itself.

    ``approvals`` are whole envelopes, so that a reader can verify them too. ``ledger``
    is null when no budget was debited. ``caveats`` says what was not guarded.
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
    """A reviewer allows a plan to be run ``runs`` times, up to the day ``until``.

    ``dataset`` is the owner's name of the data that it may run on; empty in format 1.
    """

    format: int
    title: str
    dataset: str
    epsilon: Fraction
    plan_digest: str
    runs: int
    until: str | None
