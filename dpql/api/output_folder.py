"""Where the folder of a release is written; checked before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpql.reports.folder import refuse_unwritable
from dpql.reports.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFolder:
    """A named folder, a folder that gets a name ``within`` another, or none."""

    folder: Path | None = None
    within: Path | None = None

    def neighbourhood(self) -> list[Path]:
        """Return where other releases may lie beside this one."""
        return [self.folder.parent] if self.folder else []

    def refuse_unwritable(self) -> None:
        """Refuse a folder that a new release cannot be written to (DPQL630)."""
        if self.folder is not None:
            refuse_unwritable(self.folder, numbered=False)
        elif self.within is not None:
            refuse_unwritable(self.within / "release", numbered=True)

    def write(self, report: Report) -> tuple[Path | None, tuple[str, ...]]:
        """Write or mend the folder; return it, and the files that were mended."""
        if self.folder is not None:
            return self.folder, report.write(self.folder)
        return (None, ()) if self.within is None else report.write_in(self.within)
