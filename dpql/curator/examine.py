"""Whether data can be opened for a plan: names and types of columns, no row."""

from __future__ import annotations

from collections.abc import Mapping

from dpql.curator.engines import engine_for, engine_named
from dpql.curator.sources.locate import refuse_special_file
from dpql.curator.wall import behind_wall
from dpql.errors import RunFault
from dpql.forks import note_use, refuse_forked
from dpql.model.plan import Plan


def examine(plan: Plan, frames: Mapping[str, object], *, engine: str | None) -> None:
    """Open the data of a plan's source as a run would, and read no row of them.

    Raises:
        RunFault: there are no such data, a column is missing or of a type that cannot
            hold what is declared (5xx).
    """
    data = plan.spec.data
    frame = frames[data.source]
    refuse_special_file(frame, data)
    module = engine_named(engine or engine_for(frame))
    if module is None:
        return
    refuse_forked()
    note_use()

    def open_source() -> None:
        module.open_source(frame, data)

    try:
        behind_wall(open_source)
    except RunFault as fault:
        # What an engine says may follow from a row; the run that meets it is debited.
        if all(each.code in FREE_FAULTS for each in fault.diagnostics):
            raise


FREE_FAULTS = frozenset({*(f"DPQL50{digit}" for digit in range(10)), "DPQL511"})
"""Refusals that say nothing about rows but what is public; they cost nothing."""
