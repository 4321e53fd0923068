"""`dpql explain`: the manual page of an error code, a key of a spec or a term."""

from __future__ import annotations

from textwrap import fill

import click

from dpql.cli import console, statuses
from dpql.cli.statuses import CommandFault
from dpql.cli.wording import examples
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
    from dpql.cli import manual

    if word is None:
        pages = manual.titles()
        if form == "json":
            console.tell_json(pages)
        else:
            console.tell(
                "".join(f"{name:<14} {text}\n" for name, text in pages.items())
            )
        return statuses.FINE
    width = min(manual.WIDTH, console.width() or manual.WIDTH)
    page = manual.page(word, width)
    if page is None:
        close = manual.close_to(word)
        raise CommandFault.of(
            "DPQL806",
            f"the manual has no page on `{shown(word)}`",
            hint=f"did you mean `{close}`?" if close else "`dpql explain` lists them",
        )
    if form == "json":
        console.tell_json({"name": page.name, "title": page.title, "text": page.text})
    else:
        head = fill(f"{page.name}: {page.title}", width).removeprefix(page.name)
        console.tell(f"{console.styled(page.name, bold=True)}{head}\n\n")
        console.tell(page.text.rstrip("\n") + "\n")
    return statuses.FINE
