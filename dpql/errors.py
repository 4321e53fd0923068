"""Faults: where they are, and what they say.

Every refusal of dpql is a `DpqlError` that carries one or more `Diagnostic`s.
A diagnostic has a code that is never reused, a message, a source span when there is
one, and a hint that says what to write instead. What each code means stands in
`dpql.manual`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text; lines and columns count from 1, the end is open.

    ``first_line`` is the text of that line, so that a fault can be shown without
    reading the file a second time.
    """

    source: str
    line: int
    column: int
    end_line: int
    end_column: int
    first_line: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault: code, message, source span, hint."""

    code: str
    message: str
    span: Span | None = None
    hint: str | None = None


class DpqlError(Exception):
    """The only kind of exception that leaves a public verb.

    Attributes:
        diagnostics: every fault found, in the order of the text.
    """

    family: ClassVar[str] = ""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code} {d.message}" for d in self.diagnostics))

    @classmethod
    def of(
        cls,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        span: Span | None = None,
    ) -> Self:
        """Make an error of one diagnostic."""
        return cls([Diagnostic(code, message, span, hint)])


class SpecError(DpqlError):
    """The text of a spec is at fault: syntax (1xx), shape (2xx) or meaning (3xx)."""


class PlanFault(DpqlError):
    """A spec that reads well cannot be planned as it stands (4xx)."""


class RunFault(DpqlError):
    """Data do not fit the plan (5xx): names and dtypes only, never a value."""


class VerifyFault(DpqlError):
    """A report, approval or key cannot be trusted (6xx)."""


class LedgerFault(DpqlError):
    """The ledger refuses (7xx)."""


class InternalFault(DpqlError):
    """A bug in dpql (9xx): something proved impossible has happened."""
