"""Whether the plans checked in beside the specs are what the specs compile to.

Run ``python -m dpql.planner.check DIRECTORY`` to check, with ``--write`` to write them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from dpql.diagnostics import render_concise, shown
from dpql.errors import Diagnostic, DpqlError
from dpql.model.spec import Spec
from dpql.planner.compiler import plan

Load = Callable[[Path], Spec]
SUFFIXES = (".yaml", ".dpql")


def plan_path(spec: Path) -> Path:
    """Return where the plan of a spec is kept."""
    return spec.with_suffix(".plan.json")


def specs_in(directory: Path) -> list[Path]:
    """Return the specs of a directory, sorted."""
    return sorted(path for path in directory.iterdir() if path.suffix in SUFFIXES)


def stale(specs: Iterable[Path], load: Load) -> tuple[Diagnostic, ...]:
    """Return a fault for every spec that does not compile to the plan beside it."""
    return tuple(fault for spec in specs for fault in _stale(spec, load))


def write(specs: Iterable[Path], load: Load) -> None:
    """Write the plan of every spec beside it.

    Raises:
        DpqlError: a spec cannot be read or planned.
    """
    for spec in specs:
        plan_path(spec).write_bytes(plan(load(spec)).to_json())


def main(arguments: list[str]) -> int:
    """Check or write the plans of the directories named; return the exit status."""
    # Planner and language never import one another; only this entry point, which
    # stands where a command would, brings them together.
    load: Load = import_module("dpql.language").load
    writing = "--write" in arguments
    names = [name for name in arguments if not name.startswith("-")]
    specs = [spec for name in names for spec in specs_in(Path(name))]
    if writing:
        write(specs, load)
    faults = stale(specs, load)
    if faults:
        sys.stderr.write(render_concise(faults) + "\n")
    return 1 if faults else 0


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


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
