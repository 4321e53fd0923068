"""`dpql check`: every fault of a spec, without data."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dpql.cli import console, faults, files, statuses
from dpql.cli.wording import examples
from dpql.diagnostics import shown
from dpql.errors import Diagnostic, DpqlError


@click.command(
    name="check",
    epilog=examples(
        "dpql check specs",
        "dpql check specs/district_wages.yaml --format github",
    ),
)
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "concise", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="How the faults are written.",
)
def command(*, paths: tuple[Path, ...], form: str) -> int:
    """Find every fault of the specs at PATH, without data.

    A folder stands for the specs inside it. A spec without fault has been planned
    too, so its budget holds. The exit code is 1 when there is any fault.
    """
    results = [(path, *_faults(path)) for path in files.specs_in(paths)]
    found = [fault for _, _, each in results for fault in each]
    if form == "json":
        console.tell_json(
            {
                "specs": [
                    {"path": str(path), "plan": digest} for path, digest, _ in results
                ],
                "diagnostics": faults.as_json(found),
            }
        )
    elif form == "sarif":
        console.tell_json(faults.as_sarif(found))
    elif form != "text":
        console.tell(faults.LINES[form](found) if found else "")
    else:
        _tell_text(results)
    return statuses.AT_FAULT if found else statuses.FINE


def _faults(path: Path) -> tuple[str | None, tuple[Diagnostic, ...]]:
    from dpql import api

    try:
        return api.plan(api.load(path)).digest, ()
    except DpqlError as error:
        if statuses.status_of(error) != statuses.AT_FAULT:
            raise
        return None, error.diagnostics


def _tell_text(
    results: list[tuple[Path, str | None, tuple[Diagnostic, ...]]],
) -> None:
    for path, digest, found in results:
        if digest is not None:
            mark = console.styled("ok", fg="green")
            console.tell(f"{mark}  {shown(str(path), limit=400)}   plan {digest[:8]}\n")
        else:
            console.tell(faults.as_text(found, sys.stdout) + "\n\n")
    if len(results) > 1:
        at_fault = sum(digest is None for _, digest, _ in results)
        console.tell(f"{len(results)} specs, {at_fault or 'none'} at fault\n")
