"""`dpql diff`: what a change of a spec means for the people in the data."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpql.cli.inputs import files
from dpql.cli.inputs.options import DATASET, REVIEWED_LEDGER
from dpql.cli.ui import console, exit_codes
from dpql.cli.ui.budget import Budget
from dpql.cli.ui.help_text import examples
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.model.plan import Plan
    from dpql.review.diff import Difference

_COLOURS = {"WEAKER": "red", "REVIEW": "yellow", "STRONGER": "green", "SAME": "green"}
_FAILING = {
    None: frozenset[str](),
    # Before a new spec nothing was spent: it is weaker than what was.
    "weaker": frozenset({"WEAKER", "NEW"}),
    "review": frozenset({"WEAKER", "NEW", "REVIEW"}),
    "any": frozenset({"WEAKER", "NEW", "REVIEW", "STRONGER", "REMOVED"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One spec, its plan, and the difference; None when there was no spec before.

    The plan is None when the spec was deleted. ``was`` is the path of the spec before,
    if it was another.
    """

    source: str
    plan: Plan | None
    difference: Difference | None = None
    was: str | None = None

    @property
    def verdict(self) -> str:
        """The word at the head of the judgement."""
        if self.plan is None:
            return "REMOVED"
        return "NEW" if self.difference is None else self.difference.verdict.value

    @property
    def title(self) -> str:
        """The path of the spec, and its path before."""
        return self.source if self.was is None else f"{self.source} (was {self.was})"


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
    help="Exit 1 on that verdict or a worse one; NEW counts as weaker.",
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

    OLD and NEW are specs or plans. With --base, the old spec is read from git: the one
    with the same path, or else a deleted one with the same release name. A spec without
    an old one is NEW; a deleted spec without a new one is REMOVED. If a ledger has the
    dataset, its budget after either plan is shown. The document of --format json is a
    list with one entry for each spec.
    """
    budget = Budget(location=location, dataset=dataset)
    if base is None:
        if len(paths) != 2:  # noqa: PLR2004  old and new
            raise click.UsageError("name OLD and NEW, or --base REF and a SPEC")
        judged = [_between(*paths, budget)]
    else:
        judged = _since(base, paths, budget)
    if form == "json":
        console.write_json([_document(each, budget) for each in judged])
    else:
        show = _markdown if form == "markdown" else _text
        console.write("\n".join(show(each, budget) for each in judged))
    failing = _FAILING[fail_on] & {judgement.verdict for judgement in judged}
    return exit_codes.INPUT_FAULT if failing else exit_codes.OK


def _between(old: Path, new: Path, budget: Budget) -> Judgement:
    return _judged(str(new), files.plan_at(old), files.plan_at(new), budget)


def _judged(source: str, old: Plan, new: Plan, budget: Budget) -> Judgement:
    from dpql import api

    found = budget.after(api.diff(old, new), old, new)
    return Judgement(source=source, plan=new, difference=found)


def _since(base: str, paths: tuple[Path, ...], budget: Budget) -> list[Judgement]:
    from dpql.cli.commands.diff import git

    lost: dict[Path, str] = {}
    for folder in dict.fromkeys(each for each in paths if each.is_dir()):
        lost |= git.deleted_specs(base, folder)
    named = set(lost)
    judged: dict[Path, Judgement] = {}
    moved: dict[Path, Plan] = {}
    for path in _specs(paths, lost):
        plan, text = files.plan_at(path), git.text_at(base, path)
        if text is None:
            moved[path] = plan
        else:
            judged[path] = _judged(str(path), _old(base, path, text), plan, budget)
    for folder in dict.fromkeys(path.parent for path in moved):
        lost = {**git.deleted_specs(base, folder), **lost}
    # The two forms of a spec share their name: each is matched with its own kind first.
    for alike in (True, False):
        for path, plan in moved.items():
            was = _before(path, plan, lost, alike=alike) if path not in judged else None
            if was is not None:
                old = _old(base, was, lost.pop(was))
                found = _judged(str(path), old, plan, budget)
                judged[path] = replace(found, was=str(was))
    for path in moved.keys() - judged.keys():
        judged[path] = Judgement(source=str(path), plan=moved[path])
    for path in named & lost.keys():
        judged[path] = Judgement(source=str(path), plan=None)
    return [judged[path] for path in sorted(judged)]


def _specs(paths: tuple[Path, ...], lost: dict[Path, str]) -> list[Path]:
    """Return the specs at the paths; a folder that lost all it had needs none."""
    emptied = {folder for path in lost for folder in path.parents}
    return [
        spec
        for path in paths
        for spec in files.specs_in([path], allow_none=path in emptied)
    ]


def _before(
    path: Path, plan: Plan, lost: dict[Path, str], *, alike: bool
) -> Path | None:
    """Return a spec that is gone and had the release name of one that was not there."""
    return next(
        (
            old
            for old, text in sorted(lost.items())
            if (old.suffix == path.suffix or not alike)
            and _release(old, text) == plan.spec.release
        ),
        None,
    )


def _release(path: Path, text: str) -> str | None:
    from dpql.errors import SpecError
    from dpql.language.reading import parse_text
    from dpql.language.source import form_of
    from dpql.language.tree import Mapping, Scalar

    with suppress(SpecError):
        root = parse_text(text, source=str(path), form=form_of(path))
        name = root.get("release") if isinstance(root, Mapping) else None
        return name.text if isinstance(name, Scalar) else None
    return None


def _old(base: str, path: Path, text: str) -> Plan:
    """Return the plan of a spec as it was, with the dataset file of that time."""
    from dpql import api
    from dpql.cli.commands.diff import git
    from dpql.language import load_text
    from dpql.language.dataset import folder
    from dpql.language.source import Source, examine, form_of

    def find(name: str) -> Source | None:
        file = folder() / f"{name}.yaml"
        was = git.text_at(base, file) if file.parent.is_dir() else None
        if was is None:
            return None
        return examine(was, f"{base}:{file}", git.beside_at(base, file.parent))

    spec = load_text(
        text,
        source=f"{base}:{path}",
        form=form_of(path),
        find=find,
        beside=git.beside_at(base, path.parent),
    )
    return api.plan(spec)


def _text(judgement: Judgement, budget: Budget) -> str:
    if judgement.plan is None:
        word = console.styled("REMOVED", fg="yellow", bold=True)
        return f"{word}  {shown(judgement.source, limit=400)}\n"
    from dpql.cli.ui.colour import coloured
    from dpql.cli.ui.table_width import fit_width
    from dpql.review import diff_render, render
    from dpql.review.diff_rules import computed
    from dpql.review.explain import explain

    if judgement.difference is None:
        explanation = budget.beside(explain(judgement.plan), judgement.plan)
        review = render.as_text(explanation, source=judgement.source)
        new = "\n".join(f" + {line}" for line in computed(judgement.plan))
        written = f"NEW      {review}\n{new}\n"
    else:
        written = diff_render.as_text(judgement.difference, source=judgement.title)
    word = judgement.verdict
    rest = coloured(fit_width(written, console.width()).removeprefix(word))
    return console.styled(word, fg=_COLOURS.get(word, "yellow"), bold=True) + rest


def _markdown(judgement: Judgement, budget: Budget) -> str:
    from dpql.review import diff_render, render
    from dpql.review.diff_rules import computed
    from dpql.review.explain import explain

    name = render.marked(shown(judgement.title, limit=400))
    if judgement.plan is None:
        return f"**REMOVED** {name}\n"
    if judgement.difference is None:
        explanation = budget.beside(explain(judgement.plan), judgement.plan)
        new = [f"- computes {render.marked(line)}" for line in computed(judgement.plan)]
        review = render.as_markdown(explanation)
        return f"**NEW** {name}\n\n{review}\n" + "\n".join(new) + "\n"
    return f"**{judgement.verdict}** {name}\n\n" + diff_render.as_markdown(
        judgement.difference
    )


def _document(judgement: Judgement, budget: Budget) -> dict[str, Any]:
    from dpql.review import diff_render
    from dpql.review.diff_rules import computed

    plan, found = judgement.plan, judgement.difference
    body: dict[str, Any] = {"verdict": judgement.verdict}
    if found is not None:
        body = diff_render.as_json(found)
    elif plan is not None:
        body |= {"new": plan.digest, "computes": list(computed(plan))}
    return {
        "path": judgement.source,
        "was": judgement.was,
        **body,
        "ledger": None if plan is None else budget.document(plan),
    }
