"""What `dpql.api.execute` is asked to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from dpql.api.output_folder import OutputFolder
from dpql.ledger import Ledger
from dpql.model.plan import Plan
from dpql.reports.keys import Signer
from dpql.reports.trust import Trust


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunRequest:
    """One run of a plan, with everything that the run needs.

    Args:
        plan: what to do.
        frames: the data of the plan's source, as `dpql.run` takes them.
        ledger: what is debited; None debits nothing and counts no run, and the report
            says so.
        dataset: the owner's name of the data, whatever the plan calls its source.
        signers: the keys that sign the report.
        day: the date of the report.
        trust: whose approvals count.
        approvals: the envelopes of reviewers who approve the plan.
        folder: where the release is written.
        within: where the release gets a folder of its own, if ``folder`` names none.
        published: folders of releases that the ledger must know, if we or somebody
            trusted signed them; so must the releases beside ``folder``.
        again: draw again, and pay again, where the plan was released before.
        engine: what aggregates the rows, a name of `dpql.curator.engines.ENGINES`;
            None is the one that follows from the data.
    """

    plan: Plan
    # No `repr` may hold rows.
    frames: Mapping[str, object] = field(repr=False)
    ledger: Ledger | None
    dataset: str
    signers: tuple[Signer, ...]
    day: date
    trust: Trust | None = None
    approvals: tuple[bytes, ...] = ()
    folder: Path | None = None
    within: Path | None = None
    published: tuple[Path, ...] = ()
    again: bool = False
    engine: str | None = None

    @property
    def output(self) -> OutputFolder:
        """Where the release is to be written."""
        return OutputFolder(folder=self.folder, within=self.within)
