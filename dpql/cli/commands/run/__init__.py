"""`dpql run`: execute a plan once on the data, debit it, sign it, write its folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpql.cli.commands.run.approvals import Approvals
from dpql.cli.commands.run.debit_prompt import DebitPrompt
from dpql.cli.inputs import files
from dpql.cli.inputs.keys import KEY, PASSPHRASE, TRUST, signer_of
from dpql.cli.inputs.options import FORMAT, LEDGER
from dpql.cli.inputs.releases import RELEASES, trust_at
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.api.execute import Executed
    from dpql.ledger import Account, Ledger
    from dpql.model.plan import Plan


@click.command(
    name="run",
    epilog=examples(
        "dpql run specs/wages.plan.json --data wages=data/2026.parquet --key steward",
        "dpql run plan.json --data wages=data/*.csv --key steward --yes --out r/first",
    ),
)
@click.argument("path", metavar="PLAN|SPEC", type=click.Path(path_type=Path))
@click.option(
    "--data",
    "bindings",
    metavar="NAME=URI",
    multiple=True,
    required=True,
    help="The file, glob or URL of the data that the plan reads.",
)
@KEY
@click.option("--out", type=click.Path(path_type=Path), help="The release folder.")
@click.option("--dataset", help="The owner's name of the data, if not the source's.")
@click.option(
    "--engine",
    default="polars",
    show_default=True,
    help="Engine that aggregates the rows.",
)
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
@PASSPHRASE
@FORMAT
def command(*, path: Path, form: str, **options: Any) -> int:
    """Run PLAN once on the data, debit its ledger, sign and write the release.

    A plan that was released before is not run again: the stored release is
    returned and nothing is spent, unless --again asks for a new draw.
    """
    from dpql.api.execute import execute
    from dpql.api.run_request import RunRequest
    from dpql.cli.commands.run.terminal_listener import TerminalListener
    from dpql.cli.ui.progress import stage_bar
    from dpql.curator.wall import engines_muted

    plan = files.plan_at(path, current=True)
    _require_engine(options["engine"])
    frames = _bound(options["bindings"], plan)
    dataset = options["dataset"] or plan.spec.data.source
    signer = signer_of(options["key"], options["passphrase_file"])
    ledger = None if options["no_ledger"] else _ledger(options["location"])
    account = ledger.account(dataset) if ledger else None
    stored = _is_stored(account, plan, again=options["again"])
    stale = [] if stored else _stale_specs(path, plan)
    debit = DebitPrompt.of(plan, account)
    if not stored and not debit.confirm(yes=options["yes"]):
        console.note("not run; nothing was read and nothing was spent\n")
        return exit_codes.INPUT_FAULT
    approvals = Approvals(
        plan=plan,
        dataset=dataset,
        trust=trust_at(options["trust"]),
        day=datetime.now(UTC).date(),
        required=stored or (account is not None and account.approvals > 0),
    )
    with engines_muted(), stage_bar() as show_stage:
        request = RunRequest(
            plan=plan,
            frames=frames,
            ledger=ledger,
            dataset=dataset,
            signers=(signer,),
            day=approvals.day,
            trust=approvals.trust,
            approvals=approvals.collect(path, options["approvals"]),
            folder=options["out"],
            within=RELEASES,
            published=(RELEASES,),
            again=options["again"],
            engine=options["engine"],
        )
        done = execute(request, TerminalListener(debit, show_stage))
    _show(done, form, stale)
    return exit_codes.OK


def _require_engine(name: str) -> None:
    from dpql.api.execute import require_engine
    from dpql.errors import RunFault

    try:
        require_engine(name)
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


def _bound(bindings: tuple[str, ...], plan: Plan) -> dict[str, object]:
    """Return what the names of --data are bound to."""
    found: dict[str, object] = {}
    for binding in bindings:
        name, equals, location = binding.partition("=")
        if not (equals and name and location) or name in found:
            raise click.UsageError("write --data NAME=URI, each name once")
        found[name] = location
    source = plan.spec.data.source
    if set(found) != {source}:
        raise click.UsageError(
            f"the plan reads `{shown(source)}`; bind the data: --data {source}=FILE"
        )
    return found


def _ledger(location: str) -> Ledger:
    from dpql.ledger import open_ledger

    return open_ledger(location)


def _is_stored(account: Account | None, plan: Plan, *, again: bool) -> bool:
    """Tell whether the release of an earlier run of the plan will be returned."""
    return (
        account is not None and not again and account.released(plan.digest) is not None
    )


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
