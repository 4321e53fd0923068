"""The approvals that a run takes along: those named, and those beside the plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from dpql.cli.inputs import files
from dpql.cli.ui import console
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.model.plan import Plan
    from dpql.reports.trust import Trust

_LIMIT = 1 << 20
"""Bytes of the largest approval that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """Finds the approvals of a plan.

    ``required`` says that the run needs them. Where none is needed, one beside the
    plan that does not hold is left out; one that somebody named never is.
    """

    plan: Plan
    dataset: str
    trust: Trust | None
    day: date
    required: bool

    def collect(self, path: Path, named: tuple[Path, ...]) -> tuple[bytes, ...]:
        """Return the named approvals, and those beside the plan at ``path``."""
        found = [files.contents(each, limit=_LIMIT) for each in named]
        for each in sorted(path.parent.glob(f"{files.stem(path)}.approval.*.json")):
            approval = files.contents(each, limit=_LIMIT)
            if approval in found:
                continue
            reason = self._unfit(approval)
            if reason is None:
                found.append(approval)
            else:
                name = shown(each.name, limit=400)
                console.note(f" left out     {name}: {reason}\n")
        return tuple(found)

    def _unfit(self, approval: bytes) -> str | None:
        """Return why an approval beside the plan is left out, None if it is taken."""
        from dpql.errors import VerifyFault
        from dpql.reports.approval import dataset_of, verify_approvals
        from dpql.reports.trust import Trust

        other = dataset_of(approval)
        if other not in (None, self.dataset):
            return f"it is for {shown(other)}"
        if self.required:
            return None
        known = self.trust or Trust(())
        try:
            verify_approvals(
                [approval], self.plan, known, day=self.day, dataset=self.dataset
            )
        except VerifyFault as fault:
            return fault.diagnostics[0].message
        return None
