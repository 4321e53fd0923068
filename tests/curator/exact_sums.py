"""The exact sums of a plan, by any engine of the table or by the slow one of the tests.

A new line of `ENGINES` is tested by every suite that asks for `TABLE`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import reference_engine

from dpql.curator.compilation import compile_program
from dpql.curator.engines import ENGINES, Sums
from dpql.model.plan import Plan

SALT = bytes(range(32))
DATABASES = ("duckdb", "postgres", "spark")
"""Engines that read tables of their own only; tests/curator/engines/sql has theirs."""

TABLE: dict[str, Any] = {
    name: import_module(path) for name, path in ENGINES.items() if name not in DATABASES
}
WITH_REFERENCE: dict[str, Any] = {**TABLE, "reference": reference_engine}


def exact_sums(
    plan: Plan, frame: object, *, salt: bytes = SALT, engine: Any = TABLE["polars"]
) -> Sums:
    """Return the sums of a frame."""
    source = engine.open_source(frame, plan.spec.data)
    program = compile_program(plan)
    return engine.sums(program, source, salt=salt, tick=None)  # type: ignore[no-any-return]


def same(plan: Plan, expected: Sums, actual: Sums) -> None:
    """Assert equality step by step, so that a difference has a name."""
    assert expected.rows == actual.rows
    for step, one, other in zip(
        plan.steps, expected.moments, actual.moments, strict=True
    ):
        assert {step.name: dict(one)} == {step.name: dict(other)}
    for step, rows, others in zip(
        plan.steps, expected.counts, actual.counts, strict=True
    ):
        assert (step.name, bool(step.picks)) == (step.name, rows is not None)
        assert (step.name, True) == (step.name, bool(np.all(rows == others)))
