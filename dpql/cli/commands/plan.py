"""`dpql plan`: what a spec costs and how exact it will be, before any data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.options import DATASET, REVIEWED_LEDGER
from dpql.cli.inputs.what_if import SETTING, Setting
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.budget import Budget
from dpql.cli.ui.faults import as_json
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import render_concise, shown
from dpql.errors import Diagnostic

if TYPE_CHECKING:
    from dpql.model.plan import Plan


@click.command(
    name="plan",
    epilog=examples(
        "dpql plan specs/district_wages.yaml",
        "dpql plan specs/district_wages.yaml --set epsilon=0.5",
        "dpql plan specs/district_wages.yaml --out specs/district_wages.plan.json",
        "dpql plan --check specs",
    ),
)
@click.argument(
    "paths",
    metavar="SPEC...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the plan as JSON.")
@click.option(
    "--check",
    is_flag=True,
    help="Exit 1 unless NAME.plan.json beside each spec is its plan.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    help="Write a page of curves and sliders that works offline.",
)
@click.option(
    "--set",
    "settings",
    type=SETTING,
    multiple=True,
    metavar="NAME=VALUE",
    help="Try another epsilon, alpha or mechanism; cannot be saved.",
)
@REVIEWED_LEDGER
@DATASET
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="How the plan is shown.",
)
def command(
    *,
    paths: tuple[Path, ...],
    out: Path | None,
    check: bool,
    html: Path | None,
    settings: tuple[Setting, ...],
    location: str | None,
    dataset: str | None,
    form: str,
) -> int:
    """Show what SPEC costs and how exact it will be; no data is read."""
    if settings and (out or check or html):
        raise click.UsageError("a what-if (--set) cannot be saved, checked or drawn")
    if len(dict(settings)) < len(settings):
        raise click.UsageError("--set says each of epsilon, alpha, mechanism once")
    if check and (out or html):
        raise click.UsageError("--check writes nothing: leave out --out and --html")
    if check:
        return _check(_specs_of(paths), form)
    specs = files.specs_in(paths)
    if len(specs) > 1 and (out or html):
        raise click.UsageError("--out and --html take one spec")
    budget = Budget(location=location, dataset=dataset)
    reviews = [_review(path, settings, budget, form) for path in specs]
    for path in specs if out or html else ():
        _write(files.plan_at(path), out, html)
    if form == "json":
        console.write_json(reviews[0] if len(reviews) == 1 else reviews)
    else:
        console.write("\n".join(map(str, reviews)))
    return exit_codes.OK


def _review(
    path: Path, settings: tuple[Setting, ...], budget: Budget, form: str
) -> object:
    from dpql.review import render
    from dpql.review.explain import explain

    plan = files.plan_at(path)
    if settings:
        from dpql.cli.ui.colour import coloured
        from dpql.cli.ui.table_width import fit_width
        from dpql.review import what_if

        review = what_if.render(plan, dict(settings), form, source=str(path))
        plain = isinstance(review, str) and form == "text"
        return coloured(fit_width(str(review), console.width())) if plain else review
    if form == "json":
        return {**render.as_json(explain(plan)), "ledger": budget.document(plan)}
    explanation = budget.beside(explain(plan), plan)
    if form == "markdown":
        return render.as_markdown(explanation)
    from dpql.cli.ui.colour import coloured
    from dpql.cli.ui.table_width import fit_width

    text = render.as_text(explanation, source=str(path))
    return coloured(fit_width(text, console.width()))


def _write(plan: Plan, out: Path | None, html: Path | None) -> None:
    if out:
        files.save(out, plan.to_json())
        console.note(f"wrote {shown(str(out), limit=400)}\n")
    if html:
        from dpql.review.curves import page

        files.save(html, page(plan).encode("utf-8"))
        console.note(f"wrote {shown(str(html), limit=400)}\n")


def _specs_of(paths: tuple[Path, ...]) -> list[Path]:
    """Return the specs at the paths; a plan stands for the specs beside it."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.suffix != ".json":
            found |= dict.fromkeys(files.specs_in([path]))
            continue
        beside = files.specs_beside(path)
        if not beside:
            raise exit_codes.CommandFault.of(
                "DPQL804",
                f"there is no spec beside `{shown(str(path), limit=400)}`",
                hint="a plan is checked against the spec of its name, .yaml or .dpql",
            )
        found |= dict.fromkeys(beside)
    return list(found)


def _check(specs: list[Path], form: str) -> int:
    from dpql.language import load
    from dpql.planner.check import stale

    faults: tuple[Diagnostic, ...] = stale(specs, load)
    if form == "json":
        console.write_json(
            {
                "specs": [str(path) for path in specs],
                "fresh": not faults,
                "diagnostics": as_json(faults),
            }
        )
    elif faults:
        console.note(render_concise(faults) + "\n")
    else:
        fresh = "plan is" if len(specs) == 1 else "plans are"
        console.write(f"{len(specs)} {fresh} fresh\n")
    return exit_codes.INPUT_FAULT if faults else exit_codes.OK
