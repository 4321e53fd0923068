"""`dpql ledger show`: budgets with all their runs."""

from __future__ import annotations

import click

from dpql.cli.commands.ledger.account_view import show_accounts
from dpql.cli.inputs.options import FORMAT, LEDGER


@click.command(name="show")
@click.argument("dataset", required=False)
@LEDGER
@FORMAT
def command(*, dataset: str | None, location: str, form: str) -> int:
    """Show the budget of DATASET, or of all, with every run."""
    from dpql.ledger import open_ledger

    ledger = open_ledger(location)
    names = (dataset,) if dataset else ledger.datasets()
    return show_accounts([ledger.account(name) for name in names], form)
