"""`dpql schema`: the JSON Schema of a spec, a plan or a report."""

from __future__ import annotations

import click

from dpql.cli import console, statuses
from dpql.cli.statuses import CommandFault
from dpql.cli.wording import examples


@click.command(
    name="schema",
    epilog=examples(
        "dpql schema spec > spec.v1.schema.json",
    ),
)
@click.argument("kind", type=click.Choice(["spec", "plan", "report"]))
def command(*, kind: str) -> int:
    """Print the JSON Schema (2020-12) of a spec, a plan or a report."""
    from dpql.resources import schemas

    path = schemas().get(kind)
    if path is None:
        raise CommandFault.of("DPQL803", f"this installation has no schema of a {kind}")
    console.tell(path.read_text("utf-8"))
    return statuses.FINE
