"""`dpql ledger`: the budgets of an owner's datasets."""

from __future__ import annotations

import click

from dpql.cli.commands.ledger import (
    bind,
    fetch,
    open_dataset,
    raise_cap,
    recover,
    show,
    verify,
)
from dpql.cli.ui.help_text import examples


@click.group(
    name="ledger",
    epilog=examples(
        "dpql ledger open wages --epsilon 4 --unit person_id",
        "dpql ledger open --dataset-file datasets/wages.yaml",
        "dpql ledger show wages",
        "dpql ledger verify --against releases/2026-11-16-wages",
    ),
)
def command() -> None:
    """Keep the budget of each dataset: what may be spent and what has been.

    A ledger is a file (ledger.sqlite unless --ledger or DPQL_LEDGER names another)
    or a PostgreSQL database.
    """


for _module in (open_dataset, show, verify, raise_cap, bind, recover, fetch):
    command.add_command(_module.command)
