"""`dpql keys`: Ed25519 keys, and whose signatures count."""

from __future__ import annotations

import click

from dpql.cli.commands.keys import new, show, trust
from dpql.cli.ui.help_text import examples


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


for _module in (new, show, trust):
    command.add_command(_module.command)
