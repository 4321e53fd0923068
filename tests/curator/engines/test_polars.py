"""The polars engine: sums of batches in threads, and settings that are put back."""

from __future__ import annotations

import threading
from dataclasses import replace

import polars as pl
import pytest
from curator_plans import known_plan, row_plan, unit_plan
from exact_sums import SALT, exact_sums, same

from dpql.curator.compilation import compile_program
from dpql.curator.engines import polars, polars_bounding
from dpql.curator.sources import memory
from dpql.curator.sources.source import Source
from dpql.model.plan import Plan

PLANS = {"rows": row_plan(), "known rows": known_plan(50), "units": unit_plan(1, 2)}


def _frame(made: Plan, rows: int) -> pl.DataFrame:
    columns = {
        column.name: [str((7 * row + index) % 97) for row in range(rows)]
        for index, column in enumerate(made.spec.data.columns)
    }
    columns["region"] = ["north", "1"] * (rows // 2)
    columns["kind"] = ["a", "b"] * (rows // 2)
    return pl.DataFrame(columns)


@pytest.mark.heavy
@pytest.mark.parametrize("made", PLANS.values(), ids=PLANS)
def test_batches_of_any_size_sum_alike(
    made: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One batch, many and single rows give the same integers."""
    frame = _frame(made, 50)
    whole = exact_sums(made, frame)
    for rows in (17, 1):
        monkeypatch.setattr(memory, "BATCH_ROWS", rows)
        monkeypatch.setattr("dpql.curator.sources.source.BATCH_ROWS", rows)
        same(made, whole, exact_sums(made, frame))


@pytest.mark.heavy
@pytest.mark.parametrize("partition_rows", [1 << 17, 8])
@pytest.mark.parametrize("made", PLANS.values(), ids=PLANS)
def test_a_declared_number_changes_no_sum(
    made: Plan, partition_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ceiling far above or below the rows that come decides only about memory."""
    monkeypatch.setattr(polars_bounding, "PARTITION_ROWS", partition_rows)
    source = polars.open_source(_frame(made, 50), made.spec.data)
    program = compile_program(made)
    found = [
        polars.sums(
            replace(program, declared_rows=rows), source, salt=SALT, tick=None
        ).moments
        for rows in (1, 10**9, 1 << 62)
    ]
    assert [found[0]] * 3 == found


@pytest.mark.parametrize("made", PLANS.values(), ids=PLANS)
def test_rows_are_counted_only_where_their_number_is_public(
    made: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A private number of rows is not even asked for."""
    asked: list[int] = []
    honest = Source.row_count

    def counted(source: Source) -> int:
        asked.append(honest(source))
        return asked[-1]

    monkeypatch.setattr(Source, "row_count", counted)
    rows = exact_sums(made, _frame(made, 50)).rows
    public = made is PLANS["known rows"]
    assert (50 if public else None) == rows
    assert ([50] if public else []) == asked


def test_every_batch_ticks_and_no_thread_is_left() -> None:
    """Progress is told of each batch; threads end with the sums."""
    ticks: list[None] = []
    made = unit_plan()
    source = polars.open_source(_frame(made, 50), made.spec.data)
    before = threading.active_count()
    program = compile_program(made)
    polars.sums(program, source, salt=SALT, tick=lambda: ticks.append(None))
    assert 1 == len(ticks)
    assert before == threading.active_count()


def test_settings_of_polars_are_put_back_by_the_last() -> None:
    """Runs that overlap share the settings; whoever ends last restores them."""
    before = pl.Config.state()
    first, second = polars._quiet(), polars._quiet()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert before != pl.Config.state()
    second.__exit__(None, None, None)
    assert before == pl.Config.state()
