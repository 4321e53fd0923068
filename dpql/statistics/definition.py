"""What a step of a plan computes, in words."""

from __future__ import annotations

from dpql.model.condition_text import condition_text
from dpql.model.notation import name_text
from dpql.model.plan import Affine, Step
from dpql.statistics import STATISTICS


def definition(step: Step) -> str:
    """Return what a statistic computes, of which rows and groups."""
    by = f", by {' and '.join(map(name_text, step.by))}" if step.by else ""
    where = f", where {condition_text(step.where)}" if step.where else ""
    over = f", added up over the groups of {name_text(step.total_of or '')}"
    return f"{phrase(step)}{where}{by}{over if step.total_of else ''}"


def phrase(step: Step) -> str:
    """Return what a statistic computes, as one phrase."""
    statistic = STATISTICS[step.statistic]
    text = statistic.public_phrase if has_public_phrase(step) else statistic.phrase
    return text.format(
        *map(name_text, step.columns),
        at=", ".join(map(str, step.at)),
        condition="" if step.condition is None else condition_text(step.condition),
    )


def has_public_phrase(step: Step) -> bool:
    """Tell whether a step is described as one whose number of rows is public."""
    known = isinstance(step.readout, Affine)
    return known and bool(STATISTICS[step.statistic].public_phrase)
