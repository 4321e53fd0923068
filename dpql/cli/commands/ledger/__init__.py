"""`dpql ledger`: the budgets of an owner's datasets."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpql.cli.commands.ledger import fetch
from dpql.cli.commands.ledger.account_view import run_document, show_accounts
from dpql.cli.inputs.keys import TRUST
from dpql.cli.inputs.options import EXACT, FORMAT, LEDGER
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from pathlib import Path

    from dpql.ledger import Account, Ledger


@click.group(
    name="ledger",
    epilog=examples(
        "dpql ledger open wages --epsilon 4 --unit person_id",
        "dpql ledger show wages",
        "dpql ledger verify --against releases/2026-11-16-wages",
    ),
)
def command() -> None:
    """Keep the budget of each dataset: what may be spent and what has been.

    A ledger is a file (ledger.sqlite unless --ledger or DPQL_LEDGER names another)
    or a PostgreSQL database.
    """


command.add_command(fetch.command)


@command.command(name="open")
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
def open_dataset(
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


@command.command(name="show")
@click.argument("dataset", required=False)
@LEDGER
@FORMAT
def show(*, dataset: str | None, location: str, form: str) -> int:
    """Show the budget of DATASET, or of all, with every run."""
    return show_accounts(_accounts(_ledger(location), dataset), form)


@command.command(name="verify")
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
def verify(
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

    ledger = _ledger(location)
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


@command.command(name="raise-cap")
@click.argument("dataset")
@click.option("--epsilon", type=EXACT, required=True, help="The new cap.")
@LEDGER
@FORMAT
def raise_cap(*, dataset: str, epsilon: Fraction, location: str, form: str) -> int:
    """Allow more to be spent on DATASET; the entry stays in the chain for good."""
    return show_accounts([_ledger(location).raise_cap(dataset, epsilon)], form)


@command.command(name="bind")
@click.argument("dataset")
@click.option("--data", metavar="URI", required=True, help="Where the data are by now.")
@click.option(
    "--shared",
    is_flag=True,
    help="Give data that another dataset has a second budget; releases say so.",
)
@LEDGER
@FORMAT
def bind(*, dataset: str, data: str, shared: bool, location: str, form: str) -> int:
    """Say where the data of DATASET are, when they have moved or a new file came.

    The first run on DATASET binds its data without being told. The budget goes on:
    what was spent stays spent. The place that the data left stays taken, and the
    entry stays in the chain for good. A folder or a pattern covers all its files.
    """
    return show_accounts([_ledger(location).bind(dataset, data, shared=shared)], form)


@command.command(name="recover")
@click.argument("dataset")
@click.option("--run", "number", type=int, help="Only the run of that number.")
@LEDGER
@FORMAT
def recover(*, dataset: str, number: int | None, location: str, form: str) -> int:
    """End the runs of DATASET that died.

    What was only held back is given back. What had begun to draw noise stays spent.
    """
    ended = _ledger(location).recover(dataset, number)
    if form == "json":
        console.write_json([run_document(run) for run in ended])
        return exit_codes.OK
    if not ended:
        console.write("no run had died\n")
    for run in ended:
        console.write(f" run {run.number}   {run.state.value}   ε = {run.epsilon}\n")
    return exit_codes.OK


def _entries(number: int) -> str:
    return f"{number} entry" if number == 1 else f"{number} entries"


def _ledger_to_open(location: str) -> Ledger:
    """Return the ledger at a place; make one where there is nothing yet."""
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


def _ledger(location: str) -> Ledger:
    from dpql.ledger import open_ledger

    return open_ledger(location)


def _accounts(ledger: Ledger, dataset: str | None) -> list[Account]:
    names = (dataset,) if dataset else ledger.datasets()
    return [ledger.account(name) for name in names]


def _heads(paths: tuple[str, ...], dataset: str | None) -> list[Any]:
    from dpql.cli.inputs.releases import head_of

    heads = [head_of(path) for path in paths]
    for path, head in zip(paths, heads, strict=True):
        if dataset not in (None, head.dataset):
            name, other = shown(path, limit=400), shown(head.dataset)
            raise click.UsageError(
                f"`{name}` is a release of `{other}`, not of `{shown(dataset)}`"
            )
    return heads
