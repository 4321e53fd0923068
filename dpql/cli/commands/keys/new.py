"""`dpql keys new`: make a key pair."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dpql.cli.inputs.keys import PASSPHRASE, asked, key_path, passphrase_in
from dpql.cli.inputs.options import FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.diagnostics import shown


@click.command(name="new")
@click.argument("name")
@PASSPHRASE
@click.option("--no-passphrase", is_flag=True, help="Leave the key file plain.")
@FORMAT
def command(
    *, name: str, passphrase_file: Path | None, no_passphrase: bool, form: str
) -> int:
    """Make a key pair; the private half is for its owner only."""
    from dpql.reports.keys import new_key

    if no_passphrase and passphrase_file:
        raise click.UsageError("choose --passphrase-file or --no-passphrase")
    passphrase = passphrase_in(passphrase_file)
    if passphrase is None and not no_passphrase:
        if not console.is_terminal(sys.stdin):
            raise click.UsageError("give --passphrase-file FILE, or --no-passphrase")
        passphrase = asked("passphrase", twice=True)
    if passphrase == b"":
        raise click.UsageError(
            "the passphrase is empty; --no-passphrase says so openly"
        )
    path = key_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    public = new_key(path, passphrase)
    if form == "json":
        console.write_json({"fingerprint": public.fingerprint, "path": str(path)})
    else:
        console.write(f"{public.fingerprint}   {shown(str(path), limit=400)}\n")
    return exit_codes.OK
