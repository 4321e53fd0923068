"""`dpql ledger recover`: runs that died are ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpql.cli.commands.ledger.account_view import run_document
from dpql.cli.inputs.options import FORMAT, LEDGER
from dpql.cli.ui import console, exit_codes

if TYPE_CHECKING:
    from dpql.ledger import Run


def _amount(run: Run) -> str:
    if run.epsilon is not None:
        return f"ε = {run.epsilon}"
    from dpql.model.figures import equal_to

    return f"ρ {equal_to(run.cost.rho)}"


@click.command(name="recover")
@click.argument("dataset")
@click.option("--run", "number", type=int, help="Only the run of that number.")
@LEDGER
@FORMAT
def command(*, dataset: str, number: int | None, location: str, form: str) -> int:
    """End the runs of DATASET that died.

    A run that had not drawn noise gets its budget back; one that had stays spent.
    """
    from dpql.ledger import open_ledger

    ended = open_ledger(location).recover(dataset, number)
    if form == "json":
        console.write_json([run_document(run) for run in ended])
        return exit_codes.OK
    if not ended:
        console.write("no run to recover\n")
    for run in ended:
        console.write(f" run {run.number}   {run.state.value}   {_amount(run)}\n")
    return exit_codes.OK
