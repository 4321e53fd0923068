"""Whoever adds, removes or replaces one unit changes no more than the plan declares.

Pairs of tables in every format, read, added up and drawn for: exact numbers keep to
their declared change, both tables run or none does, and both ask for the same coins.
`python tools/neighbours.py N` tries N pairs; the suite tries a few hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from neighbour_pairs import CASES, EXAMPLES, FORMATS, Case, Pair, check, pairs

from dpql.curator import noise
from dpql.curator.bounding import Bounder
from dpql.curator.engines import polars, polars_bounding
from dpql.curator.sources import canonical
from dpql.mechanisms.bits import Bits, read_one
from dpql.model.plan import Part

pytestmark = pytest.mark.property

EVERY = list(HealthCheck)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]} {case[2]}")
def test_no_unit_shows(case: Case, tmp_path: Path) -> None:
    """No pair of neighbours differs in more than what the noise hides."""
    most = -(-EXAMPLES // len(CASES))

    @given(pair=pairs(case))
    @settings(
        max_examples=most,
        deadline=None,
        suppress_health_check=EVERY,
        phases=[Phase.reuse, Phase.generate],
        report_multiple_bugs=False,
    )
    def every(pair: Pair) -> None:
        check(pair, tmp_path)

    every()


FIXED = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=EVERY,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
)
"""The same pairs every time, and no smaller ones."""


def _check(folder: Path, cases: Sequence[Case], how: settings = FIXED) -> None:
    """Check some pairs of each case."""
    for case in cases:

        @given(pair=pairs(case))
        @how
        def every(pair: Pair) -> None:
            check(pair, folder)

        every()


@pytest.mark.parametrize("case", CASES[:5], ids=lambda case: f"{case[1]} {case[2]}")
def test_pairs_are_of_all_kinds(case: Case) -> None:
    """Every format and way of drawing is tried, and most pairs differ."""
    found: list[Pair] = []

    @given(pair=pairs(case))
    @settings(FIXED, max_examples=100)
    def every(pair: Pair) -> None:
        found.append(pair)

    every()
    assert set(FORMATS) == {pair.format for pair in found}
    assert {True, False} == {pair.many for pair in found}
    differing = [pair for pair in found if len(pair.tables[0]) > len(pair.tables[1])]
    assert len(differing) > len(found) / 2


def _everybody(_bounder: Bounder, cells: Any, **_: Any) -> Any:
    return cells > 0


def _one_unit(units: Any, *others: Any) -> Bounder:
    return Bounder(np.zeros_like(units), *others)


HONEST = polars.sums
DRAWN = noise._drawn


def _stumbling(program: Any, source: Any, **how: Any) -> Any:
    """Fail where an exact number is odd."""
    sums = HONEST(program, source, **how)
    if sums.moments[0]["n"][0] % 2:
        raise OverflowError
    return sums


def _looking(part: Part, moments: Any, count: int, bits: Bits) -> Sequence[int]:
    """Draw a coin more where an exact number is odd."""
    if noise.totals(part.measure, moments, count)[0] % 2:
        read_one(bits, 0, 1)
    return DRAWN(part, moments, count, bits)


PLANTED: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "no bound": (Bounder, "survivors", _everybody),
    "units joined": (polars_bounding, "Bounder", _one_unit),
    "a failure": (polars, "sums", _stumbling),
    "a coin more": (noise, "_drawn", _looking),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_seen(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness can fail: each fault shows within a few pairs."""
    monkeypatch.setattr(*PLANTED[name])
    with pytest.raises(AssertionError):
        _check(tmp_path, CASES)


def _lossy(cell: bytes) -> bytes:
    return cell.decode(errors="replace").replace('"', "").encode()


def test_ids_read_carelessly_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids that lose the bytes that are no UTF-8 share a bound, and that shows."""
    honest = canonical._id_bytes

    def careless(cells: pl.Series) -> pl.Series:
        ids = [None if cell is None else _lossy(cell) for cell in honest(cells)]
        return pl.Series(cells.name, ids, dtype=pl.Binary)

    monkeypatch.setattr(canonical, "_id_bytes", careless)
    tightest = [case for case in CASES if case[2] == (1, 1)]
    with pytest.raises(AssertionError):
        _check(tmp_path, tightest, settings(FIXED, max_examples=100))
