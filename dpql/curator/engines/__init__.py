"""Engines: what aggregates private rows. Adding one is a file here and a line below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dpql.curator.program import Program
from dpql.diagnostics import shown
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.model.spec import Data

ENGINES: MappingProxyType[str, str] = MappingProxyType(
    {
        "polars": "dpql.curator.engines.polars",
        "duckdb": "dpql.curator.engines.duckdb",
        "postgres": "dpql.curator.engines.postgres",
        "spark": "dpql.curator.engines.spark",
    }
)
"""Name -> module; it is imported when it is used."""

ROWS_ONLY = frozenset({"duckdb", "postgres"})
"""Engines that sum rows and bound no unit."""

Tick = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Exact integers, never shown: the rows, and per tally each moment per cell.

    ``rows`` is None where the number of rows is private. ``counts`` has, for a tally
    with a ranking, an array of rows by cell and candidate, and None for any other.
    """

    rows: int | None = field(repr=False)
    moments: tuple[Mapping[str, Sequence[int]], ...] = field(repr=False)
    counts: tuple[NDArray[np.int64] | None, ...] = field(repr=False)


NOTHING = Sums(rows=None, moments=(), counts=())
"""What there is to sum where no key was found, or nothing is grouped by any."""


class KeyCounts(Protocol):
    """Exact integers, never shown: how many units have each key that is present.

    Keys are words, in an order that follows from themselves and the salt. Each has at
    least one unit.
    """

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many units have each key."""
        ...

    def keys(self, indices: NDArray[np.int64]) -> Sequence[tuple[str, ...]]:
        """Return some keys: a word of each column."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """Exact integers, never shown: the rows, and what each search has counted.

    ``rows`` is None where the number of rows is private.
    """

    rows: int | None = field(repr=False)
    counts: tuple[KeyCounts, ...] = field(repr=False)


class Engine(Protocol):
    """What a module in the table has.

    Both functions are called behind the wall. `sums` is total: no rows whose schema
    passed `open_source` may make it fail.
    """

    def open_source(self, frame: object, data: Data) -> Any:
        """Return a handle on the rows; refuse missing columns and wrong types.

        Raises:
            RunFault: DPQL501 to DPQL504, from the schema alone, before any row.
        """
        ...

    def sums(
        self, program: Program, source: Any, *, salt: bytes, tick: Tick | None
    ) -> Sums:
        """Return the moments or counts of every tally, exactly, for every cell.

        Contributions are bounded first, as the selection says: which rows and cells of
        a unit survive depends on the salt and on that unit's own rows alone.
        """
        ...

    def key_counts(
        self, program: Program, source: Any, *, salt: bytes, tick: Tick | None
    ) -> Searched:
        """Return every key of every search of the program, and the units that have it.

        What counts of a unit depends on the salt and on that unit's own rows alone.
        Only for plans that `require_engine` lets pass.
        """
        ...


def engine_for(frame: object) -> str:
    """Return the name of the engine that reads data where nobody names one."""
    kind = type(frame[0] if isinstance(frame, tuple) and frame else frame)
    of_spark = kind.__module__.startswith("pyspark.sql.")
    if isinstance(frame, str | Path):
        of_spark = str(frame).startswith("spark:")
    return "spark" if of_spark else "polars"


def require_engine(name: str | None, plan: Plan) -> None:
    """Refuse an engine that is not there, or that cannot compute the plan.

    None is the engine that follows from the data, which computes every plan.

    Raises:
        RunFault: DPQL506 or DPQL509.
    """
    if name is None:
        return
    if name not in ENGINES:
        raise RunFault.of(
            "DPQL506",
            f"no engine is called `{shown(name)}`",
            hint=f"choose from {', '.join(ENGINES)}",
        )
    unit = plan.spec.privacy.unit
    if name in ROWS_ONLY and unit is not None:
        raise RunFault.of(
            "DPQL509",
            f"the engine `{name}` sums rows only, and this plan bounds what each "
            f"`{shown(unit)}` contributes",
            hint=f"leave `--engine {name}` out: rows are then read, and bounded here",
        )
    if name in ROWS_ONLY and any(step.search is not None for step in plan.steps):
        raise RunFault.of(
            "DPQL509",
            f"the engine `{name}` finds no keys, and those of this plan are private",
            hint=f"leave `--engine {name}` out: keys are then found here",
        )


def engine_named(name: str) -> Engine | None:
    """Return the engine of that name, if there is one."""
    module = ENGINES.get(name)
    return None if module is None else cast("Engine", import_module(module))
