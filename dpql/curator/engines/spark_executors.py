"""What executors of Spark need to run the polars engine, looked at before any row."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import polars as pl
import pyarrow as pa

import dpql
from dpql.errors import RunFault

_NAMES = ("Python", "dpql", "polars", "pyarrow")
_TASKS = 8
"""Tasks that look, so that several executors answer."""


def require_executors(session: Any, source: str) -> None:
    """Refuse executors that lack dpql, or have another version of it or of Python.

    Raises:
        RunFault: DPQL512.
    """

    def look(batches: Iterator[Any]) -> Iterator[Any]:
        # It travels by value: an executor without dpql must be able to run it.
        import sys

        import pyarrow as pa

        found = ["{}.{}".format(*sys.version_info[:2]), "", "", pa.__version__]
        with suppress(ImportError):
            import dpql

            found[1] = dpql.__version__
            import polars as pl

            found[2] = pl.__version__
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"versions": [" ".join(found)]})

    try:
        tasks = session.range(0, _TASKS, 1, _TASKS)
        rows = tasks.mapInArrow(look, "versions string").collect()
    except Exception:  # noqa: BLE001  no Python there, or another one: Spark says which
        raise _unable(source, "they cannot run this Python with pyarrow") from None
    for (line,) in rows:
        why = difference(line, stated())
        if why is not None:
            raise _unable(source, why)


def stated() -> str:
    """Return the versions here: of Python, dpql, polars and pyarrow."""
    python = "{}.{}".format(*sys.version_info[:2])
    return f"{python} {dpql.__version__} {pl.__version__} {pa.__version__}"


def difference(there: str, here: str) -> str | None:
    """Return how the versions of an executor differ from those here, if they matter."""
    versions = zip(_NAMES, there.split(" "), here.split(" "), strict=True)
    for name, theirs, ours in versions:
        if not theirs:
            return f"{name} is missing there"
        if name in ("Python", "dpql", "polars") and theirs != ours:
            return f"{name} is {theirs} there and {ours} here"
    return None


def _unable(source: str, why: str) -> RunFault:
    return RunFault.of(
        "DPQL512",
        f"the executors of Spark cannot sum the data of `{source}`: {why}",
        hint="install the same Python, dpql, polars and pyarrow on all of them, and "
        "point PYSPARK_PYTHON there",
    )
