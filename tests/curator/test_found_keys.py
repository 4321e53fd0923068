"""Keys that a run shows: from how many units on, how many, and paid for before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from private_specs import private_plan

from dpql.curator import run
from dpql.curator.noise import found
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.model.release import Result
from dpql.testing import SeededBits

UNITS = {"few": 40, "none": 51, "more": 90, "most": 200}
"""Keys and their units; those of `none` are one more than are shown."""


@dataclass(frozen=True)
class _Counted:
    """What an engine has counted."""

    words: Sequence[str]
    counts: NDArray[np.int64]

    def keys(self, indices: NDArray[np.int64]) -> list[tuple[str, ...]]:
        return [(self.words[index],) for index in indices]


@dataclass
class _Watched:
    """Coins, and how often somebody asked for some."""

    coins: SeededBits
    reads: int = 0

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        self.reads += 1
        return self.coins.read(lanes, start, stop)


def _only_flights(made: Plan, **changed: int) -> Plan:
    """Return a plan of one search, changed as if it had been planned so."""
    step = made.step("flights")
    assert step.search is not None
    step = replace(step, search=replace(step.search, **changed))
    return replace(made, steps=(step,))


def _shown(made: Plan, seed: int) -> dict[str, Fraction]:
    """Return the keys that are shown, and their noisy counts."""
    counted = _Counted(list(UNITS), np.array(list(UNITS.values()), np.int64))
    result: Result = found(made, (counted,), SeededBits(seed))["flights"]
    return {value.cell[0]: value.noisy[0] for value in result.values}


@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
def test_units_below_the_least_number_are_as_if_nobody_had_the_key(
    mechanism: str,
) -> None:
    """They are never shown, and counts of the others are about right."""
    made = private_plan(mechanism=mechanism, epsilon="400", shown_from=51)
    made = _only_flights(made)
    for seed in range(20):
        shown = _shown(made, seed)
        assert {"more", "most"} <= set(shown)
        assert "few" not in shown
        for key in ("more", "most"):
            assert abs(shown[key] - UNITS[key]) < 20


def test_no_more_keys_are_shown_than_the_plan_says() -> None:
    """Those of the largest counts stay, in the order of their texts."""
    made = private_plan(mechanism="geometric", epsilon="400")
    assert sorted(UNITS) == list(_shown(_only_flights(made), 1))
    assert ["more", "most"] == list(_shown(_only_flights(made, most=2), 1))
    assert ["most"] == list(_shown(_only_flights(made, most=1), 1))


def test_keys_are_paid_for_before_coins_are_drawn() -> None:
    """Until then only the salt is drawn; and a refusal shows nothing."""
    names = ("plane", "dest", "origin", "carrier")
    frame = pl.DataFrame({name: ["UA"] * 9 for name in names})
    frame = frame.with_columns(pl.Series("delay", range(9)))
    coins = _Watched(SeededBits(3))
    seen: list[int] = []
    run(
        private_plan(),
        {"rows": frame},
        bits=coins,
        before_draw=lambda: seen.append(coins.reads),
    )
    assert [1] == seen
    assert coins.reads > 1

    def refuse() -> None:
        raise RunFault.of("DPQL500", "no budget", hint="")

    refused = _Watched(SeededBits(3))
    with pytest.raises(RunFault):
        run(private_plan(), {"rows": frame}, bits=refused, before_draw=refuse)
    assert 1 == refused.reads
