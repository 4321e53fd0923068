"""`dpql ledger bind`: where the data of a dataset are."""

from __future__ import annotations

import click

from dpql.cli.commands.ledger.account_view import show_accounts
from dpql.cli.inputs.options import FORMAT, LEDGER


@click.command(name="bind")
@click.argument("dataset")
@click.option("--data", metavar="URI", required=True, help="Where the data are now.")
@click.option(
    "--shared",
    is_flag=True,
    help="Give data that another dataset has a second budget; releases say so.",
)
@LEDGER
@FORMAT
def command(*, dataset: str, data: str, shared: bool, location: str, form: str) -> int:
    """Say where the data of DATASET are, when they have moved or a new file came.

    The first run on DATASET binds its data by itself. The budget stays as it is: what
    was spent stays spent. No other dataset may use the old location, and the entry
    stays in the chain for good. A folder or a pattern covers all its files.
    """
    from dpql.api.data_identity import data_identity
    from dpql.ledger import open_ledger

    identity = str(data_identity(data, dataset))
    account = open_ledger(location).bind(dataset, identity, shared=shared)
    return show_accounts([account], form)
