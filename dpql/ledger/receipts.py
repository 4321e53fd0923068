"""What the ledger hands back as a run moves from state to state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dpql.ledger.account import Run
from dpql.ledger.entry import Head
from dpql.ledger.places import Place


class Binding(StrEnum):
    """Whether the data of a run have this budget alone.

    ``SHARED``: the owner gave them several. ``MEMORY``: they have no place to tell.
    """

    BOUND = "bound"
    SHARED = "shared"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Epsilon held back for one run, durably.

    ``place`` is where its data are; None for data in memory.
    """

    dataset: str
    run: Run
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that the epsilon of a run is spent: the head that a report carries.

    ``binding`` says how its data are bound to the budget.
    """

    dataset: str
    run: Run
    head: Head
    binding: Binding


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A report that was stored when its run ended."""

    dataset: str
    run: Run
    envelope: bytes
