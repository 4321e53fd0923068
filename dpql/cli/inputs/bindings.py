"""What the names of sources are bound to: by --data, else by `dpql.toml`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpql.cli.inputs.project import FILE_NAME, current_project
from dpql.cli.ui.exit_codes import UsageFault
from dpql.diagnostics import shown
from dpql.errors import Diagnostic, RunFault

if TYPE_CHECKING:
    from dpql.model.plan import Plan

DATA = click.option(
    "--data",
    "bindings",
    metavar="NAME=URI",
    multiple=True,
    help="The file, glob or URL of the data that the plan reads.",
)

_NO_FILE = "DPQL501"
_PATTERN = frozenset("*?[")


def bound_data(bindings: tuple[str, ...], plan: Plan) -> dict[str, object]:
    """Return where the data of a plan's source are.

    Raises:
        UsageFault: nobody has said it, or something else was bound (DPQL812, DPQL814).
    """
    found: dict[str, object] = {}
    for binding in bindings:
        name, equals, location = binding.partition("=")
        if not (equals and name and location) or name in found:
            raise click.UsageError("write --data NAME=URI, each name once")
        found[name] = location
    source = plan.spec.data.source
    if not bindings:
        project = current_project()
        known = project.data if project else {}
        if source in known:
            return {source: known[source]}
        raise UsageFault.of(
            "DPQL812",
            f"nobody has said where the data of `{shown(source)}` are",
            hint=f"give `--data {shown(source)}=FILE`, or write "
            f'`{shown(source)} = "FILE"` below `[data]` in {FILE_NAME}',
        )
    if set(found) != {source}:
        raise click.UsageError(
            f"the plan reads `{shown(source)}`; bind the data: --data {source}=FILE"
        )
    return found


def with_spark(location: str, url: str | None) -> str:
    """Return a table of Spark with the URL of its server or master, if it has none."""
    if not location.startswith("spark:") or url is None:
        return location
    from dpql.curator.sources.spark import with_url

    return with_url(location, url)


def with_location(fault: RunFault, frames: dict[str, object]) -> RunFault:
    """Return a fault of missing data with the location that was typed.

    Locations on other machines are not repeated: they may hold a password.
    """
    (location,) = (str(frame) for frame in frames.values())
    if "://" in location or location.startswith("spark:"):
        return fault
    return RunFault(_located(each, location) for each in fault.diagnostics)


def _located(fault: Diagnostic, location: str) -> Diagnostic:
    if fault.code != _NO_FILE:
        return fault
    typed = shown(location, limit=400)
    if _PATTERN.intersection(location):
        why = f"no file has a name like `{typed}`"
    elif Path(location).exists():
        why = f"nothing can be read from `{typed}`"
    else:
        why = f"there is no file `{typed}`"
    return replace(fault, message=f"{fault.message}: {why}")
