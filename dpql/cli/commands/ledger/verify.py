"""`dpql ledger verify`: the chain, and the releases that it must know."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpql.cli.commands.ledger.account_view import show_accounts
from dpql.cli.inputs.keys import TRUST
from dpql.cli.inputs.options import FORMAT, LEDGER
from dpql.cli.ui import console, exit_codes
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.ledger import Head


@click.command(name="verify")
@click.argument("dataset", required=False)
@click.option(
    "--against",
    multiple=True,
    type=click.Path(),
    help="A published release whose entry must be in the chain.",
)
@TRUST
@LEDGER
@FORMAT
def command(
    *,
    dataset: str | None,
    against: tuple[str, ...],
    trust: Path,
    location: str,
    form: str,
) -> int:
    """Check the whole chain, and published releases against it.

    Besides those of --against, these are the releases in releases/, here and beside
    the ledger, that a key of the trust file has signed.
    """
    from dpql.cli.inputs.releases import heads_beside
    from dpql.ledger import open_ledger

    ledger = open_ledger(location)
    given = _heads(against, dataset)
    known = [*given, *heads_beside(location, trust)]
    names = {dataset} if dataset else {*ledger.datasets(), *(h.dataset for h in given)}
    accounts = [ledger.verify(name, known) for name in sorted(names)]
    if form == "json":
        return show_accounts(accounts, form)
    for account in accounts:
        console.write(
            f" ok  {shown(account.dataset)}   {_entries(account.seq)}, "
            f"head {account.head[:16]}\n"
        )
    return exit_codes.OK


def _entries(number: int) -> str:
    return f"{number} entry" if number == 1 else f"{number} entries"


def _heads(paths: tuple[str, ...], dataset: str | None) -> list[Head]:
    from dpql.cli.inputs.releases import head_of

    heads = [head_of(path) for path in paths]
    for path, head in zip(paths, heads, strict=True):
        if dataset not in (None, head.dataset):
            name, other = shown(path, limit=400), shown(head.dataset)
            raise click.UsageError(
                f"`{name}` is a release of `{other}`, not of `{shown(dataset)}`"
            )
    return heads
