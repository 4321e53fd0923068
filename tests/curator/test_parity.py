"""Every engine returns the same integers as the slow reference, on any frame."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import reference_engine as reference
from curator_frames import frames
from curator_plans import COLUMNS, known_plan, known_unit_plan, row_plan, unit_plan
from exact_sums import TABLE, WITH_REFERENCE, exact_sums, same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import KINDS, Kind

from dpql.curator.noise import totals

pytestmark = pytest.mark.property

NAMES = list(COLUMNS)
RELAXED = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
@given(data=st.data())
@RELAXED
def test_rows_are_summed_as_by_the_reference(engine: Any, data: Any) -> None:
    """Every moment of every statistic agrees, where each row is a unit."""
    frame = data.draw(frames(NAMES))
    plan = row_plan()
    same(
        plan,
        exact_sums(plan, frame, engine=reference),
        exact_sums(plan, frame, engine=engine),
    )


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
@given(data=st.data())
@RELAXED
def test_known_rows_are_summed_as_by_the_reference(engine: Any, data: Any) -> None:
    """Every moment agrees where the number of rows is public."""
    frame = data.draw(frames(NAMES, size=5))
    plan = known_plan(5)
    same(
        plan,
        exact_sums(plan, frame, engine=reference),
        exact_sums(plan, frame, engine=engine),
    )


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
@given(data=st.data())
@RELAXED
def test_units_within_their_bounds_are_untouched(engine: Any, data: Any) -> None:
    """Where no unit exceeds its bounds, bounding changes nothing."""
    frame = data.draw(frames(["person", *NAMES]))
    plan = unit_plan(20, 20)
    same(
        plan,
        exact_sums(plan, frame, engine=reference),
        exact_sums(plan, frame, engine=engine),
    )


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
@given(data=st.data(), order=st.randoms(use_true_random=False))
@settings(RELAXED, max_examples=20)
def test_order_and_chunks_do_not_matter(
    engine: Any, data: Any, order: random.Random
) -> None:
    """Shuffling and rechunking rows leaves every integer as it is, bounds included."""
    for plan in (row_plan(), unit_plan(1, 1), known_unit_plan(8, 1)):
        names = [column.name for column in plan.spec.data.columns]
        frame = data.draw(frames(names, size=8))
        positions = list(range(8))
        order.shuffle(positions)
        shuffled = pl.concat([frame[position] for position in positions], rechunk=False)
        same(
            plan,
            exact_sums(plan, frame, engine=engine),
            exact_sums(plan, shuffled, engine=engine),
        )


@pytest.mark.parametrize("engine", WITH_REFERENCE.values(), ids=WITH_REFERENCE)
@pytest.mark.parametrize("name", ["row", "known", "unit", "known_unit"])
def test_an_empty_frame_counts_nothing(engine: Any, name: str) -> None:
    """No rows is a frame like any other: all cells are there, all sums 0."""
    plans = {
        "row": row_plan(),
        "known": known_plan(5),
        "unit": unit_plan(),
        "known_unit": known_unit_plan(5),
    }
    plan = plans[name]
    names = [column.name for column in plan.spec.data.columns]
    found = exact_sums(
        plan, pl.DataFrame(schema=dict.fromkeys(names, pl.String)), engine=engine
    )
    for step, moments in zip(plan.steps, found.moments, strict=True):
        assert {m.name: [0] * step.cells for m in step.moments} == dict(moments)


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
def test_many_files_are_one_frame(engine: Any, tmp_path: Any) -> None:
    """A glob of parquet files gives the integers of the whole frame."""
    plan = unit_plan()
    rng = random.Random(3)
    frame = pl.DataFrame(
        {
            "person": [rng.randrange(40) for _ in range(200)],
            "region": [rng.choice(["north", "1", "no"]) for _ in range(200)],
            "kind": [rng.choice(["a", "b", None]) for _ in range(200)],
            **{
                name: [rng.uniform(-60, 160) for _ in range(200)]
                for name in NAMES
                if name not in ("region", "kind")
            },
        }
    )
    for part in range(4):
        frame[50 * part : 50 * part + 50].write_parquet(tmp_path / f"{part}.parquet")
    whole = exact_sums(plan, frame, engine=engine)
    same(plan, whole, exact_sums(plan, str(tmp_path / "*.parquet"), engine=engine))
    same(plan, whole, exact_sums(plan, tmp_path, engine=engine))


def _ordinary(rows: int) -> pl.DataFrame:
    """Return rows that every format can hold: units of several rows, odd numbers."""
    rng = random.Random(11)
    odd = [float("nan"), float("inf"), float("-inf"), None, 1e308, -1e300, 0.1, 12.34]

    def number() -> float | None:
        return rng.choice(odd) if rng.random() < 0.2 else rng.uniform(-60, 160)

    numbers = [name for name in NAMES if name not in ("region", "kind")]
    words = ["north", "élan", "日本", "1", "other", None]
    return pl.DataFrame(
        {
            "person": [
                rng.choice(["p", "q", "é", None, *"abcdef"]) for _ in range(rows)
            ],
            "region": [rng.choice(words) for _ in range(rows)],
            "kind": [rng.choice(["a", "b", "A", None]) for _ in range(rows)],
            **{name: [number() for _ in range(rows)] for name in numbers},
        }
    )


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
def test_every_source_gives_the_same_integers(
    engine: Any, kind: Kind, tmp_path: Path
) -> None:
    """Wherever the rows lie, sums and survivors are those of a frame in memory."""
    frame = _ordinary(200)
    stored = kind.stored(frame)
    for plan in (row_plan(), unit_plan(1, 2)):
        found = exact_sums(plan, kind.make(frame, tmp_path), engine=engine)
        same(plan, exact_sums(plan, stored, engine=engine), found)


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
def test_sums_beyond_64_bits_are_exact(engine: Any) -> None:
    """A million rows at the upper bound of the finest grid overflow nothing."""
    plan = row_plan()
    count = 1_000_000
    cells = {name: pl.repeat(150.0, count, eager=True) for name in NAMES}
    cells["region"] = pl.repeat("north", count, eager=True)
    cells["kind"] = pl.repeat("a", count, eager=True)
    found = exact_sums(plan, pl.DataFrame(cells), engine=engine)
    for name in ("total_score", "spread_score"):
        step = plan.step(name)
        moments = found.moments[plan.steps.index(step)]
        top = step.grids[0].steps
        power = {"u": 1, "uu": 2}
        for moment in step.moments:
            if moment.name in power:
                expected = count * top ** power[moment.name]
                assert expected == moments[moment.name][0]


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
@given(data=st.data())
@settings(RELAXED, max_examples=30)
def test_text_files_hold_what_their_cells_say(
    engine: Any, data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cells of any text, written as csv and as ndjson, are read as they are."""
    plan = row_plan()
    marks = st.characters(codec="utf-8", exclude_characters=',"\r\n')
    cells = st.text(marks, min_size=1, max_size=4) | st.sampled_from(
        ["17", "17.5", "nan", "-inf", "1e400", "north", "1", "a", "b", "0.1", "12.34"]
    )
    count = data.draw(st.integers(0, 6))
    rows = [{name: data.draw(cells) for name in NAMES} for _ in range(count)]
    folder = tmp_path_factory.mktemp("text")
    lines = [",".join(NAMES), *(",".join(row.values()) for row in rows)]
    (folder / "a.csv").write_bytes("".join(f"{line}\n" for line in lines).encode())
    expected = exact_sums(plan, rows, engine=reference)
    same(plan, expected, exact_sums(plan, str(folder / "a.csv"), engine=engine))
    if rows:
        frame = pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String))
        frame.write_ndjson(folder / "a.ndjson")
        same(plan, expected, exact_sums(plan, str(folder / "a.ndjson"), engine=engine))


@pytest.mark.parametrize("engine", TABLE.values(), ids=TABLE)
@given(data=st.data())
@settings(RELAXED, max_examples=40)
def test_neighbours_differ_within_the_sensitivity(engine: Any, data: Any) -> None:
    """Adding or replacing all rows of a unit moves no measure further than planned."""
    kind = data.draw(st.sampled_from(["row", "known", "unit"]))
    plan = {"row": row_plan(), "known": known_plan(6), "unit": unit_plan(2, 2)}[kind]
    names = [column.name for column in plan.spec.data.columns]
    size = 1 if kind != "unit" else data.draw(st.integers(1, 7))
    frame = data.draw(frames(names, size=5 + 2 * size))
    rest, one, other = frame[:5], frame[5 : 5 + size], frame[5 + size :]
    if kind == "unit":
        strangers = frame["person"].cast(pl.String) + "!"
        rest = rest.with_columns(strangers[:5].alias("person"))
        one = one.with_columns(pl.lit("unit").alias("person"))
    first = pl.concat([rest, one])
    second = pl.concat([rest, other]) if kind == "known" else rest
    before, after = (
        exact_sums(plan, first, engine=engine),
        exact_sums(plan, second, engine=engine),
    )
    for step, a, b in zip(plan.steps, before.moments, after.moments, strict=True):
        changes = [
            [
                abs(x - y)
                for x, y in zip(
                    totals(part.measure, a, step.cells),
                    totals(part.measure, b, step.cells),
                    strict=True,
                )
            ]
            for part in step.parts
        ]
        for part, moved in zip(step.parts, changes, strict=True):
            measure = part.measure
            times = sum(-(-change // measure.sensitivity) for change in moved)
            assert step.joint or times <= measure.l0, step.name
            # Joint parts share one sensitivity, over all of them and all cells.
            together = sum(map(sum, changes))
            assert not step.joint or together <= measure.sensitivity, step.name
