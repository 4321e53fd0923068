"""How well data fit a plan, for their owner, before anything is spent.

What is found here is exact and about rows: it is not private, it is no part of a
release, and nothing calls it but the owner's own command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpql.curator.engines import engine_named
from dpql.curator.preflight.cells import ColumnFit, column_fits
from dpql.curator.preflight.contributions import StatisticFit, statistic_fits
from dpql.curator.preflight.keys import KeysFit, keys_fits
from dpql.curator.sources import open_source
from dpql.curator.sources.locate import refuse_special_file
from dpql.curator.wall import behind_wall
from dpql.forks import note_use, refuse_forked
from dpql.model.plan import Plan

__all__ = ["ColumnFit", "KeysFit", "Preflight", "StatisticFit", "preflight"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """Exact facts about data: for their owner, never for a release."""

    rows: int
    columns: tuple[ColumnFit, ...]
    keys: tuple[KeysFit, ...]
    statistics: tuple[StatisticFit, ...]


def preflight(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    engine: str = "polars",
    progress: Callable[[], None] | None = None,
) -> Preflight:
    """Return how well the data of a plan's source fit it; nothing is debited.

    Raises:
        RunFault: the data cannot be opened or read (5xx).
    """
    refuse_forked()
    data = plan.spec.data
    frame = frames[data.source]
    refuse_special_file(frame, data)
    module = engine_named(engine)
    assert module is not None
    note_use()

    def rows() -> int:
        return open_source(frame, data).row_count()

    def sums(program: Any, salt: bytes) -> Any:
        source = module.open_source(frame, data)
        return module.sums(program, source, salt=salt, tick=progress)

    def key_counts(program: Any, salt: bytes) -> Any:
        source = module.open_source(frame, data)
        return module.key_counts(program, source, salt=salt, tick=progress)

    counted = behind_wall(rows)
    columns = behind_wall(lambda: column_fits(plan, frame))
    keys, shown = behind_wall(lambda: keys_fits(plan, key_counts))
    return Preflight(
        rows=counted,
        columns=columns,
        keys=keys,
        statistics=behind_wall(lambda: statistic_fits(plan, sums, counted, shown)),
    )
