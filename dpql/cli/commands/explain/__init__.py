"""`dpql explain`: a page of the manual, or the program or the SQL of a plan."""

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
        "dpql explain bands",
        "dpql explain --program specs/district_wages.plan.json",
        "dpql explain --sql specs/district_wages.plan.json --engine postgres",
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
@click.option(
    "--sql",
    "asked",
    metavar="PLAN|SPEC",
    type=click.Path(path_type=Path),
    help="Show the SQL that a database is asked for this plan.",
)
@click.option(
    "--engine",
    type=click.Choice(["duckdb", "postgres", "spark"]),
    default="duckdb",
    show_default=True,
    help="Whose SQL is shown.",
)
@FORMAT
def command(
    *,
    word: str | None,
    planned: Path | None,
    asked: Path | None,
    engine: str,
    form: str,
) -> int:
    """Show the manual page of an error code, a key of a spec, a function or a term.

    Without a word, the pages are listed. With --program, the program of a plan is
    shown instead: the columns that a run reads, the rows that count, and the whole
    numbers that it sums. With --sql, the statements that `run --engine` sends to a
    database, if its columns have the usual types. No data is read for that.
    """
    from dpql.cli.commands.explain import pages

    if sum(one is not None for one in (word, planned, asked)) > 1:
        raise click.UsageError("choose one: a page, --program or --sql")
    if planned is not None:
        return _show_program(planned, form)
    if asked is not None:
        return _show_sql(asked, engine, form)
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
        # A code is meant exactly, or not at all.
        close = None if word.upper().startswith("DPQL") else pages.close_to(word)
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
    from dpql.curator.compilation import program_text

    plan = files.plan_at(path, current=True)
    text = program_text(plan)
    if form == "json":
        console.write_json({"plan": plan.digest, "program": text})
    else:
        console.write(text)
    return exit_codes.OK


def _show_sql(path: Path, engine: str, form: str) -> int:
    """Show what a database is asked for the plan in a file, or of the spec in it."""
    from dpql.curator.engines.sql.script import statements_of

    plan = files.plan_at(path, current=True)
    text = statements_of(plan, engine)
    if form == "json":
        console.write_json({"plan": plan.digest, "engine": engine, "sql": text})
    else:
        console.write(text)
    return exit_codes.OK
