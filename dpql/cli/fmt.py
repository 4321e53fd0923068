"""`dpql fmt`: one layout for all specs, comments kept."""

from __future__ import annotations

from pathlib import Path

import click

from dpql.cli import console, files, statuses
from dpql.cli.statuses import CommandFault
from dpql.cli.wording import examples
from dpql.diagnostics import render_concise, render_text, shown
from dpql.errors import Diagnostic, DpqlError


@click.command(
    name="fmt",
    epilog=examples(
        "dpql fmt specs",
        "dpql fmt --check specs",
        "dpql fmt --to dpql specs/district_wages.yaml > district_wages.dpql",
    ),
)
@click.argument(
    "paths",
    metavar="PATH...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 if any would change."
)
@click.option("--diff", is_flag=True, help="Show what would change; write nothing.")
@click.option(
    "--to",
    "to",
    type=click.Choice(["yaml", "dpql"]),
    help="Print one spec in the other form.",
)
def command(
    *,
    paths: tuple[Path, ...],
    check: bool,
    diff: bool,
    to: str | None,
) -> int:
    """Lay out the specs at PATH in canonical form; comments are kept."""
    if to is not None:
        if len(paths) != 1 or check or diff:
            raise click.UsageError("--to takes one spec and no other option")
        console.tell(_formatted(paths[0], to)[1])
        return statuses.FINE
    faults: list[Diagnostic] = []
    changed = 0
    for path in files.specs_in(paths):
        try:
            before, after = _formatted(path, None)
        except DpqlError as error:
            if statuses.status_of(error) != statuses.AT_FAULT:
                raise
            console.note(render_text(error.diagnostics) + "\n\n")
            faults += error.diagnostics
            continue
        if before != after:
            changed += 1
            _treat(path, before, after, writing=not (check or diff), showing=diff)
    failed = faults or (changed and (check or diff))
    return statuses.AT_FAULT if failed else statuses.FINE


def _formatted(path: Path, to: str | None) -> tuple[str, str]:
    """Return the text as it is and as it should be."""
    from dpql.language import format_text
    from dpql.language.source import form_of, read

    form = form_of(path)
    # The size and the characters are judged before anything else is.
    read(path)
    text = path.read_bytes().decode("utf-8")
    return text, format_text(text, source=str(path), form=form, to=to)


def _treat(
    path: Path, before: str, after: str, *, writing: bool, showing: bool
) -> None:
    name = shown(str(path), limit=400)
    if writing:
        if path.is_symlink():
            raise CommandFault.of(
                "DPQL801", f"`{name}` is a link", hint="name the file itself"
            )
        files.save(path, after.encode("utf-8"))
        console.tell(f"laid out  {name}\n")
    elif showing:
        from difflib import unified_diff

        old, new = (text.splitlines(keepends=True) for text in (before, after))
        console.tell("".join(unified_diff(old, new, str(path), str(path))))
    else:
        fault = Diagnostic(
            "DPQL805", f"`{name}` is not laid out", hint=f"run `dpql fmt {name}`"
        )
        console.note(render_concise([fault]) + "\n")
