"""`dpql preflight`: how well data fit a spec, for their owner's eyes only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.bindings import DATA, bound_data, with_location
from dpql.cli.inputs.options import FORMAT
from dpql.cli.inputs.project import current_project
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.exit_codes import UsageFault
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown
from dpql.errors import RunFault

_ALONE = (
    "what it says is exact and not private: look at it on a terminal, or add "
    "--not-private if nobody but the owner can read what you write"
)


@click.command(
    name="preflight",
    epilog=examples(
        "dpql preflight specs/wages.yaml",
        "dpql preflight specs/wages.yaml --data wages=data/2026.parquet",
    ),
)
@click.argument("path", metavar="SPEC", type=click.Path(path_type=Path))
@DATA
@click.option("--out", type=click.Path(path_type=Path), help="Write it to a file.")
@click.option(
    "--not-private",
    is_flag=True,
    help="Agree to write exact facts about the data elsewhere than to a terminal.",
)
@FORMAT
def command(
    *,
    path: Path,
    bindings: tuple[str, ...],
    out: Path | None,
    not_private: bool,
    form: str,
) -> int:
    """Read the data and say how well they fit SPEC. This is not private.

    It is for the owner of the data, before a run: keys that are not declared, cells
    that do not parse, nulls, values outside the bounds, ids that are missing, rows
    beyond what a unit may contribute. Nothing is debited, and no release holds any of
    it. A plan is refused: what somebody else approved is run, not examined.
    """
    if path.suffix == ".json":
        raise UsageFault.of(
            "DPQL814",
            "a preflight takes a spec, not a plan",
            hint="name the spec that the plan was made from; whatever you change in it "
            "is planned and approved anew",
        )
    if not not_private and (out is not None or not console.is_terminal(sys.stdout)):
        raise UsageFault.of(
            "DPQL814",
            "this would leave the terminal, and it is not private",
            hint=_ALONE,
        )
    from dpql.cli.commands.preflight.view import as_document, as_text
    from dpql.cli.ui.progress import stage_bar
    from dpql.curator.preflight import preflight
    from dpql.curator.wall import engines_muted

    plan = files.plan_at(path, current=True)
    project = current_project()
    if project is not None and not bindings:
        console.note(f" settings     {shown(str(project.path), limit=400)}\n")
    frames = bound_data(bindings, plan)
    with engines_muted(), stage_bar():
        try:
            found = preflight(plan, frames)
        except RunFault as fault:
            raise with_location(fault, frames) from None
    if form == "json":
        _write_document(as_document(plan, found), out)
        return exit_codes.OK
    text = as_text(plan, found)
    if out is None:
        console.write(text)
    else:
        files.save(out, text.encode("utf-8"))
    return exit_codes.OK


def _write_document(document: dict[str, Any], out: Path | None) -> None:
    if out is None:
        console.write_json(document)
        return
    import json

    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    files.save(out, text.encode("utf-8"))
