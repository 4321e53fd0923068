"""`dpql run`: execute a plan once on the data, debit it, sign it, write its folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpql.cli.commands.run.debit_prompt import Debit
from dpql.cli.inputs import files
from dpql.cli.inputs.keys import KEY, PASSPHRASE, TRUST, signer_of
from dpql.cli.inputs.options import FORMAT, LEDGER
from dpql.cli.inputs.releases import RELEASES, trust_at
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from dpql.api.execute import Executed
    from dpql.ledger import Account, Ledger
    from dpql.model.plan import Plan
    from dpql.reports.trust import Trust

_LIMIT = 1 << 20


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
    help="Which file, glob or URL the plan's source is.",
)
@KEY
@click.option("--out", type=click.Path(path_type=Path), help="The release folder.")
@click.option("--dataset", help="The owner's name of the data, if not the source's.")
@click.option("--engine", default="polars", show_default=True, help="What adds up.")
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
@click.option("--again", is_flag=True, help="Draw anew, and pay anew.")
@click.option("--yes", is_flag=True, help="Do not ask before the debit.")
@PASSPHRASE
@FORMAT
def command(*, path: Path, form: str, **options: Any) -> int:
    """Run PLAN once on the data, debit its ledger, sign and write the release.

    A plan that was released before is not run again: the stored release is
    returned and nothing is spent, unless --again asks for a new draw.
    """
    plan = files.plan_at(path, current=True)
    _require_engine(options["engine"])
    frames = _bound(options["bindings"], plan)
    dataset = options["dataset"] or plan.spec.data.source
    signer = signer_of(options["key"], options["passphrase_file"])
    ledger = None if options["no_ledger"] else _ledger(options["location"])
    account = ledger.account(dataset) if ledger else None
    stored = _stored(account, plan, again=options["again"])
    stale = _stale(path, plan) if stored is None else []
    debit = Debit.of(plan, account)
    if stored is None and not debit.agreed(yes=options["yes"]):
        console.note("not run; nothing was read and nothing was spent\n")
        return exit_codes.AT_FAULT
    day, trust = datetime.now(UTC).date(), trust_at(options["trust"])
    needed = stored is not None or (account is not None and account.approvals > 0)
    believed = None if needed else _belief(plan, trust, day, dataset)
    from dpql.api.execute import execute
    from dpql.cli.ui.progress import watched
    from dpql.curator.wall import engines_muted

    with engines_muted(), watched() as watch:
        done = execute(
            plan,
            frames,
            ledger=ledger,
            dataset=dataset,
            signers=[signer],
            day=day,
            trust=trust,
            approvals=_approvals(path, options["approvals"], believed, dataset),
            folder=options["out"],
            within=RELEASES,
            published=[RELEASES],
            again=options["again"],
            engine=options["engine"],
            stage=debit.before(watch),
            reserved=debit.reserved,
            ended=debit.ended,
        )
    _tell(done, form, stale)
    return exit_codes.FINE


def _require_engine(name: str) -> None:
    from dpql.api.execute import require_engine
    from dpql.errors import RunFault

    try:
        require_engine(name)
    except RunFault as fault:
        # Nobody's data are at fault: the command was not written as it must be.
        (why,) = fault.diagnostics
        raise exit_codes.UsageFault.of(why.code, why.message, hint=why.hint) from None


def _stale(path: Path, plan: Plan) -> list[str]:
    """Warn of specs beside a plan that say something else by now; return them."""
    from dpql.errors import DpqlError

    found: list[str] = []
    for spec in files.specs_beside(path) if path.suffix == ".json" else ():
        try:
            other = files.plan_at(spec).digest
        except DpqlError:
            now = "has faults"
        else:
            if other == plan.digest:
                continue
            now = f"compiles to plan {other[:8]}"
        name = shown(str(spec), limit=400)
        console.note(f" stale        {name} now {now}; plan {plan.digest[:8]} is run\n")
        found.append(str(spec))
    return found


def _bound(bindings: tuple[str, ...], plan: Plan) -> dict[str, object]:
    found: dict[str, object] = {}
    for binding in bindings:
        name, equals, place = binding.partition("=")
        if not (equals and name and place) or name in found:
            raise click.UsageError("--data is NAME=URI, each name once")
        found[name] = place
    source = plan.spec.data.source
    if set(found) != {source}:
        raise click.UsageError(f"the plan reads `{shown(source)}`: --data {source}=URI")
    return found


def _ledger(location: str) -> Ledger:
    from dpql.ledger import open_ledger

    return open_ledger(location)


def _stored(account: Account | None, plan: Plan, *, again: bool) -> str | None:
    """Return the digest of the release that an earlier run of the plan stored."""
    run = account.released(plan.digest) if account and not again else None
    return run.envelope if run else None


def _belief(
    plan: Plan, trust: Trust | None, day: date, dataset: str
) -> Callable[[bytes], object]:
    """Return what refuses an approval that does not hold."""
    from dpql.reports.approval import verify_approvals
    from dpql.reports.trust import Trust

    known = trust or Trust(())
    return lambda one: verify_approvals([one], plan, known, day=day, dataset=dataset)


def _approvals(
    path: Path,
    named: tuple[Path, ...],
    believed: Callable[[bytes], object] | None,
    dataset: str,
) -> list[bytes]:
    """Return the approvals that were named, and those beside the plan.

    One beside the plan that is for another dataset is passed over; where none is
    needed, so is one that nobody believes.
    """
    from dpql.errors import VerifyFault
    from dpql.reports.approval import dataset_of

    found = [files.contents(each, limit=_LIMIT) for each in named]
    for each in sorted(path.parent.glob(f"{files.stem(path)}.approval.*.json")):
        approval = files.contents(each, limit=_LIMIT)
        other = dataset_of(approval)
        if other not in (None, dataset) and approval not in found:
            name = shown(each.name, limit=400)
            console.note(f" passed over  {name}: it is for {shown(other)}\n")
            continue
        if believed is not None and approval not in found:
            try:
                believed(approval)
            except VerifyFault as fault:
                name, (why, *_) = shown(each.name, limit=400), fault.diagnostics
                console.note(f" passed over  {name}: {why.message}\n")
                continue
        found.append(approval)
    return found


def _tell(done: Executed, form: str, stale: list[str]) -> None:
    from dpql.cli.ui.table_width import fit_width
    from dpql.reports.display import unverified_view
    from dpql.reports.render_text import as_text

    report, folder = done.report, done.folder
    view = unverified_view(report.envelope, report.digest)
    if form == "json":
        console.tell_json(
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
        console.tell(
            f" already released as {report.name}; nothing drawn, nothing spent "
            "(use --again for a new draw)\n"
        )
        if done.mended:
            name, files = shown(str(folder), limit=400), ", ".join(done.mended)
            console.tell(f" mended       {name}/   {files}\n")
        return
    entry = f"   ledger #{done.entries[1]}" if done.entries else "   no ledger"
    name = shown(str(folder), limit=400)
    text = f" released     {name}/   {report.name}{entry}\n\n{as_text(view)}"
    console.tell(fit_width(text, console.width()))
