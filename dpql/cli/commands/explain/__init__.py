"""`dpql explain`: a page of the manual, or the program of a plan."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.options import FORMAT
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.exit_codes import CommandFault
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown


@click.command(
    name="explain",
    epilog=examples(
        "dpql explain DPQL301",
        "dpql explain epsilon",
        "dpql explain at_least",
        "dpql explain --program specs/district_wages.plan.json",
    ),
)
@click.argument("word", metavar="[CODE|WORD]", required=False)
@click.option(
    "--program",
    "planned",
    metavar="PLAN|SPEC",
    type=click.Path(path_type=Path),
    help="Show what an engine computes for this plan, before any noise.",
)
@FORMAT
def command(*, word: str | None, planned: Path | None, form: str) -> int:
    """Show the manual page of an error code, a key of a spec or a term.

    Without a word, the pages are listed. With --program, the program of a plan is
    shown instead: the columns that a run reads, the rows that count, and the whole
    numbers that it sums. No data is read for that.
    """
    from dpql.cli.commands.explain import pages

    if planned is not None:
        if word is not None:
            raise click.UsageError("choose a page or --program, not both")
        return _show_program(planned, form)
    if word is None:
        titles = pages.titles()
        if form == "json":
            console.write_json(titles)
        else:
            console.write(
                "".join(f"{name:<14} {text}\n" for name, text in titles.items())
            )
        return exit_codes.OK
    width = min(pages.WIDTH, console.width() or pages.WIDTH)
    page = pages.page(word, width)
    if page is None:
        close = pages.close_to(word)
        raise CommandFault.of(
            "DPQL806",
            f"the manual has no page on `{shown(word)}`",
            hint=f"did you mean `{close}`?" if close else "`dpql explain` lists them",
        )
    if form == "json":
        console.write_json({"name": page.name, "title": page.title, "text": page.text})
    else:
        head = fill(f"{page.name}: {page.title}", width).removeprefix(page.name)
        console.write(f"{console.styled(page.name, bold=True)}{head}\n\n")
        console.write(page.text.rstrip("\n") + "\n")
    return exit_codes.OK


def _show_program(path: Path, form: str) -> int:
    """Show what an engine computes for the plan in a file, or of the spec in it."""
    from dpql.curator.program import compile_program

    plan = files.plan_at(path, current=True)
    text = str(compile_program(plan))
    if form == "json":
        console.write_json({"plan": plan.digest, "program": text})
    else:
        console.write(text)
    return exit_codes.OK
