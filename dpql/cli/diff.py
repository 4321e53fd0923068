"""`dpql diff`: what a change of a spec means for the people in the data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpql.cli import console, files, statuses
from dpql.cli.budget import Budget
from dpql.cli.options import DATASET, REVIEWED_LEDGER
from dpql.cli.wording import examples
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.model.plan import Plan
    from dpql.planner.diff import Difference

_COLOURS = {"WEAKER": "red", "REVIEW": "yellow", "STRONGER": "green", "SAME": "green"}
_FAILING = {
    None: frozenset[str](),
    "weaker": frozenset({"WEAKER"}),
    "review": frozenset({"WEAKER", "REVIEW", "NEW"}),
    "any": frozenset({"WEAKER", "REVIEW", "NEW", "STRONGER"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One spec, its plan, and the difference; None when there was no spec before."""

    source: str
    plan: Plan
    difference: Difference | None

    @property
    def verdict(self) -> str:
        """The word at the head of the judgement."""
        return "NEW" if self.difference is None else self.difference.verdict.value


@click.command(
    name="diff",
    epilog=examples(
        "dpql diff old.yaml new.yaml",
        "dpql diff --base main specs/district_wages.yaml",
        "dpql diff --base origin/main specs --fail-on weaker --format markdown",
    ),
)
@click.argument(
    "paths",
    metavar="OLD NEW | --base REF SPEC...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option("--base", metavar="REF", help="Compare with the specs at that commit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="How the judgement is written.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["weaker", "review", "any"]),
    help="Exit 1 on that verdict or a graver one.",
)
@REVIEWED_LEDGER
@DATASET
def command(
    *,
    paths: tuple[Path, ...],
    base: str | None,
    form: str,
    fail_on: str | None,
    location: str | None,
    dataset: str | None,
) -> int:
    """Judge a change: WEAKER, STRONGER, SAME, or for a person to REVIEW.

    OLD and NEW are specs or plans. With --base, the old spec is read from git; a spec
    that was not there is NEW. Where a ledger knows the data, what it would hold after
    either is shown.
    """
    budget = Budget(location=location, dataset=dataset)
    if base is None:
        if len(paths) != 2:  # noqa: PLR2004  old and new
            raise click.UsageError("name OLD and NEW, or --base REF and a SPEC")
        judged = [_between(*paths, budget)]
    else:
        judged = [_since(base, path, budget) for path in files.specs_in(paths)]
    if form == "json":
        documents = [
            {**_document(each), "ledger": budget.document(each.plan)} for each in judged
        ]
        console.tell_json(documents if base else documents[0])
    else:
        show = _markdown if form == "markdown" else _text
        console.tell("\n".join(show(each, budget) for each in judged))
    failing = _FAILING[fail_on] & {judgement.verdict for judgement in judged}
    return statuses.AT_FAULT if failing else statuses.FINE


def _between(old: Path, new: Path, budget: Budget) -> Judgement:
    return _judged(str(new), files.plan_at(old), files.plan_at(new), budget)


def _judged(source: str, old: Plan, new: Plan, budget: Budget) -> Judgement:
    from dpql import api

    found = budget.after(api.diff(old, new), old, new)
    return Judgement(source=source, plan=new, difference=found)


def _since(base: str, path: Path, budget: Budget) -> Judgement:
    from dpql import api
    from dpql.cli import history
    from dpql.language import load_text
    from dpql.language.source import form_of

    plan = files.plan_at(path)
    text = history.text_at(base, path)
    if text is None:
        return Judgement(source=str(path), plan=plan, difference=None)
    old = load_text(text, source=f"{base}:{path}", form=form_of(path))
    return _judged(str(path), api.plan(old), plan, budget)


def _text(judgement: Judgement, budget: Budget) -> str:
    from dpql.cli.fitting import fitted
    from dpql.cli.paint import painted
    from dpql.planner import diff_render, render
    from dpql.planner.explain import explain

    if judgement.difference is None:
        explanation = budget.beside(explain(judgement.plan), judgement.plan)
        review = render.as_text(explanation, source=judgement.source)
        written = f"NEW      {review}"
    else:
        written = diff_render.as_text(judgement.difference, source=judgement.source)
    word = judgement.verdict
    rest = painted(fitted(written, console.width()).removeprefix(word))
    return console.styled(word, fg=_COLOURS.get(word, "yellow"), bold=True) + rest


def _markdown(judgement: Judgement, budget: Budget) -> str:
    from dpql.planner import diff_render, render
    from dpql.planner.explain import explain

    name = render.marked(shown(judgement.source, limit=400))
    if judgement.difference is None:
        explanation = budget.beside(explain(judgement.plan), judgement.plan)
        return f"**NEW** {name}\n\n{render.as_markdown(explanation)}"
    return f"**{judgement.verdict}** {name}\n\n" + diff_render.as_markdown(
        judgement.difference
    )


def _document(judgement: Judgement) -> dict[str, Any]:
    from dpql.planner import diff_render

    found = judgement.difference
    body = (
        {"verdict": "NEW", "new": judgement.plan.digest}
        if found is None
        else diff_render.as_json(found)
    )
    return {"path": judgement.source, **body}
