"""Whether the plans checked in beside the specs are what the specs compile to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from dpql.diagnostics import shown
from dpql.errors import Diagnostic, DpqlError
from dpql.model.spec import Spec
from dpql.planner.compiler import plan

Load = Callable[[Path], Spec]


def plan_path(spec: Path) -> Path:
    """Return where the plan of a spec is kept."""
    return spec.with_suffix(".plan.json")


def stale(specs: Iterable[Path], load: Load) -> tuple[Diagnostic, ...]:
    """Return a fault for every spec that does not compile to the plan beside it."""
    return tuple(fault for spec in specs for fault in _stale(spec, load))


def _stale(spec: Path, load: Load) -> tuple[Diagnostic, ...]:
    try:
        expected = plan(load(spec)).to_json()
    except DpqlError as error:
        return error.diagnostics
    path = plan_path(spec)
    if path.is_file() and path.read_bytes() == expected:
        return ()
    kind = "stale" if path.is_file() else "missing"
    return (
        Diagnostic(
            "DPQL405",
            f"the plan of `{shown(spec.name)}` is {kind}",
            hint=f"write `{shown(path.name)}` anew and review the difference",
        ),
    )
