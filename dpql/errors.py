"""Faults: where they are, what they say, and how they are shown.

Every refusal of dpql is a `DpqlError` that carries one or more `Diagnostic`s.
A diagnostic has a code that is never reused, a message, a place when there is one,
and a hint that says what to write instead. `CODES` is the table of all codes; the
reference page docs/reference/errors.md is generated from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text; lines and columns count from 1, the end is open.

    ``excerpt`` is the first line of the stretch, so that a fault can be shown without
    reading the file a second time.
    """

    source: str
    line: int
    column: int
    end_line: int
    end_column: int
    excerpt: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault: code, message, place, hint."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What the manual says of a code: title, cause, a wrong and a right example."""

    title: str
    cause: str
    wrong: str = ""
    right: str = ""


CODES: dict[str, Code] = {
    "DPQL410": Code(
        title="the accuracy target is not positive or is beyond the grid",
        cause=(
            "A target must exceed the error that rounding values to the grid makes "
            "before any noise is drawn."
        ),
        wrong="spend: {accuracy: 0}",
        right="spend: {accuracy: 60}",
    ),
    "DPQL411": Code(
        title="the accuracy target is vacuous",
        cause=(
            "The target is at least as wide as the statistic's public range: any "
            "constant inside the range meets it without a look at the data. Nothing "
            "should be spent on it."
        ),
        wrong="spend: {accuracy: 1_000_000}",
        right="spend: {accuracy: 60}",
    ),
    "DPQL412": Code(
        title="the accuracy target needs more epsilon than any release may spend",
        cause="Reaching the target would take an epsilon above the ceiling of 1000.",
        wrong="spend: {accuracy: 1e-9}",
        right="spend: {accuracy: 0.5}",
    ),
    "DPQL414": Code(
        title="the parameters of a noise do not agree with one another",
        cause=(
            "A plan states every parameter of its noise; some follow from others. "
            "These do not, so the plan was edited or damaged."
        ),
        wrong='"theta": "1/2", "epsilon": "2"  (sensitivity 1)',
        right='"theta": "2", "epsilon": "2"',
    ),
    "DPQL413": Code(
        title="a privacy parameter is out of range",
        cause=(
            "epsilon must be above 0 and at most 1000, alpha strictly between 0 and "
            "1, gamma above 0 and at most 1, sensitivity above 0, and the range of a "
            "statistic must have its lower end below its upper end."
        ),
        wrong="epsilon: 0",
        right="epsilon: 1.0",
    ),
}
