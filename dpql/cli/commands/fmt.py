"""`dpql fmt`: one layout for all specs, comments kept."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.options import FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.exit_codes import CommandFault
from dpql.cli.ui.faults import as_json, as_text
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import render_concise, shown
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
@click.option(
    "--explicit", is_flag=True, help="Write out what a spec leaves to the language."
)
@FORMAT
def command(
    *,
    paths: tuple[Path, ...],
    check: bool,
    diff: bool,
    to: str | None,
    explicit: bool,
    form: str,
) -> int:
    """Format the specs at PATH in canonical form; comments are kept."""
    if to is not None:
        if len(paths) != 1 or check or diff:
            raise click.UsageError("--to takes one spec and no other option")
        text = _formatted(paths[0], to, explicit=explicit)[1]
        if form == "json":
            console.write_json({"path": str(paths[0]), "form": to, "text": text})
        else:
            console.write(text)
        return exit_codes.OK
    found = files.specs_in(paths, datasets=True)
    layouts = [_layout(path, explicit=explicit) for path in found]
    writing = not (check or diff)
    for layout in layouts if writing else ():
        _write(layout)
    if form == "json":
        console.write_json(_document(layouts, written=writing))
    else:
        for layout in layouts:
            _show(layout, check=check, diff=diff)
    failed = any(each.faults or (each.changed and not writing) for each in layouts)
    return exit_codes.INPUT_FAULT if failed else exit_codes.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A spec as it is and as it should be; empty texts where it is at fault."""

    path: Path
    before: str = ""
    after: str = ""
    faults: tuple[Diagnostic, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the layout is not canonical."""
        return self.before != self.after

    @property
    def name(self) -> str:
        """The path, as it may be echoed."""
        return shown(str(self.path), limit=400)

    @property
    def difference(self) -> str:
        """What would change, as a unified difference."""
        from difflib import unified_diff

        old, new = (t.splitlines(keepends=True) for t in (self.before, self.after))
        return "".join(unified_diff(old, new, str(self.path), str(self.path)))

    @property
    def complaint(self) -> Diagnostic:
        """The fault of a layout that is not canonical."""
        return Diagnostic(
            "DPQL805",
            f"`{self.name}` is not formatted",
            hint=f"run `dpql fmt {self.name}`",
        )


def _layout(path: Path, *, explicit: bool) -> Layout:
    try:
        before, after = _formatted(path, None, explicit=explicit)
    except DpqlError as error:
        if exit_codes.exit_code_of(error) != exit_codes.INPUT_FAULT:
            raise
        return Layout(path=path, faults=error.diagnostics)
    return Layout(path=path, before=before, after=after)


def _formatted(path: Path, to: str | None, *, explicit: bool) -> tuple[str, str]:
    """Return the text as it is and as it should be."""
    from dpql.language import format_text
    from dpql.language.source import form_of, read

    form = form_of(path)
    # The size and the characters are judged before anything else is.
    read(path)
    text = path.read_bytes().decode("utf-8")
    return text, format_text(
        text, source=str(path), form=form, to=to, explicit=explicit
    )


def _write(layout: Layout) -> None:
    if not layout.changed:
        return
    if layout.path.is_symlink():
        raise CommandFault.of(
            "DPQL801", f"`{layout.name}` is a link", hint="name the file itself"
        )
    files.save(layout.path, layout.after.encode("utf-8"))


def _show(layout: Layout, *, check: bool, diff: bool) -> None:
    if layout.faults:
        console.note(as_text(layout.faults, sys.stderr) + "\n\n")
    elif layout.changed and diff:
        console.write(layout.difference)
    elif layout.changed and check:
        console.note(render_concise([layout.complaint]) + "\n")
    elif layout.changed:
        console.write(f"formatted  {layout.name}\n")


def _document(layouts: list[Layout], *, written: bool) -> dict[str, Any]:
    complaints = [
        fault
        for each in layouts
        for fault in each.faults or ((each.complaint,) if each.changed else ())
        if not (written and fault.code == "DPQL805")
    ]
    return {
        "specs": [
            {
                "path": str(each.path),
                "changed": each.changed,
                "written": each.changed and written,
                "difference": each.difference,
            }
            for each in layouts
        ],
        "diagnostics": as_json(complaints),
    }
