"""Entries of the ledger, and the chain of hashes that ties them together.

    digest(entry) = sha256 of its canonical JSON
    entry n + 1 carries the digest of entry n; the first carries 64 zeros

Every dataset has a chain of its own. The digest of the last entry is its *head*: anyone
who has noted a head notices a later change of any entry before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from dpql.errors import LedgerFault
from dpql.ledger.tracks import Cost
from dpql.model.codec import Malformed, canonical, decode, encode, parse
from dpql.model.spec import Neighbours

GENESIS = "0" * 64
"""The digest that the first entry carries as its previous one."""

_LIMIT = 1 << 16


class _Lean:
    """An event whose members for a delta are left out where they say nothing.

    So the entries of a budget without a delta are those that they always were.
    """

    __slots__ = ()

    LEFT_OUT: ClassVar[Mapping[str, Any]]

    @classmethod
    def as_now(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document with all members."""
        if any(name in document for name in cls.LEFT_OUT):
            return document
        return {**document, **cls.LEFT_OUT}

    def as_then(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document as it is stored."""
        if any(document[name] != empty for name, empty in self.LEFT_OUT.items()):
            return document
        return {k: item for k, item in document.items() if k not in self.LEFT_OUT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened(_Lean):
    """The owner opens a dataset.

    ``unit`` is the id column of those whom the budget protects, or ``row``.
    ``approvals`` is how many different reviewers a plan needs. ``location`` is where
    the owner keeps the data; empty if the owner did not say. ``mark`` is an id that no
    other chain has, so that a copy is recognised as one.

    The promise is (``cap``, ``delta_events`` + ``delta_conversion``); ``orders`` are
    those of the divergences that are summed. All of it is fixed here.
    """

    LEFT_OUT: ClassVar[Mapping[str, Any]] = {
        "delta_events": "0",
        "delta_conversion": "0",
        "orders": [],
    }

    cap: Fraction
    unit: str
    neighbours: Neighbours
    approvals: int
    location: str
    mark: str
    delta_events: Fraction = Fraction(0)
    delta_conversion: Fraction = Fraction(0)
    orders: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CapRaised(_Lean):
    """The owner allows more; ``cap`` is the new total.

    ``independent``: the owner says that no answer had a part in it. Otherwise what is
    promised is the largest cap that could have been granted, granted or not.
    """

    LEFT_OUT: ClassVar[Mapping[str, Any]] = {"independent": False}

    cap: Fraction
    independent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The data are at this location from now on; the budget goes on as it is.

    The owner says so, or the first run that draws on the dataset.
    """

    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The owner knowingly gives data of ``datasets`` a further budget."""

    location: str
    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The owner gave ``datasets`` a further budget for the data of this one.

    Their chains say where and when. A run records it here before it draws, so that
    this chain alone shows that the draw was on shared data.
    """

    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved(_Lean):
    """A run of a plan holds ``epsilon`` back: ``after`` = ``before`` + epsilon.

    In a budget with a delta it holds back all of what the plan costs: an epsilon, or
    None if the plan is not pure, a rho, a delta and a divergence of each order. There
    ``before`` and ``after`` are the epsilons that all costs together amount to.
    """

    LEFT_OUT: ClassVar[Mapping[str, Any]] = {"rho": "0", "delta": "0", "renyi": []}

    plan: str
    epsilon: Fraction | None
    cap: Fraction
    before: Fraction
    after: Fraction
    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    renyi: tuple[Fraction, ...] = ()

    @property
    def cost(self) -> Cost:
        """All of what it holds back."""
        return Cost(
            epsilon=self.epsilon, rho=self.rho, delta=self.delta, renyi=self.renyi
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The run draws noise; from now on its epsilon is spent.

    ``run`` is the number of the run's `Reserved` entry.
    """

    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The run ended in the report whose sha256 is ``envelope``."""

    run: int
    envelope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The run ended before any noise; its epsilon is free again."""

    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The run died after it began to draw; its epsilon stays spent."""

    run: int


Owners = Opened | CapRaised | Bound | Shared | Joined
Event = Owners | Reserved | Drawing | Released | Cancelled | Lost


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the ledger."""

    dataset: str
    seq: int
    previous: str
    event: Event

    @cached_property
    def body(self) -> bytes:
        """The canonical bytes."""
        return canonical(encode(Entry, self))

    @cached_property
    def digest(self) -> str:
        """sha256 of the canonical bytes, in hexadecimal."""
        return hashlib.sha256(self.body).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """An entry in the chain of a dataset that somebody has noted.

    A published report pins more than the entry of its draw: ``envelope`` is the
    sha256 of the report that the run must have ended in, empty when none is known.
    Equal entries have equal digests, so without it a ledger that was restored and run
    again could pass for the old one.
    """

    dataset: str
    seq: int
    digest: str
    envelope: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as a store returns it, not yet checked."""

    seq: object
    body: object
    digest: object


def read_chain(
    dataset: str, rows: Sequence[Row], digests: Sequence[str] = ()
) -> tuple[Entry, ...]:
    """Return the entries of a dataset; refuse rows that are not one whole chain.

    ``digests`` are those of the entries before them, which were checked already.

    Raises:
        LedgerFault: a row was changed, moved, added or removed (DPQL705).
    """
    entries: list[Entry] = []
    previous = digests[-1] if digests else GENESIS
    for number, row in enumerate(rows, start=len(digests) + 1):
        entry = _read(row)
        if (
            entry is None
            or row.seq != number
            or entry.seq != number
            or entry.dataset != dataset
            or entry.previous != previous
            or entry.digest != row.digest
        ):
            raise broken(number)
        entries.append(entry)
        previous = entry.digest
    return tuple(entries)


def broken(number: int) -> LedgerFault:
    """Return the fault of a chain that breaks at an entry."""
    return LedgerFault.of(
        "DPQL705",
        f"the ledger was altered: entry {number} does not continue the chain",
        hint="keep the file as it is, and compare it with a backup",
    )


def _read(row: Row) -> Entry | None:
    if not isinstance(row.body, str):
        return None
    try:
        data = row.body.encode()
        entry = decode(Entry, parse(data, limit=_LIMIT))
    except (Malformed, UnicodeError):
        return None
    assert isinstance(entry, Entry)
    return entry if entry.body == data else None
