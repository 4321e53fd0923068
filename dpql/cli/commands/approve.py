"""`dpql approve`: a reviewer signs a plan."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.keys import KEY, PASSPHRASE, key_path, signer_of
from dpql.cli.inputs.options import DATASET, DAY, FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown


@click.command(
    name="approve",
    epilog=examples(
        "dpql approve specs/district_wages.plan.json --key officer",
        "dpql approve plan.json --key officer --dataset wages-2026",
        "dpql approve plan.json --key officer --runs 12 --until 2027-01-01",
    ),
)
@click.argument("path", metavar="PLAN", type=click.Path(path_type=Path))
@KEY
@DATASET
@click.option(
    "--runs",
    type=click.IntRange(1, 10**6),
    default=1,
    show_default=True,
    help="How often the plan may run; all runs in the ledger count.",
)
@click.option("--until", type=DAY, metavar="YYYY-MM-DD", help="The last day.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file of the approval; NAME.approval.KEY.json beside the plan if absent, "
    "with the dataset before KEY if --dataset is not the source.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@PASSPHRASE
@FORMAT
def command(
    *,
    path: Path,
    key: str,
    dataset: str | None,
    runs: int,
    until: datetime | None,
    out: Path | None,
    yes: bool,
    passphrase_file: Path | None,
    form: str,
) -> int:
    """Sign PLAN, so that it may run on a dataset, a number of times, until a day.

    On a terminal, the plan is shown first and you are asked to confirm. An existing
    approval is never overwritten.
    """
    from dpql import api

    _require_future(until)
    plan = files.plan_at(path, current=True)
    name = dataset or plan.spec.data.source
    times = "1 run" if runs == 1 else f"{runs} runs"
    if not yes and console.is_terminal(sys.stdin):
        console.note(f"{plan}\n\n")
        if not console.confirm(f"sign this plan for {times} on {shown(name)}?"):
            console.note("not signed\n")
            return exit_codes.INPUT_FAULT
    signer = signer_of(key, passphrase_file)
    envelope = api.approve(
        plan,
        signer,
        dataset=name,
        runs=runs,
        until=until.date() if until else None,
    )
    whose = key_path(key).name
    if name != plan.spec.data.source:
        whose = f"{name}.{whose}"
    target = out or path.with_name(f"{files.stem(path)}.approval.{whose}.json")
    _keep(target, envelope)
    if form == "json":
        key_id = signer.public.fingerprint
        console.write_json(
            {
                "plan": plan.digest,
                "dataset": name,
                "runs": runs,
                "key": key_id,
                "path": str(target),
            }
        )
        return exit_codes.OK
    console.write(
        f"approved   plan {plan.digest[:8]} for {times} on {shown(name)} by "
        f"{signer.public.fingerprint}\n           {shown(str(target), limit=400)}\n"
    )
    return exit_codes.OK


def _require_future(until: datetime | None) -> None:
    today = datetime.now(UTC).date()
    if until is not None and until.date() < today:
        raise exit_codes.UsageFault.of(
            "DPQL813",
            f"`{until.date()}` does not fit `--until`: it is in the past",
            hint=f"write the last day on which the plan may run, {today} or later",
        )


def _keep(target: Path, envelope: bytes) -> None:
    """Write an approval where there is none, unless it is this one."""
    try:
        files.save_new(target, envelope)
    except FileExistsError:
        if files.contents(target) != envelope:
            raise exit_codes.CommandFault.of(
                "DPQL801",
                f"`{shown(str(target), limit=400)}` exists and is another approval",
                hint="approvals are never overwritten: delete it if it no longer "
                "counts, or name another file with --out",
            ) from None
