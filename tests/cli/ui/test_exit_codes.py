"""Each kind of fault has its exit code."""

from __future__ import annotations

import pytest

from dpql.cli.ui import exit_codes
from dpql.cli.ui.exit_codes import CommandFault, Interrupted, UsageFault
from dpql.errors import (
    DpqlError,
    InternalFault,
    LedgerFault,
    PlanFault,
    RunFault,
    SpecError,
    VerifyFault,
)

CODES = {
    SpecError: 1,
    PlanFault: 1,
    CommandFault: 1,
    UsageFault: 2,
    LedgerFault: 3,
    VerifyFault: 4,
    RunFault: 5,
    InternalFault: 70,
    Interrupted: 130,
}


@pytest.mark.parametrize(("kind", "expected"), CODES.items())
def test_kinds_of_faults_have_exit_codes(kind: type[DpqlError], expected: int) -> None:
    """Scripts tell faults apart without reading a message."""
    assert expected == exit_codes.exit_code_of(kind.of("DPQL900", "wrong"))
