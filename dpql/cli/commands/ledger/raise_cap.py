"""`dpql ledger raise-cap`: more may be spent."""

from __future__ import annotations

from fractions import Fraction

import click

from dpql.cli.commands.ledger.account_view import show_accounts
from dpql.cli.inputs.options import EXACT, FORMAT, LEDGER


@click.command(name="raise-cap")
@click.argument("dataset")
@click.option("--epsilon", type=EXACT, required=True, help="The new cap.")
@click.option(
    "--independent",
    is_flag=True,
    help="No released answer had a part in this; the entry says so.",
)
@LEDGER
@FORMAT
def command(
    *, dataset: str, epsilon: Fraction, independent: bool, location: str, form: str
) -> int:
    """Allow more to be spent on DATASET; the entry stays in the chain for good."""
    from dpql.ledger import open_ledger

    ledger = open_ledger(location)
    account = ledger.raise_cap(dataset, epsilon, independent=independent)
    return show_accounts([account], form)
