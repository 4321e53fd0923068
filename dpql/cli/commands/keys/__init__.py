"""`dpql keys`: Ed25519 keys, and whose keys count for what."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from dpql.cli.inputs import files
from dpql.cli.ui import console, exit_codes
from dpql.cli.inputs.keys import (
    PASSPHRASE,
    TRUST,
    asked,
    key_path,
    passphrase_in,
    public_key,
)
from dpql.cli.inputs.options import DAY, FORMAT
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

_ROLES = {"release": ("dpql-release",), "plan": ("dpql-plan",)}
_LIMIT = 1 << 20


@click.group(
    name="keys",
    epilog=examples(
        "dpql keys new steward",
        "dpql keys show steward",
        "dpql keys trust steward steward@example.org --role release",
        "dpql keys trust officer officer@example.org --role plan --until 2027-06-01",
    ),
)
def command() -> None:
    """Make keys, show them, and say whose signatures count.

    Keys are files in keys/ (or the folder in DPQL_KEYS): NAME is private, NAME.pub
    is public. The trust file has the format of OpenSSH's allowed_signers.
    """


@command.command(name="new")
@click.argument("name")
@PASSPHRASE
@click.option("--no-passphrase", is_flag=True, help="Leave the key file plain.")
@FORMAT
def new(
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


@command.command(name="show")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@FORMAT
def show(*, names: tuple[str, ...], form: str) -> int:
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


@command.command(name="trust")
@click.argument("name")
@click.argument("principal", metavar="WHO")
@click.option(
    "--role",
    type=click.Choice([*_ROLES, "both"]),
    required=True,
    help="May sign releases, approve plans, or both.",
)
@click.option("--since", type=DAY, metavar="YYYY-MM-DD", help="First day of trust.")
@click.option("--until", type=DAY, metavar="YYYY-MM-DD", help="First day without.")
@TRUST
@FORMAT
def trust(
    *,
    name: str,
    principal: str,
    role: str,
    since: datetime | None,
    until: datetime | None,
    trust: Path,
    form: str,
) -> int:
    """Add the key NAME of WHO (steward@example.org) to the trust file."""
    from dpql.reports.trust import parse_trust, trust_line

    roles = _ROLES.get(role) or tuple(r for each in _ROLES.values() for r in each)
    key = public_key(name)
    line = trust_line(
        key,
        principal,
        roles,
        first=since.date() if since else None,
        until=until.date() if until else None,
    )
    before = (
        files.contents(trust, limit=_LIMIT).decode("utf-8") if trust.exists() else ""
    )
    after = f"{before.rstrip()}\n{line}\n".lstrip("\n")
    parse_trust(after)
    files.save(trust, after.encode("utf-8"))
    if form == "json":
        document = {"principal": principal, "roles": list(roles)}
        document |= {"fingerprint": key.fingerprint, "line": line, "path": str(trust)}
        console.write_json(document)
    else:
        console.write(f"{line}\n")
    return exit_codes.OK
