"""A debit on its way: held back, then spent or given back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from dpql.api.listener import Ending, Fate
from dpql.errors import DpqlError
from dpql.ledger import Ledger, Receipt, Reservation


@dataclass(slots=True)
class Debit:
    """A reservation on its way to being spent."""

    ledger: Ledger
    reservation: Reservation
    spent: Callable[[], None]
    receipt: Receipt | None = None
    returned: int | None = None

    def give_back(self) -> None:
        """Cancel; a ledger that fails now leaves the run for `ledger recover`."""
        with contextlib.suppress(DpqlError):
            self.returned = self.ledger.cancel(self.reservation)

    def ending(self) -> Ending:
        """Return what became of it, if the run ends here."""
        if self.receipt is not None:
            return Ending(fate=Fate.SPENT, entry=self.receipt.head.seq)
        if self.returned is not None:
            return Ending(fate=Fate.GIVEN_BACK, entry=self.returned)
        return Ending(fate=Fate.HELD_BACK, entry=self.reservation.run.number)

    def spend(self) -> None:
        """Make it durable that noise is about to be drawn."""
        self.receipt = self.ledger.begin_draw(self.reservation)
        self.spent()
