"""`dpql demo`: the whole story on generated data, each command shown as it runs."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.options import FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.exit_codes import CommandFault
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

_MARK = ".dpql-demo"
_SPEC = "specs/district_wages.yaml"

_OPEN = (
    "ledger open wages --data data/wages.csv --epsilon 4 --unit person_id --approvals 1"
)

STORY: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "An analyst has written a spec. What is wrong with it? Nothing:",
        ("check wages.yaml",),
    ),
    (
        "What will it cost and how exact will it be? No data is read for that:",
        ("plan wages.yaml --out wages.plan.json",),
    ),
    (
        "The owner of the data opens a budget, and asks that a reviewer signs plans:",
        (
            "keys new steward --no-passphrase",
            "keys new officer --no-passphrase",
            "keys trust steward bulletin-2025@example.org --role release",
            "keys trust officer officer@example.org --role plan",
            _OPEN,
        ),
    ),
    (
        "The reviewer approves this plan:",
        ("approve wages.plan.json --key officer --yes",),
    ),
    (
        "The steward runs it on the data. The debit comes first, then the noise:",
        ("run wages.plan.json --data wages=data/wages.csv --key steward --yes",),
    ),
    (
        "Anybody can check what was released, without trusting the sender:",
        ("verify {release} --ledger ledger.sqlite",),
    ),
    (
        "Running the plan again returns the same release and costs nothing:",
        (
            "run wages.plan.json --data wages=data/wages.csv --key steward",
            "ledger show wages",
        ),
    ),
)
"""What is said, and the commands that show it."""


@click.command(
    name="demo",
    epilog=examples("dpql demo", "dpql demo /tmp/first --keep"),
)
@click.argument(
    "folder", metavar="[DIR]", default="dpql-demo", type=click.Path(path_type=Path)
)
@click.option("--keep", is_flag=True, help="Continue in the folder of an earlier demo.")
@FORMAT
def command(*, folder: Path, keep: bool, form: str) -> int:
    """Show every step on made-up payslips, in a folder to play with.

    An earlier demo in DIR is replaced, unless --keep; any other folder is refused.
    """
    played: list[str] = []
    with console.output_to_stderr() if form == "json" else contextlib.nullcontext():
        _prepare(folder, keep=keep)
        with _inside(folder):
            for status in _played(played, keep=keep):
                if status:
                    return status
            release = _release()
    if form == "json":
        console.write_json(
            {
                "folder": str(folder),
                "commands": played,
                "release": str(folder / release),
                "report": str(folder / release / "report.html"),
            }
        )
    else:
        _farewell(folder, release)
    return exit_codes.OK


def _played(played: list[str], *, keep: bool) -> Iterator[int]:
    """Play the story; note each command and yield its exit code."""
    for words, lines in STORY:
        if keep and all(_done(line) for line in lines):
            continue
        console.write(f"\n{console.styled('# ' + words, dim=True)}\n")
        for line in lines:
            command_ = line.format(release=_release()) if "{" in line else line
            played.append(f"dpql {command_}")
            yield _play(command_)


def _farewell(folder: Path, release: Path) -> None:
    name = shown(str(folder), limit=400)
    console.write(
        f"\nOpen {name}/{release}/report.html to read the release.\n"
        f"Everything in {name} is yours to play with; for instance:\n\n"
        f"  {_program()} plan {name}/wages.yaml --set epsilon=0.5\n"
        f"  {_program()} plan {name}/wages.yaml --html {name}/what-if.html\n"
    )


def _program() -> str:
    """Return how the command can be called from here."""
    if shutil.which("dpql"):
        return "dpql"
    if Path(sys.argv[0]).name == "__main__.py":
        return "python -m dpql"
    return shlex.quote(os.path.relpath(sys.argv[0]))


def _prepare(folder: Path, *, keep: bool) -> None:
    """Make the folder with the spec and the data, or continue an earlier one."""
    from dpql.cli.commands.demo.payslips import wages
    from dpql.resources import resource

    if folder.exists() and not (folder / _MARK).exists() and any(folder.iterdir()):
        raise CommandFault.of(
            "DPQL801",
            f"`{shown(str(folder), limit=400)}` is not empty and not an earlier demo",
            hint="name another folder: `dpql demo NAME`",
        )
    if folder.exists() and not keep:
        shutil.rmtree(folder)
    if (folder / _MARK).exists():
        return
    (folder / "data").mkdir(parents=True, exist_ok=True)
    files.save(folder / _MARK, b"made by dpql demo\n")
    files.save(folder / "wages.yaml", _spec(resource(_SPEC)))
    content = wages()
    files.save(folder / "data" / "wages.csv", content.encode("utf-8"))
    rows = f"{content.count(chr(10)) - 1:,}".replace(",", " ")
    console.write(
        f"{rows} made-up payslips, with gaps and typing errors, are in "
        f"{shown(str(folder), limit=400)}/data/wages.csv\n"
    )


def _spec(path: Path) -> bytes:
    """Return the sample spec without the line that leads editors to the checkout."""
    lines = path.read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if b"yaml-language-server" not in line)


def _play(line: str) -> int:
    """Show a command, then do what it says."""
    from dpql.cli.main import run

    console.write(f"{console.styled('$ dpql ' + line, bold=True)}\n")
    return run(shlex.split(line))


def _done(line: str) -> bool:
    """Tell whether an earlier demo has made what the command makes."""
    return line.startswith(("keys", "ledger open", "approve"))


def _release() -> Path:
    return next(iter(sorted(Path("releases").iterdir())), Path("releases"))


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
