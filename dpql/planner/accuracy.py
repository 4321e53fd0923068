"""What is promised: the error of every step, per cell and for all cells at once."""

from __future__ import annotations

from dataclasses import replace

from dpql.model.plan import Moment, Part, Step
from dpql.planner.calibrate import granted, stated_error
from dpql.planner.draft import Draft
from dpql.statistics.readout import worst_error

MOMENTS = ("n", "u", "v", "uu", "uv")


def state_accuracy(draft: Draft) -> Draft:
    """Finish the steps with what they promise."""
    count = len(draft.spec.statistics)
    return replace(draft, steps=tuple(_step(draft, index) for index in range(count)))


def needed(parts: tuple[Part, ...]) -> tuple[str, ...]:
    """Return the names of the moments that the parts are made of, in fixed order."""
    terms = [term for part in parts for term in part.measure.terms]
    names = {name for term in terms for name in term.moments}
    return tuple(name for name in MOMENTS if name in names)


def _step(draft: Draft, index: int) -> Step:
    spec = draft.spec
    statistic, description = spec.statistics[index], draft.descriptions[index]
    parts, setting = draft.parts[index], draft.settings[index]
    choice = draft.choices[index]
    epsilon = granted(choice)
    span = description.upper - description.lower
    rows = statistic.at_least
    accuracy = worst_error(
        description.readout,
        [part.half_width for part in parts],
        rows=rows,
        span=span,
        quantisation=description.quantisation,
    )
    everywhere = accuracy
    if accuracy is not None and setting.cells > 1:
        everywhere = stated_error(
            description,
            choice.mechanism,
            epsilon,
            statistic=statistic,
            rows=rows,
            cells=setting.cells,
        )
    return Step(
        name=statistic.name,
        statistic=statistic.kind,
        columns=statistic.columns,
        edges=statistic.edges,
        where=statistic.where,
        by=statistic.by,
        at_least=statistic.at_least,
        relation=spec.privacy.neighbours,
        cells=setting.cells,
        bound=draft.bounds[index],
        grids=setting.grids,
        moments=tuple(Moment(name=name) for name in needed(parts)),
        parts=parts,
        readout=description.readout,
        quantisation=description.quantisation,
        sensitivity=description.sensitivity,
        lower=description.lower,
        upper=description.upper,
        l0=max(part.measure.l0 for part in parts),
        unit=description.unit,
        mechanism=choice.mechanism,
        spend=statistic.spend,
        epsilon=epsilon,
        loss=sum((part.loss for part in parts[1:]), parts[0].loss),
        alpha=statistic.alpha,
        gamma=statistic.gamma,
        accuracy=accuracy,
        accuracy_all=everywhere,
    )
