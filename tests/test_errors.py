"""An error carries every fault that was found."""

from __future__ import annotations

from dpql.errors import Diagnostic, DpqlError, Span, SpecError


def test_an_error_reads_as_its_faults() -> None:
    """Codes and messages, without spans and hints."""
    faults = (Diagnostic("DPQL101", "one"), Diagnostic("DPQL102", "two", hint="x"))
    assert "DPQL101 one; DPQL102 two" == str(DpqlError(iter(faults)))
    assert faults == DpqlError(faults).diagnostics


def test_an_error_of_one_fault() -> None:
    """It is of the class that was asked for, with span and hint."""
    span = Span("spec.yaml", 1, 2, 1, 3)
    made = SpecError.of("DPQL101", "one", hint="two", span=span)
    assert isinstance(made, SpecError)
    assert (Diagnostic("DPQL101", "one", span, "two"),) == made.diagnostics
