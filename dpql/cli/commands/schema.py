"""`dpql schema`: the JSON Schema of a spec, a plan or a report."""

from __future__ import annotations

import click

from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.exit_codes import CommandFault
from dpql.cli.ui.help_text import examples


@click.command(
    name="schema",
    epilog=examples(
        "dpql schema spec > spec.v1.schema.json",
    ),
)
@click.argument("kind", type=click.Choice(["spec", "plan", "report"]))
@click.option(
    "--format",
    "form",
    type=click.Choice(["json"]),
    default="json",
    help="A schema is JSON, whether this is given or not.",
)
def command(*, kind: str, form: str) -> int:
    """Print the JSON Schema (2020-12) of a spec, a plan or a report."""
    from dpql.resources import schemas

    del form
    path = schemas().get(kind)
    if path is None:
        raise CommandFault.of("DPQL803", f"this installation has no schema of a {kind}")
    console.write(path.read_text("utf-8"))
    return exit_codes.OK
