"""`dpql rehearse`: the path of a run on invented rows."""

from __future__ import annotations

from pathlib import Path

import click

from dpql.cli.inputs import files
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples

_ROWS = 1_000


@click.command(
    name="rehearse",
    epilog=examples(
        "dpql rehearse specs/district_wages.yaml",
        "dpql rehearse specs/district_wages.yaml --rows 50000 --seed spring",
    ),
)
@click.argument("path", metavar="SPEC", type=click.Path(path_type=Path))
@click.option(
    "--rows", type=click.IntRange(1, 10**7), help="How many rows are invented."
)
@click.option("--seed", default="0", show_default=True, help="Same seed, same numbers.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    show_default=True,
    help="How the values are written.",
)
def command(*, path: Path, rows: int | None, seed: str, form: str) -> int:
    """Run SPEC on invented rows that fit it; nothing is read, debited or signed.

    The result shows what a release will look like. It is not about real people.
    """
    from dpql import api
    from dpql.model.spec import RowsExactly

    plan = files.plan_at(path, current=True)
    declared = plan.spec.data.rows
    if rows is None:
        exact = isinstance(declared, RowsExactly)
        rows = declared.count if exact else min(_ROWS, declared.count)
    done = api.rehearse(plan, rows=rows, seed=seed)
    console.note("REHEARSAL: invented rows and seeded coins; this protects nobody\n")
    if form == "csv":
        console.write(done.to_csv())
    elif form == "json":
        console.write_json(
            {
                "kind": done.kind,
                "plan": plan.digest,
                "values": [
                    {
                        "statistic": result.name,
                        "cell": list(value.cell),
                        "value": str(value.value),
                        "lower": str(value.lower),
                        "upper": str(value.upper),
                    }
                    for result in done.results
                    for value in result.values
                ],
            }
        )
    else:
        console.write(str(done))
    return exit_codes.OK
