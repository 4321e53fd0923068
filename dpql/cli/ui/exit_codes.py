"""Exit codes: what a script learns from a command without reading its words."""

from __future__ import annotations

from dpql.errors import (
    DpqlError,
    InternalFault,
    LedgerFault,
    RunFault,
    VerifyFault,
)

OK = 0
INPUT_FAULT = 1
WRONG_USAGE = 2
LEDGER_REFUSED = 3
TRUST_REFUSED = 4
DATA_REFUSED = 5
BUG = 70
INTERRUPTED = 130


class CommandFault(DpqlError):
    """A command cannot do what it is asked: a file, a folder or git refuses (8xx)."""


class UsageFault(CommandFault):
    """A command was not written as it must be (81x)."""


class Interrupted(CommandFault):
    """A person has stopped the command (DPQL807)."""


_BY_KIND: tuple[tuple[type[DpqlError], int], ...] = (
    (InternalFault, BUG),
    (LedgerFault, LEDGER_REFUSED),
    (VerifyFault, TRUST_REFUSED),
    (RunFault, DATA_REFUSED),
    (UsageFault, WRONG_USAGE),
    (Interrupted, INTERRUPTED),
)


def exit_code_of(error: DpqlError) -> int:
    """Return the exit code of a fault."""
    return next(
        (code for kind, code in _BY_KIND if isinstance(error, kind)), INPUT_FAULT
    )
