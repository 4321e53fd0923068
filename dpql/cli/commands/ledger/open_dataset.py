"""`dpql ledger open`: a dataset gets a budget."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from dpql.cli.commands.ledger.account_view import show_accounts
from dpql.cli.inputs.options import EXACT, FORMAT, LEDGER, PROBABILITY
from dpql.cli.ui.exit_codes import UsageFault
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.ledger import Ledger
    from dpql.model.spec import Neighbours

T = TypeVar("T")


@click.command(name="open")
@click.argument("dataset", required=False)
@click.option("--epsilon", type=EXACT, help="The cap, e.g. 4 or 7/2.")
@click.option(
    "--delta",
    type=PROBABILITY,
    help="With it releases need not be pure, e.g. 1e-6; 0 if absent.",
)
@click.option(
    "--delta-events",
    type=PROBABILITY,
    help="What of the delta is kept for keys found in the data; half if absent.",
)
@click.option(
    "--unit",
    metavar="COLUMN|row",
    help="The id column that names whom the budget protects; row for each row.",
)
@click.option(
    "--neighbours",
    type=click.Choice(["add_remove", "replace_one"]),
    help="What may differ between neighbours; add_remove if absent.",
)
@click.option(
    "--dataset-file",
    type=click.Path(path_type=Path),
    help="Take name, cap, unit and neighbours from a dataset file.",
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
    dataset: str | None,
    epsilon: Fraction | None,
    delta: Fraction | None,
    delta_events: Fraction | None,
    unit: str | None,
    neighbours: str | None,
    dataset_file: Path | None,
    approvals: int,
    data: str | None,
    location: str,
    form: str,
) -> int:
    """Open DATASET with a cap on all that is ever spent on it.

    Whom the budget protects is said here once and for all. Flags say what a dataset
    file leaves open; the two may not disagree.
    """
    from dpql.api.data_identity import data_identity

    terms = _terms(dataset, epsilon, delta, unit, neighbours, dataset_file)
    identity = None if data is None else str(data_identity(data, terms.dataset))
    # Whoever does not know whether keys will be found loses hardly any epsilon by half.
    events = terms.delta / 2 if delta_events is None else delta_events
    account = _ledger_to_open(location).open_account(
        terms.dataset,
        cap=terms.cap,
        unit=None if terms.unit == "row" else terms.unit,
        neighbours=terms.neighbours,
        approvals=approvals,
        location=identity,
        delta=terms.delta,
        events=events,
    )
    return show_accounts([account], form)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What an account is opened with."""

    dataset: str
    cap: Fraction
    delta: Fraction
    unit: str
    neighbours: Neighbours


def _terms(  # noqa: PLR0917  one per flag
    dataset: str | None,
    epsilon: Fraction | None,
    delta: Fraction | None,
    unit: str | None,
    neighbours: str | None,
    file: Path | None,
) -> _Terms:
    """Return what the flags say, and a dataset file where they say nothing."""
    from dpql.model.spec import Neighbours

    if file is not None:
        from dpql.language.dataset import load_dataset

        found = load_dataset(file)
        privacy = found.spec.privacy
        dataset = _agreed("DATASET", dataset, found.name)
        unit = _agreed("--unit", unit, privacy.unit or "row")
        neighbours = _agreed("--neighbours", neighbours, privacy.neighbours.value)
        if found.cap is not None:
            epsilon = _agreed("--epsilon", epsilon, found.cap)
            delta = _agreed("--delta", delta, found.delta)
    hint = "give `{}`, or `--dataset-file datasets/NAME.yaml`, which says it"
    for name, what, given in (
        ("DATASET", "", dataset),
        ("--epsilon", " CAP", epsilon),
        ("--unit", " COLUMN|row", unit),
    ):
        if given is None:
            raise UsageFault.of(
                "DPQL812", f"`{name}` is missing", hint=hint.format(f"{name}{what}")
            )
    assert dataset is not None
    assert epsilon is not None
    assert unit is not None
    return _Terms(
        dataset=dataset,
        cap=epsilon,
        delta=delta or Fraction(0),
        unit=unit,
        neighbours=Neighbours(neighbours or Neighbours.ADD_REMOVE),
    )


def _agreed(name: str, given: T | None, declared: T) -> T:
    """Return what a dataset file declares; refuse a flag that says otherwise."""
    if given is not None and given != declared:
        raise click.UsageError(
            f"{name} says {shown(str(given))}, the dataset file {shown(str(declared))}"
        )
    return declared


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
