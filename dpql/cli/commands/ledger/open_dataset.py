"""`dpql ledger open`: a dataset gets a budget."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from dpql.cli.commands.ledger.account_view import show_accounts
from dpql.cli.inputs.options import EXACT, FORMAT, LEDGER

if TYPE_CHECKING:
    from dpql.ledger import Ledger


@click.command(name="open")
@click.argument("dataset")
@click.option("--epsilon", type=EXACT, required=True, help="The cap, e.g. 4 or 7/2.")
@click.option(
    "--unit",
    required=True,
    metavar="COLUMN|row",
    help="The id column that names whom the budget protects; row for each row.",
)
@click.option(
    "--neighbours",
    type=click.Choice(["add_remove", "replace_one"]),
    default="add_remove",
    show_default=True,
    help="What may differ between neighbours.",
)
@click.option(
    "--approvals",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    help="How many reviewers must have signed a plan.",
)
@click.option(
    "--data",
    metavar="URI",
    help="Where the data are; the first run says so if absent. They get no second "
    "budget under another name.",
)
@LEDGER
@FORMAT
def command(
    *,
    dataset: str,
    epsilon: Fraction,
    unit: str,
    neighbours: str,
    approvals: int,
    data: str | None,
    location: str,
    form: str,
) -> int:
    """Open DATASET with a cap on all that is ever spent on it.

    Whom the budget protects is said here once and for all.
    """
    from dpql.model.spec import Neighbours

    account = _ledger_to_open(location).open_account(
        dataset,
        cap=epsilon,
        unit=None if unit == "row" else unit,
        neighbours=Neighbours(neighbours),
        approvals=approvals,
        location=data,
    )
    return show_accounts([account], form)


def _ledger_to_open(location: str) -> Ledger:
    """Return the ledger; make one where there is nothing yet."""
    from dpql.errors import LedgerFault
    from dpql.ledger import open_ledger

    ledger = open_ledger(location)
    try:
        ledger.datasets()
    except LedgerFault as fault:
        nothing = "://" in location or not os.path.lexists(location)
        if fault.diagnostics[0].code != "DPQL700" or not nothing:
            raise
        return open_ledger(location, create=True)
    return ledger
