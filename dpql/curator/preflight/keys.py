"""Which private keys a run would show, counted exactly: for the owner's eyes alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpql.curator.compilation import Keys, compile_searches
from dpql.curator.engines import Searched
from dpql.curator.preflight.contributions import SALT
from dpql.curator.program import Program
from dpql.model.plan import Plan

Counted = Callable[[Program, bytes], Searched]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysFit:
    """How many ``keys`` there are, by how often a run would show them.

    Those of fewer units than any key needs are shown ``never``; others in ``half`` of
    the runs at least, and of these some as often as the plan says under ``usual``.
    """

    name: str
    keys: int
    never: int
    half: int
    usual: int


def keys_fits(plan: Plan, counted: Counted) -> tuple[tuple[KeysFit, ...], Keys]:
    """Return how many keys there are, and those that most runs show.

    Which keys of a unit count is drawn by lot; here it is one lot of many.
    """
    program = compile_searches(plan)
    if program is None:
        return (), {}
    found = counted(program, SALT)
    fits: list[KeysFit] = []
    keys: dict[str, list[tuple[str, ...]]] = {}
    for one, present in zip(program.searches, found.counts, strict=True):
        search = plan.step(one.statistic).search
        assert search is not None, "it finds keys"
        units = present.counts
        usual = np.flatnonzero(units >= search.usual)
        keys[one.statistic] = sorted(present.keys(usual[: search.most]))
        fits.append(
            KeysFit(
                name=one.statistic,
                keys=len(units),
                never=int((units < search.shown_from).sum()),
                half=int((units >= search.half).sum()),
                usual=len(usual),
            )
        )
    return tuple(fits), keys
