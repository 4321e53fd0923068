"""`dpql check`: every fault of a spec, without data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from dpql.cli.inputs import files
from dpql.cli.ui import console, exit_codes, faults
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown
from dpql.errors import Diagnostic, DpqlError

_OPEN = frozenset({"DPQL201", "DPQL214"})
"""What a spec lacks that is well written as far as it goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What was found in a spec: faults, or a plan and notes on it.

    A dataset file has a ``summary`` in place of a plan.
    """

    path: Path
    digest: str | None = None
    summary: str | None = None
    faults: tuple[Diagnostic, ...] = ()
    notes: list[str] = field(default_factory=list)


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

    A folder stands for the specs inside it. A spec without faults is planned too, so
    its budget is checked. The exit code is 1 if there is any fault; notes are not
    faults.
    """
    results = [_checked(path) for path in files.specs_in(paths, datasets=True)]
    found = [fault for result in results for fault in result.faults]
    if form == "json":
        console.write_json(
            {
                "specs": [
                    {"path": str(one.path), "plan": one.digest, "notes": one.notes}
                    for one in results
                ],
                "diagnostics": faults.as_json(found),
            }
        )
    elif form == "sarif":
        console.write_json(faults.as_sarif(found))
    elif form != "text":
        console.write(faults.LINES[form](found) if found else "")
    else:
        _tell_text(results)
    return exit_codes.INPUT_FAULT if found else exit_codes.OK


def _checked(path: Path) -> _Result:
    from dpql import api
    from dpql.review.cautions import cautions

    try:
        if files.is_dataset_file(path):
            return _Result(path=path, summary=_declared(path))
        plan = api.plan(api.load(path))
    except DpqlError as error:
        if exit_codes.exit_code_of(error) != exit_codes.INPUT_FAULT:
            raise
        return _Result(path=path, faults=error.diagnostics)
    return _Result(path=path, digest=plan.digest, notes=cautions(plan))


def _declared(path: Path) -> str:
    """Return what a dataset file declares, in a few words."""
    from dpql.language.dataset import load_dataset
    from dpql.model.figures import equal_to

    found = load_dataset(path)
    unit = found.spec.privacy.unit or "row"
    cap = "" if found.cap is None else f", cap ε {equal_to(found.cap)}"
    columns = len(found.spec.data.columns)
    return f"dataset {found.name}: {columns} columns, protects {shown(unit)}{cap}"


def _tell_text(results: Sequence[_Result]) -> None:
    for one in results:
        if one.faults:
            unfinished = all(fault.code in _OPEN for fault in one.faults)
            text = (
                faults.as_todo(one.faults)
                if unfinished and len(one.faults) > 1
                else faults.as_text(one.faults, sys.stdout)
            )
            console.write(text + "\n\n")
            continue
        mark, name = console.styled("ok", fg="green"), shown(str(one.path), limit=400)
        about = one.summary or f"plan {(one.digest or '')[:8]}"
        console.write(f"{mark}  {name}   {about}\n")
        for note in one.notes:
            console.write(f"    {console.styled('note', fg='yellow')}  {note}\n")
    if len(results) > 1:
        at_fault = sum(bool(one.faults) for one in results)
        of = "files" if any(one.summary for one in results) else "specs"
        console.write(f"{len(results)} {of}, {at_fault or 'none'} at fault\n")
