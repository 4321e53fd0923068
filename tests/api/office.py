"""An owner's office for tests: data, a ledger, a plan, and the runs of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from reports.sample_releases import DAY, STEWARD, TRUST

from dpql.api.execute import Executed, execute
from dpql.api.listener import SILENT, Ending, RunListener, Stage
from dpql.api.run_request import RunRequest
from dpql.api.verification import verify_release
from dpql.errors import DpqlError
from dpql.ledger import Ledger, State, open_ledger
from dpql.ledger.witness import user_folder
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours
from dpql.reports.verify import Verified

DATASET = "wages-2025"
CANARY = "secret-3f9a61c2"
COUNT = 7_919


@dataclass
class Office:
    """A folder with data, a ledger and a plan, and what an owner does there."""

    folder: Path
    plan: Plan
    approvals: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        rows = ["a"] * 3_000 + [CANARY] * (COUNT - 3_001) + [None]
        self.data = self.folder / "rows.parquet"
        pl.DataFrame({"region": rows, "note": [CANARY] * COUNT}).write_parquet(
            self.data
        )
        self.ledger: Ledger = open_ledger(self.location, create=True)
        self.open()

    @property
    def location(self) -> str:
        """The path of the ledger."""
        return str(self.folder / "ledger.db")

    @property
    def releases(self) -> Path:
        """The folder of all releases."""
        return self.folder / "releases"

    def open(self, approvals: int = 0, name: str = DATASET) -> None:
        """Open a dataset."""
        self.ledger.open_account(
            name,
            cap=Fraction(3),
            unit=None,
            neighbours=Neighbours.ADD_REMOVE,
            approvals=approvals,
        )

    def run(
        self, name: str = "one", listener: RunListener = SILENT, **options: Any
    ) -> Executed:
        """Run the plan once."""
        given: dict[str, Any] = {
            "plan": self.plan,
            "ledger": self.ledger,
            "dataset": DATASET,
            "signers": (STEWARD,),
            "day": DAY,
            "folder": self.releases / name,
            "frames": {"rows": str(self.data)},
            **options,
        }
        return execute(RunRequest(**given), listener)

    def forget(self) -> None:
        """Lose the witness beside the ledger, and what the user remembers of it."""
        Path(f"{self.location}.witness").unlink()
        for path in (user_folder() or self.folder).glob("*.json"):
            path.unlink()

    def states(self, name: str = DATASET) -> list[State]:
        """Return the states of all runs, as another process would see them."""
        return [run.state for run in open_ledger(self.location).account(name).runs]

    def verify(self, name: str = "one") -> Verified:
        """Verify a release folder against the ledger."""
        return verify_release(self.releases / name, TRUST, ledger=self.ledger)


class RememberingListener(RunListener):
    """Remembers everything that it hears."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.stages: list[Stage] = []
        self.endings: list[Ending] = []

    def reserved(self, number: int) -> None:
        """Remember the number of the reservation."""
        self.numbers.append(number)

    def entered(self, stage: Stage) -> None:
        """Remember the stage."""
        self.stages.append(stage)

    def ended(self, ending: Ending) -> None:
        """Remember what became of the debit."""
        self.endings.append(ending)


def code_of(attempt: Callable[[], object]) -> str:
    """Return the code with which an attempt is refused."""
    with pytest.raises(DpqlError) as refusal:
        attempt()
    return refusal.value.diagnostics[0].code
