"""`dpql ledger fetch`: a stored release is written out again."""

from __future__ import annotations

from pathlib import Path

import click

from dpql.cli.inputs.options import FORMAT, LEDGER
from dpql.cli.inputs.releases import RELEASES
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown


@click.command(
    name="fetch",
    epilog=examples("dpql ledger fetch wages 3f2a9c01d4e5b677 --out r/second"),
)
@click.argument("dataset")
@click.argument("release", metavar="RELEASE")
@click.option("--out", type=click.Path(path_type=Path), help="The release folder.")
@LEDGER
@FORMAT
def command(
    *, dataset: str, release: str, out: Path | None, location: str, form: str
) -> int:
    """Write a release of DATASET again, as it was signed; nothing is spent.

    RELEASE is the digest of the release, or how it begins.
    """
    from dpql.api.output_folder import OutputFolder
    from dpql.api.stored_reports import fetched_report
    from dpql.ledger import open_ledger

    report = fetched_report(open_ledger(location), dataset, release.lower())
    folder, mended = OutputFolder(folder=out, within=RELEASES).write(report)
    if form == "json":
        document = {
            "folder": str(folder),
            "release": report.digest,
            "mended": list(mended),
        }
        console.write_json(document)
    else:
        name = shown(str(folder), limit=400)
        console.write(f" fetched      {name}/   {report.name}\n")
    return exit_codes.OK
