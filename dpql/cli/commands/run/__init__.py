"""`dpql run`: execute a plan once on the data, debit it, sign it, write its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpql.cli.commands.run.debit_prompt import DebitPrompt
from dpql.cli.commands.run.preparation import Preparation
from dpql.cli.inputs import files
from dpql.cli.inputs.bindings import DATA
from dpql.cli.inputs.keys import PASSPHRASE, TRUST
from dpql.cli.inputs.options import DATASET, FORMAT, LEDGER, SPARK, ProjectOption
from dpql.cli.inputs.project import current_project
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.api.execute import Executed
    from dpql.model.plan import Plan


@click.command(
    name="run",
    epilog=examples(
        "dpql run specs/wages.yaml",
        "dpql run specs/wages.plan.json --data wages=data/2026.parquet --key steward",
        "dpql run plan.json --data wages=data/*.csv --key steward --yes --out r/first",
    ),
)
@click.argument("path", metavar="PLAN|SPEC", type=click.Path(path_type=Path))
@DATA
@click.option(
    "--key",
    cls=ProjectOption,
    setting="key",
    metavar="NAME|FILE",
    help="The key that signs: a file, or a name in keys/ (or DPQL_KEYS).",
)
@click.option("--out", type=click.Path(path_type=Path), help="The release folder.")
@DATASET
@click.option(
    "--engine",
    help="Engine that sums the rows, if not the one of the data: duckdb, postgres.",
)
@SPARK
@LEDGER
@click.option("--no-ledger", is_flag=True, help="Debit nothing; the report says so.")
@click.option(
    "--approval",
    "approvals",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A signed approval; those beside the plan are found.",
)
@TRUST
@click.option("--again", is_flag=True, help="Draw again, and pay again.")
@click.option("--yes", is_flag=True, help="Do not ask before the debit.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="List what stands in the way, and stop; no row is read, nothing is debited.",
)
@PASSPHRASE
@FORMAT
def command(*, path: Path, form: str, **options: Any) -> int:
    """Run PLAN once on the data, debit its ledger, sign and write the release.

    What is not given is taken from dpql.toml in this folder or one above it. A plan
    that was released before is not run again: the stored release is returned and
    nothing is spent, unless --again asks for a new draw.
    """
    from dpql.api.execute import execute
    from dpql.cli.commands.run.terminal_listener import TerminalListener
    from dpql.cli.ui.progress import stage_bar
    from dpql.curator.wall import engines_muted

    plan = files.plan_at(path, current=True)
    _require_engine(options["engine"], plan)
    ready = Preparation(path=path, plan=plan, options=options)
    _tell_project()
    ready.prepare()
    _tell_obstacles(ready)
    ready.require_clear()
    stale = [] if ready.stored else _stale_specs(path, plan)
    debit = DebitPrompt.of(plan, ready.account)
    if options["dry_run"]:
        return _show_dry_run(ready, debit, form)
    if not ready.stored and not debit.confirm(yes=options["yes"]):
        console.note("not run; nothing was read and nothing was spent\n")
        return exit_codes.INPUT_FAULT
    with engines_muted(), stage_bar() as show_stage:
        done = execute(ready.request(), TerminalListener(debit, show_stage))
    _show(done, form, stale)
    return exit_codes.OK


def _tell_obstacles(ready: Preparation) -> None:
    """Say how much there is to cure, where it is more than one thing."""
    found = sum(len(one.diagnostics) for one in ready.obstacles)
    if found > 1:
        console.note(
            f"{found} things stand in the way of this run; nothing was spent\n\n"
        )


def _tell_project() -> None:
    """Say which project file the run follows."""
    project = current_project()
    if project is not None:
        console.note(f" settings     {shown(str(project.path), limit=400)}\n")


def _show_dry_run(ready: Preparation, debit: DebitPrompt, form: str) -> int:
    """Say what a run would do, which nothing stands in the way of."""
    if form == "json":
        console.write_json({"ready": True, "plan": ready.plan.digest, "obstacles": []})
    elif ready.stored:
        console.write(
            " ready        the plan was released before; a run spends nothing\n"
        )
    else:
        console.write(
            f" ready        nothing stands in the way; a run debits {debit.text}\n"
        )
    return exit_codes.OK


def _require_engine(name: str | None, plan: Plan) -> None:
    from dpql.curator.engines import require_engine
    from dpql.errors import RunFault

    try:
        require_engine(name, plan)
    except RunFault as fault:
        # Nobody's data are at fault: the command was not written as it must be.
        (why,) = fault.diagnostics
        raise exit_codes.UsageFault.of(why.code, why.message, hint=why.hint) from None


def _stale_specs(path: Path, plan: Plan) -> list[str]:
    """Warn of specs beside a plan that mean something else by now; return them."""
    from dpql import api
    from dpql.errors import DpqlError

    found: list[str] = []
    for file in files.specs_beside(path) if path.suffix == ".json" else ():
        try:
            spec = api.load(file)
            if spec == plan.spec:
                continue
            now = f"compiles to plan {api.plan(spec).digest[:8]}"
        except DpqlError:
            now = "has faults"
        name = shown(str(file), limit=400)
        console.note(f" stale        {name} now {now}; plan {plan.digest[:8]} is run\n")
        found.append(str(file))
    return found


def _show(done: Executed, form: str, stale: list[str]) -> None:
    from dpql.cli.ui.table_width import fit_width
    from dpql.reports.render_text import as_text

    report, folder = done.report, done.folder
    view = report.view
    if form == "json":
        console.write_json(
            {
                "folder": str(folder),
                "release": report.digest,
                "fresh": done.fresh,
                "mended": list(done.mended),
                "stale": stale,
                "plan": view.predicate.plan_digest,
                "entries": list(done.entries) if done.entries else None,
                "values": [
                    {
                        "statistic": statistic.name,
                        "cell": list(value.cell),
                        "value": str(value.value),
                        "lower": str(value.lower),
                        "upper": str(value.upper),
                    }
                    for statistic in view.predicate.statistics
                    for value in statistic.values
                ],
            }
        )
        return
    if not done.fresh:
        console.write(
            f" already released as {report.name}; nothing drawn, nothing spent "
            "(use --again for a new draw)\n"
        )
        if done.mended:
            name, files = shown(str(folder), limit=400), ", ".join(done.mended)
            console.write(f" mended       {name}/   {files}\n")
        return
    entry = f"   ledger #{done.entries[1]}" if done.entries else "   no ledger"
    name = shown(str(folder), limit=400)
    text = f" released     {name}/   {report.name}{entry}\n\n{as_text(view)}"
    console.write(fit_width(text, console.width()))
