"""`dpql init`: a folder to begin with."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.options import EXACT, FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown
from dpql.errors import PlanFault, SpecError

if TYPE_CHECKING:
    from dpql.model.plan import Plan

_SPEC = "specs/first.yaml"
_PLAN = "specs/first.plan.json"

_NEXT = f"edit {_SPEC}, then `dpql check specs`, `dpql plan {_SPEC}`"
_NEXT_OPEN = f"finish {_SPEC}; `dpql check specs` says what is missing"


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
@FORMAT
def command(
    *,
    folder: Path,
    schema: Path | None,
    source: str,
    cap: Fraction,
    no_passphrase: bool,
    form: str,
) -> int:
    """Make a spec with its plan, keys, a ledger, hooks and a CI workflow in DIR.

    What is there already is kept. Keys are made when somebody can be asked for a
    passphrase, or with --no-passphrase. A schema says nothing of bounds, keys, budget
    or whom to protect, so a spec made from one is finished by hand: `dpql check` asks
    for what is missing.
    """
    from dpql.cli.commands.init import templates

    text = (
        templates.spec_text(_columns(schema), source)
        if schema
        else templates.example(source)
    )
    _make(folder)
    beginning = Beginning(folder=folder, quiet=form == "json")
    beginning.make(_SPEC, _laid_out(text))
    plan = _plan(folder / _SPEC)
    if plan is None:
        beginning.later(f"dpql plan {_SPEC} --out {_PLAN}")
    else:
        beginning.make(_PLAN, plan.to_json().decode("utf-8"))
    beginning.make(".pre-commit-config.yaml", templates.PRE_COMMIT)
    beginning.make(".github/workflows/specs.yaml", templates.WORKFLOW)
    beginning.make(".gitignore", templates.IGNORED)
    for name in ("steward", "officer"):
        _key(beginning, name, no_passphrase=no_passphrase)
    if plan is None:
        beginning.later(f"dpql ledger open {source} --epsilon {cap} --unit UNIT")
    else:
        _ledger(beginning, plan, cap)
    if form == "json":
        console.write_json({"folder": str(folder), "files": beginning.files})
    else:
        console.write(f"\nnext: {_within(folder)}{_NEXT if plan else _NEXT_OPEN}\n")
    return exit_codes.OK


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise exit_codes.CommandFault.of(
            "DPQL801",
            f"`{shown(str(folder), limit=400)}` is no folder and cannot be one",
            hint="name a folder to begin in; it is made if it is not there",
        ) from None


def _within(folder: Path) -> str:
    """Return the step into the folder that commands inside it need first."""
    here = folder.resolve() == Path.cwd()
    return "" if here else f"`cd {shown(quote(str(folder)), limit=400)}`, then "


@dataclass(slots=True, kw_only=True)
class Beginning:
    """A folder that fills, and what became of each file."""

    folder: Path
    quiet: bool
    files: list[dict[str, str]] = field(default_factory=list)

    def make(self, name: str, text: str) -> None:
        """Write a file, unless there is one."""
        path = self.folder / name
        if path.exists() or path.is_symlink():
            self.say("kept", path)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        files.save(path, text.encode("utf-8"))
        self.say("made", path)

    def say(self, state: str, path: Path, more: str = "") -> None:
        """Note what became of a file."""
        self.files.append({"path": str(path), "state": state})
        rest = f"   {more}" if more else ""
        self._tell(f" {state:<6} {shown(str(path), limit=400)}{rest}\n")

    def later(self, command: str) -> None:
        """Note a command that a person has to give."""
        self.files.append({"command": command, "state": "later"})
        self._tell(f" later  `{shown(command, limit=400)}`\n")

    def _tell(self, text: str) -> None:
        if not self.quiet:
            console.write(text)


def _columns(path: Path) -> dict[str, str]:
    # Imported here: only this option reads a file of data.
    from dpql.curator.sources.header import header

    return header(path)


def _laid_out(text: str) -> str:
    """Return the text in canonical form, or as it is while something is missing."""
    from dpql.language import format_text

    with suppress(SpecError):
        return format_text(text, source=_SPEC, form="yaml")
    return text


def _plan(spec: Path) -> Plan | None:
    with suppress(SpecError, PlanFault):
        return files.plan_at(spec)
    return None


def _key(beginning: Beginning, name: str, *, no_passphrase: bool) -> None:
    from dpql.cli.inputs.keys import asked
    from dpql.reports.keys import new_key

    path = beginning.folder / "keys" / name
    if path.exists():
        beginning.say("kept", path)
        return
    if not no_passphrase and not console.is_terminal(sys.stdin):
        beginning.later(f"dpql keys new {name}")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = None if no_passphrase else asked(f"passphrase of {name}", twice=True)
    beginning.say("made", path, new_key(path, secret).fingerprint)


def _ledger(beginning: Beginning, plan: Plan, cap: Fraction) -> None:
    from dpql.ledger import open_ledger

    path = beginning.folder / "ledger.sqlite"
    if path.exists():
        beginning.say("kept", path)
        return
    privacy, dataset = plan.spec.privacy, plan.spec.data.source
    open_ledger(str(path), create=True).open_account(
        dataset, cap=cap, unit=privacy.unit, neighbours=privacy.neighbours
    )
    beginning.say("made", path, f"{shown(dataset)}: ε at most {cap}")
