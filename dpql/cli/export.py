"""`dpql export`: a release in the form that others ask for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click

from dpql.cli import console, statuses
from dpql.cli.wording import examples


@click.group(
    name="export",
    epilog=examples(
        "dpql export registry releases/2026-11-16-wages --curator 'Statistics Office'",
    ),
)
def command() -> None:
    """Write a release in the form that others ask for."""


@command.command(name="registry")
@click.argument("path", metavar="RELEASE", type=click.Path(path_type=Path))
@click.option("--curator", required=True, help="Who holds the data.")
@click.option(
    "--curator-type", default="Government", show_default=True, help="What they are."
)
@click.option("--region", help="Where the people in the data live.")
@click.option("--sector", default="Government", show_default=True, help="Its field.")
@click.option("--author", "authors", multiple=True, help="Who fills in the record.")
def registry(
    *,
    path: Path,
    curator: str,
    curator_type: str,
    region: str | None,
    sector: str,
    authors: tuple[str, ...],
) -> int:
    """Print a draft for the public registry of DP deployments, as JSON.

    What only people know is marked for them to fill in. Exporting verifies nothing.
    """
    from dpql.reports.registry import registry_record
    from dpql.reports.report import read_folder
    from dpql.reports.view import unverified_view

    envelope, _, _ = read_folder(path)
    view = unverified_view(envelope, hashlib.sha256(envelope).hexdigest())
    console.note("not verified; `dpql verify` does that\n")
    known = {} if region is None else {"region": region}
    console.tell_json(
        registry_record(
            view.predicate,
            curator=curator,
            curator_type=curator_type,
            sector=sector,
            authors=authors,
            **known,
        )
    )
    return statuses.FINE
