"""`dpql export`: a release in the form that others ask for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click

from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.reports.registry import CURATOR_TYPES, SECTORS


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
    "--curator-type",
    type=click.Choice(CURATOR_TYPES),
    default="Government",
    show_default=True,
    help="What they are.",
)
@click.option("--region", help="Where the people in the data live.")
@click.option(
    "--sector",
    type=click.Choice(SECTORS),
    default="Government",
    show_default=True,
    help="The field that the data are about.",
)
@click.option("--author", "authors", multiple=True, help="Who fills in the record.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json"]),
    default="json",
    show_default=True,
    help="How the result is written.",
)
def registry(
    *,
    path: Path,
    curator: str,
    curator_type: str,
    region: str | None,
    sector: str,
    authors: tuple[str, ...],
    form: str,
) -> int:
    """Print a draft for the public registry of DP deployments, as JSON.

    It fits the form of opendp/deployments-registry-data; JSON is YAML too. What only
    people know is for them to fill in. Exporting verifies nothing.
    """
    from dpql.errors import VerifyFault
    from dpql.reports.display import unverified_view
    from dpql.reports.folder import read_folder
    from dpql.reports.registry import registry_record

    assert form == "json"
    envelope, _ = read_folder(path)
    view = unverified_view(envelope, hashlib.sha256(envelope).hexdigest())
    if view.kind != "release":
        raise VerifyFault.of(
            "DPQL605", "a rehearsal cannot be registered: it says nothing of any data"
        )
    console.note("not verified; `dpql verify` does that\n")
    known = {} if region is None else {"region": region}
    console.write_json(
        registry_record(
            view.predicate,
            view.digest,
            curator=curator,
            curator_type=curator_type,
            sector=sector,
            authors=authors,
            **known,
        )
    )
    return exit_codes.OK
