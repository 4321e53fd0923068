"""What the ledger hands back as a run moves from state to state."""

from __future__ import annotations

from dataclasses import dataclass

from dpql.ledger.account import Run
from dpql.ledger.entry import Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Epsilon held back for one run, durably."""

    dataset: str
    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that the epsilon of a run is spent: the head that a report carries."""

    dataset: str
    run: Run
    head: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A report that was stored when its run ended."""

    dataset: str
    run: Run
    envelope: bytes
