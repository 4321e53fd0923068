"""`dpql keys trust`: add a key to the trust file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.keys import TRUST, public_key
from dpql.cli.inputs.options import DAY, FORMAT
from dpql.cli.ui import console, exit_codes

_ROLES = {"release": ("dpql-release",), "plan": ("dpql-plan",)}
_LIMIT = 1 << 20


@click.command(name="trust")
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
def command(
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
