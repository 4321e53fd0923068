"""`dpql explain`: the manual page of an error code, a key of a spec or a term."""

from __future__ import annotations

from textwrap import fill

import click

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
    ),
)
@click.argument("word", metavar="[CODE|WORD]", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the page is written.",
)
def command(*, word: str | None, form: str) -> int:
    """Show the manual page of an error code, a key of a spec or a term.

    Without a word, the pages are listed.
    """
    from dpql.cli.commands.explain import pages

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
