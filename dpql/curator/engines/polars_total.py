"""The polars engine for any file: rows that polars cannot read are read by Arrow.

polars fails as a whole on one text that is no UTF-8. Nothing is drawn before all rows
are added up, so adding them up a second time costs time and nothing else.
"""

from __future__ import annotations

from dpql.curator.engines import Sums, Tick, polars_engine
from dpql.curator.engines.polars_source import Source
from dpql.model.plan import Plan
from dpql.model.spec import Data


def open_frame(frame: object, data: Data) -> Source:
    """Return the rows as a source; refuse what cannot hold the declared columns."""
    return polars_engine.open_frame(frame, data)


def add_up(plan: Plan, opened: Source, *, salt: bytes, tick: Tick | None) -> Sums:
    """Return the moments of every step, exactly, for every declared cell."""
    return opened.attempt(
        lambda source: polars_engine.add_up(plan, source, salt=salt, tick=tick)
    )
