"""Caveats: what the budget does not cover, as the ledger record of a release shows."""

from __future__ import annotations

from dpql.model.release import Outcome, Release
from dpql.reports.predicate import (
    FIRST_FORMAT,
    MEMORY,
    SHARED,
    LedgerRecord,
)

UNCOUNTED = "runs were not counted: there was no ledger to count them in"

_UNDEBITED = "no budget was debited: the release was made without a ledger"
_SHARED = (
    "the owner gave these data more than one budget: what is spent on them is the sum "
    "of all"
)
_MEMORY = (
    "the data came from memory, so the ledger cannot tell whether they have another "
    "budget"
)


def caveats(
    outcome: Outcome, ledger: LedgerRecord | None, format_: int
) -> tuple[str, ...]:
    """Return what a reader must know of the budget; format 1 has no caveats.

    A rehearsal protects nobody, and its type says so.
    """
    if format_ == FIRST_FORMAT or not isinstance(outcome, Release):
        return ()
    if ledger is None:
        return _UNDEBITED, UNCOUNTED
    return {SHARED: (_SHARED,), MEMORY: (_MEMORY,)}.get(ledger.data, ())
