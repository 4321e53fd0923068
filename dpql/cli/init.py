"""`dpql init`: a folder to begin with."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import click

from dpql.cli import console, files, statuses
from dpql.cli.options import EXACT
from dpql.cli.wording import examples
from dpql.diagnostics import shown

_SPEC = "specs/first.yaml"


@click.command(
    name="init",
    epilog=examples(
        "dpql init",
        "dpql init bulletin --from-schema data/2026.parquet",
    ),
)
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--from-schema",
    "schema",
    type=click.Path(path_type=Path),
    help="Take names and types of the columns from this file; no row is read.",
)
@click.option("--source", default="table", show_default=True, help="Name of the data.")
@click.option(
    "--cap", type=EXACT, default="4", show_default=True, help="Budget of the data."
)
@click.option("--no-passphrase", is_flag=True, help="Make keys in plain files.")
def command(
    *,
    folder: Path,
    schema: Path | None,
    source: str,
    cap: Fraction,
    no_passphrase: bool,
) -> int:
    """Make a spec with its plan, keys, a ledger, hooks and a CI workflow in DIR.

    What is there already is kept. Keys are made when somebody can be asked for a
    passphrase, or with --no-passphrase.
    """
    from dpql.cli import scaffold
    from dpql.language import format_text

    columns = _columns(schema) if schema else scaffold.EXAMPLE
    draft = scaffold.spec_text(columns, source)
    text = format_text(draft, source=_SPEC, form="yaml")
    _make(folder / _SPEC, text)
    spec = folder / _SPEC
    plan = files.plan_at(spec)
    _make(spec.with_suffix(".plan.json"), plan.to_json().decode("utf-8"))
    _make(folder / ".pre-commit-config.yaml", scaffold.PRE_COMMIT)
    _make(folder / ".github/workflows/specs.yaml", scaffold.WORKFLOW)
    _make(folder / ".gitignore", scaffold.IGNORED)
    _keys(folder / "keys", no_passphrase=no_passphrase)
    _ledger(
        folder / "ledger.sqlite", plan.spec.data.source, cap, plan.spec.privacy.unit
    )
    console.tell(
        f"\nnext: edit {_SPEC}, then `dpql check specs`, `dpql plan {_SPEC}`\n"
    )
    return statuses.FINE


def _columns(path: Path) -> dict[str, str]:
    from importlib import import_module

    # Named, not imported: only this option needs an engine.
    found: dict[str, str] = import_module("dpql.curator.engines.header").header(path)
    return found


def _make(path: Path, text: str) -> None:
    name = shown(str(path), limit=400)
    if path.exists() or path.is_symlink():
        console.tell(f" kept   {name}\n")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    files.save(path, text.encode("utf-8"))
    console.tell(f" made   {name}\n")


def _keys(folder: Path, *, no_passphrase: bool) -> None:
    from dpql.cli.keyring import asked
    from dpql.reports.keys import new_key

    for name in ("steward", "officer"):
        path = folder / name
        if path.exists():
            console.tell(f" kept   {shown(str(path))}\n")
            continue
        if not no_passphrase and not console.is_terminal(sys.stdin):
            console.tell(f" later  `dpql keys new {name}`\n")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        secret = None if no_passphrase else asked(f"passphrase of {name}", twice=True)
        key = new_key(path, secret)
        console.tell(f" made   {shown(str(path))}   {key.fingerprint}\n")


def _ledger(path: Path, dataset: str, cap: Fraction, unit: str | None) -> None:
    from dpql.ledger import open_ledger
    from dpql.model.spec import Neighbours

    if path.exists():
        console.tell(f" kept   {shown(str(path))}\n")
        return
    open_ledger(str(path), create=True).open_account(
        dataset, cap=cap, unit=unit, neighbours=Neighbours.ADD_REMOVE
    )
    console.tell(f" made   {shown(str(path))}   {shown(dataset)}: ε at most {cap}\n")
