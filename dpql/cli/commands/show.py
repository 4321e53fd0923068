"""`dpql show`: a plan or a release for people."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpql.cli.inputs import files
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.exit_codes import CommandFault
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.reports.display import View


@click.command(
    name="show",
    epilog=examples(
        "dpql show specs/district_wages.plan.json",
        "dpql show releases/2026-11-16-wages --format csv",
        "dpql show releases/2026-11-16-wages --format markdown",
    ),
)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "html", "csv", "json"]),
    default="text",
    show_default=True,
    help="How it is shown.",
)
def command(*, path: Path, form: str) -> int:
    """Show a plan, or a release as it stands: showing verifies nothing.

    FILE is a plan, a spec, a release folder or a release.dsse.json.
    """
    if path.is_dir() or _is_envelope(path):
        return _show_release(path, form)
    if form == "csv":
        raise click.UsageError("a plan has no values; csv is for releases")
    return _show_plan(path, form)


def _is_envelope(path: Path) -> bool:
    return path.suffix == ".json" and b'"payloadType"' in files.contents(path)


def _show_plan(path: Path, form: str) -> int:
    from dpql.review import render
    from dpql.review.explain import explain

    if path.suffix not in {".json", ".yaml", ".yml", ".dpql"}:
        raise CommandFault.of(
            "DPQL803",
            f"`{shown(str(path), limit=400)}` is neither a plan nor a release",
            hint="show takes a plan, a spec, a release folder or its release.dsse.json",
        )
    plan = files.plan_at(path)
    if form == "html":
        from dpql.review.curves import page

        console.write(page(plan))
    elif form == "json":
        console.write_json(render.as_json(explain(plan)))
    elif form == "markdown":
        console.write(render.as_markdown(explain(plan)))
    else:
        from dpql.cli.ui.colour import coloured
        from dpql.cli.ui.table_width import fit_width

        text = render.as_text(explain(plan), source=str(path))
        console.write(coloured(fit_width(text, console.width())))
    return exit_codes.OK


def _show_release(path: Path, form: str) -> int:
    from dpql.reports.display import unverified_view
    from dpql.reports.report import read_folder

    envelope, _ = read_folder(path)
    view = unverified_view(envelope, hashlib.sha256(envelope).hexdigest())
    console.note("not verified; `dpql verify` does that\n")
    if form == "json":
        import json

        from dpql.reports.envelope import peek

        console.write_json(json.loads(peek(envelope)))
    elif form == "csv":
        from dpql.reports.recompute import recompute

        console.write(recompute(view.predicate).to_csv())
    else:
        from dpql.cli.ui.table_width import fit_width

        text = _rendered(view, form)
        console.write(fit_width(text, console.width() if form == "text" else None))
    return exit_codes.OK


def _rendered(view: View, form: str) -> str:
    if form == "html":
        from dpql.reports.render_html import as_html

        return as_html(view)
    if form == "markdown":
        from dpql.reports.render_markdown import as_markdown

        return as_markdown(view)
    from dpql.reports.render_text import as_text

    return as_text(view)
