"""`dpql keys show`: fingerprints and public halves of keys."""

from __future__ import annotations

import click

from dpql.cli.inputs.keys import public_key
from dpql.cli.inputs.options import FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.diagnostics import shown


@click.command(name="show")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@FORMAT
def command(*, names: tuple[str, ...], form: str) -> int:
    """Show the fingerprint and the public half of keys."""
    keys = {name: public_key(name) for name in names}
    if form == "json":
        console.write_json(
            [
                {"name": name, "fingerprint": key.fingerprint, "key": key.line}
                for name, key in keys.items()
            ]
        )
        return exit_codes.OK
    for name, key in keys.items():
        console.write(f"{key.fingerprint}   {shown(name)}\n{key.line}\n")
    return exit_codes.OK
