"""`dpql init`: a new project folder."""

from __future__ import annotations

import os
import re
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
from dpql.cli.inputs.project import FILE_NAME
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown
from dpql.errors import PlanFault, SpecError

if TYPE_CHECKING:
    from dpql.model.plan import Plan

_SPEC = "specs/first.yaml"
_PLAN = "specs/first.plan.json"

_ROLES = {"steward": "dpql-release", "officer": "dpql-plan"}
"""The keys of a project, and what each may sign."""

_EXAMPLE = "wages"
"""What the data of the example are called."""

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
@click.option(
    "--source", help="Name of the data; that of the schema's file, or `wages`."
)
@click.option(
    "--cap", type=EXACT, default="4", show_default=True, help="Budget of the data."
)
@click.option("--no-passphrase", is_flag=True, help="Make keys in plain files.")
@FORMAT
def command(
    *,
    folder: Path,
    schema: Path | None,
    source: str | None,
    cap: Fraction,
    no_passphrase: bool,
    form: str,
) -> int:
    """Make a spec with its plan, dpql.toml, keys, a ledger, hooks and a CI workflow.

    Existing files are kept. Keys are made if you can be asked for a passphrase, or with
    --no-passphrase. A schema does not contain bounds, keys, a budget or the protected
    unit, so complete the spec that is made from one: `dpql check` lists what is
    missing.
    """
    from dpql.cli.commands.init import templates

    source = source or _source_of(schema)
    text = (
        templates.spec_text(_columns(schema), source)
        if schema
        else templates.example(source)
    )
    _make(folder)
    project = Project(folder=folder, quiet=form == "json")
    project.make(_SPEC, _formatted(text))
    plan = _plan(folder / _SPEC)
    if plan is None:
        project.defer(f"dpql plan {_SPEC} --out {_PLAN}")
    else:
        project.make(_PLAN, plan.to_json().decode("utf-8"))
    project.make(FILE_NAME, templates.project_text(source, _location(schema, folder)))
    project.make(".pre-commit-config.yaml", templates.PRE_COMMIT)
    project.make(".github/workflows/specs.yaml", templates.WORKFLOW)
    project.make(".gitignore", templates.IGNORED)
    for name in _ROLES:
        _key(project, name, no_passphrase=no_passphrase)
    _trust(project)
    if plan is None:
        project.defer(f"dpql ledger open {source} --epsilon {cap} --unit UNIT")
    else:
        _ledger(project, plan, cap)
    if form == "json":
        console.write_json({"folder": str(folder), "files": project.files})
    else:
        console.write(f"\nnext: {_within(folder)}{_NEXT if plan else _NEXT_OPEN}\n")
    return exit_codes.OK


def _source_of(schema: Path | None) -> str:
    """Return what data are called: as their file is, where that is a name."""
    from dpql.model.limits import NAME

    if schema is None:
        return _EXAMPLE
    stem = schema.name.split(".")[0]
    return stem if re.fullmatch(NAME.pattern, stem) else "data"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise exit_codes.CommandFault.of(
            "DPQL801",
            f"`{shown(str(folder), limit=400)}` is not a folder and cannot become one",
            hint="name a folder; it is made if it does not exist",
        ) from None


def _within(folder: Path) -> str:
    """Return the step into the folder that commands inside it need first."""
    here = folder.resolve() == Path.cwd()
    return "" if here else f"`cd {shown(quote(str(folder)), limit=400)}`, then "


@dataclass(slots=True, kw_only=True)
class Project:
    """A project folder, and what was done about each of its files."""

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
        self._write(f" {state:<6} {shown(str(path), limit=400)}{rest}\n")

    def defer(self, command: str) -> None:
        """Note a command that a person has to give."""
        self.files.append({"command": command, "state": "later"})
        self._write(f" later  `{shown(command, limit=400)}`\n")

    def _write(self, text: str) -> None:
        if not self.quiet:
            console.write(text)


def _columns(path: Path) -> dict[str, str]:
    # Imported here: only this option reads a file of data.
    from dpql.curator.sources.header import header

    return header(path)


def _formatted(text: str) -> str:
    """Return the text in canonical form, or as it is while something is missing."""
    from dpql.language import format_text

    with suppress(SpecError):
        return format_text(text, source=_SPEC, form="yaml")
    return text


def _plan(spec: Path) -> Plan | None:
    with suppress(SpecError, PlanFault):
        return files.plan_at(spec)
    return None


def _key(project: Project, name: str, *, no_passphrase: bool) -> None:
    from dpql.cli.inputs.keys import asked
    from dpql.reports.keys import new_key

    path = project.folder / "keys" / name
    if path.exists():
        project.say("kept", path)
        return
    if not no_passphrase and not console.is_terminal(sys.stdin):
        project.defer(f"dpql keys new {name}")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = None if no_passphrase else asked(f"passphrase of {name}", twice=True)
    project.say("made", path, new_key(path, secret).fingerprint)


def _trust(project: Project) -> None:
    """Trust the keys of the project, each for its role."""
    from dpql.reports.keys import public_of
    from dpql.reports.trust import trust_line

    made = {
        name: path
        for name in _ROLES
        if (path := project.folder / "keys" / f"{name}.pub").exists()
    }
    if len(made) < len(_ROLES):
        for name, role in _ROLES.items():
            project.defer(f"dpql keys trust {name} {name} --role {role[5:]}")
        return
    lines = [
        trust_line(public_of(path), name, (_ROLES[name],))
        for name, path in made.items()
    ]
    project.make("allowed_signers", "\n".join(lines) + "\n")


def _location(schema: Path | None, folder: Path) -> str | None:
    """Return where a file of data is, seen from the folder of the project."""
    if schema is None:
        return None
    return str(schema) if schema.is_absolute() else os.path.relpath(schema, folder)


def _ledger(project: Project, plan: Plan, cap: Fraction) -> None:
    from dpql.ledger import open_ledger

    path = project.folder / "ledger.sqlite"
    if path.exists():
        project.say("kept", path)
        return
    privacy, dataset = plan.spec.privacy, plan.spec.data.source
    open_ledger(str(path), create=True).open_account(
        dataset, cap=cap, unit=privacy.unit, neighbours=privacy.neighbours
    )
    project.say("made", path, f"{shown(dataset)}: ε at most {cap}")
