"""What is promised: the error of every step, per cell and for all cells at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from dpql.model.plan import Moment, Part, Pick, Readout, Search, Step
from dpql.planner.bind import count_cells
from dpql.planner.calibrate import granted, make_picks, make_search, stated_error
from dpql.planner.draft import Draft
from dpql.statistics import STATISTICS, Description
from dpql.statistics.searches import found_by

MOMENTS = ("n", "d", "u", "v", "uu", "uv")


def state_accuracy(draft: Draft) -> Draft:
    """Finish the steps with what they promise."""
    count = len(draft.spec.statistics)
    return replace(draft, steps=tuple(_step(draft, index) for index in range(count)))


def needed(parts: tuple[Part, ...]) -> tuple[str, ...]:
    """Return the names of the moments that the parts are made of, in fixed order."""
    terms = [term for part in parts for term in part.measure.terms]
    names = {name for term in terms for name in term.moments}
    return tuple(name for name in MOMENTS if name in names)


def _readout(
    description: Description, amount: Fraction, parts: tuple[Part, ...]
) -> Readout:
    if description.joint is not None:
        return description.joint.readout(amount, parts[0].level)
    assert description.readout is not None, "it is joint or has a readout"
    return description.readout


def _step(draft: Draft, index: int) -> Step:
    spec = draft.spec
    statistic, choice = spec.statistics[index], draft.choices[index]
    description = draft.descriptions[index][choice.mechanism]
    parts, setting = draft.parts[index], draft.settings[index]
    amount = granted(choice)
    joint = description.joint is not None
    released = 1 if setting.added_up else count_cells(spec, statistic)
    grouped = bool(spec.data.private(statistic.by))
    accuracy, everywhere = (
        stated_error(
            description,
            choice.mechanism,
            amount,
            statistic=statistic,
            rows=statistic.at_least,
            cells=cells,
        )
        for cells in (1, released)
    )
    picks: tuple[Pick, ...] = ()
    if description.ranks is not None:
        picks = make_picks(
            description.ranks,
            choice.mechanism,
            amount,
            alpha=statistic.alpha,
            accounted=bool(spec.privacy.delta),
        )
    search: Search | None = None
    if description.sought is not None:
        search = make_search(
            description.sought, choice.mechanism, amount, alpha=statistic.alpha
        )
    finder = found_by(spec, statistic)
    add: Callable[[list[Fraction]], Fraction] = max if joint else _total
    made: tuple[Part | Pick | Search, ...] = (*parts, *picks)
    if search is not None:
        made = (search,)
    losses = [each.loss for each in made if each.loss is not None]
    rhos = [each.rho for each in made if each.rho is not None]
    return Step(
        name=statistic.name,
        statistic=statistic.kind,
        columns=statistic.columns,
        edges=statistic.edges,
        at=statistic.at,
        condition=statistic.condition,
        where=statistic.where,
        by=() if setting.added_up else statistic.by,
        at_least=statistic.at_least,
        total_of=statistic.total_of,
        total=None,
        relation=spec.privacy.neighbours,
        cells=released,
        bound=draft.bounds[index],
        grids=setting.grids,
        moments=tuple(Moment(name=name) for name in needed(parts)),
        joint=joint,
        parts=parts,
        picks=picks,
        readout=_readout(description, amount, parts),
        quantisation=description.quantisation,
        sensitivity=description.sensitivity,
        lower=description.lower,
        upper=description.upper,
        l0=max((part.measure.l0 for part in parts), default=1)
        if search is None
        else search.keys,
        unit=description.unit,
        mechanism=choice.mechanism,
        spend=statistic.spend,
        epsilon=choice.epsilon,
        loss=add(losses) if losses else None,
        alpha=statistic.alpha,
        gamma=statistic.gamma,
        accuracy=None if STATISTICS[statistic.kind].finds else accuracy,
        accuracy_all=None if grouped else everywhere,
        rho=add(rhos) if rhos else None,
        delta=Fraction(0) if search is None else search.delta,
        search=search,
        found_by=None if finder is None or search is not None else finder.name,
    )


def _total(amounts: list[Fraction]) -> Fraction:
    return sum(amounts, Fraction(0))
