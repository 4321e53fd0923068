"""What `run` takes, refuses and returns."""

from __future__ import annotations

import copy
import pickle
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from curator_plans import known_plan, row_plan
from spec_text import make_spec
from test_hostile import BASE, NAMES, hostile_plan

from dpql.curator import run
from dpql.curator.engines.polars import _quiet
from dpql.curator.entropy import SystemBits
from dpql.curator.noise import MANY, perturbed, totals
from dpql.errors import RunFault
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Plan
from dpql.model.release import Rehearsal, Release
from dpql.planner import plan
from dpql.testing import SeededBits

TABLE = pl.DataFrame(BASE, schema=dict.fromkeys(NAMES, pl.String), orient="row")


def _files(folder: Path) -> dict[str, Any]:
    TABLE.write_parquet(folder / "a.parquet")
    TABLE.write_csv(folder / "a.csv")
    TABLE.write_csv(folder / "a.tsv", separator="\t")
    TABLE.write_ndjson(folder / "a.ndjson")
    TABLE.write_ipc(folder / "a.arrow")
    (folder / "hive" / "age=17").mkdir(parents=True)
    (folder / "hive" / "age=40").mkdir()
    for age in ("17", "40"):
        part = TABLE.filter(pl.col("age") == age).drop("age")
        part.write_parquet(folder / "hive" / f"age={age}" / "0.parquet")
    quoted = folder / "quoted.csv"
    TABLE.write_csv(quoted, quote_style="always")
    pandas = pd.DataFrame(TABLE.to_dict(as_series=False))
    return {
        "frame": TABLE,
        "lazy": TABLE.lazy(),
        "parquet": folder / "a.parquet",
        "glob": str(folder / "a.par*"),
        "csv": folder / "a.csv",
        "tsv": folder / "a.tsv",
        "ndjson": folder / "a.ndjson",
        "ipc": folder / "a.arrow",
        "hive": folder / "hive",
        "quoted csv": quoted,
        "pandas": pandas,
        "pyarrow": pa.table(TABLE.to_dict(as_series=False)),
        "duckdb": duckdb.connect().from_df(pandas),
        "texts": TABLE.to_dict(as_series=False),
    }


def test_every_kind_of_data_gives_the_same_release(tmp_path: Path) -> None:
    """Whatever holds the rows, the same coins give the same numbers."""
    made = hostile_plan()
    results = {
        kind: run(made, {"rows": frame}, bits=SeededBits(1)).results
        for kind, frame in _files(tmp_path).items()
    }
    for kind, found in results.items():
        assert results["frame"] == found, kind


def test_real_coins_make_a_release_and_others_a_rehearsal() -> None:
    """Only the operating system's coins give the type that can be signed."""
    made = hostile_plan()
    assert type(run(made, {"rows": TABLE})) is Release
    assert type(run(made, {"rows": TABLE}, bits=SystemBits())) is Release
    assert type(run(made, {"rows": TABLE}, bits=SeededBits(1))) is Rehearsal
    assert not issubclass(Rehearsal, Release)


def test_a_release_can_be_copied_and_sent() -> None:
    """A pickled or copied release is equal to the first, looked at before or not."""
    made = run(hostile_plan(), {"rows": TABLE}, bits=SystemBits())
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301  our own bytes
    assert copy.deepcopy(made) == made


def test_two_releases_differ() -> None:
    """Every run draws afresh."""
    made = hostile_plan()
    first, second = (run(made, {"rows": TABLE}) for _ in range(2))
    assert first.results != second.results


def test_the_ledger_is_asked_between_sums_and_noise() -> None:
    """`before_draw` runs once; what it raises ends the run without a draw."""
    drawn: list[int] = []

    class Counting(SeededBits):
        def read(self, lanes: Any, start: int, stop: int) -> bytes:
            drawn.append(len(lanes))
            return super().read(lanes, start, stop)

    def refuse() -> None:
        assert [1] == drawn, "the salt alone was drawn"
        raise RuntimeError("refused")

    with pytest.raises(RuntimeError, match="refused"):
        run(
            hostile_plan(),
            {"rows": TABLE},
            bits=Counting(1),
            before_draw=refuse,
        )
    assert [1] == drawn


def test_progress_ticks(tmp_path: Path) -> None:
    """The callback is called, and changes no number."""
    ticks: list[int] = []
    made = hostile_plan()
    TABLE.write_parquet(tmp_path / "a.parquet")
    for frame in (TABLE, tmp_path / "a.parquet"):
        quiet = run(made, {"rows": frame}, bits=SeededBits(3))
        ticking = run(
            made,
            {"rows": frame},
            bits=SeededBits(3),
            progress=lambda: ticks.append(1),
        )
        assert quiet == ticking
    assert ticks


def _refused(code: str, made: Plan, frames: dict[str, Any], **options: Any) -> str:
    with pytest.raises(RunFault) as caught:
        run(made, frames, **options)
    assert {code} == {d.code for d in caught.value.diagnostics}
    assert caught.value.__context__ is None
    return str(caught.value)


def test_settings_of_polars_are_left_as_they_were() -> None:
    """A run sets what it needs for itself, whether it ends well or not."""
    before = pl.Config.state()
    run(hostile_plan(), {"rows": TABLE}, bits=SeededBits(1))
    made = known_plan(5)
    rows = pl.DataFrame({c.name: ["1"] * 7 for c in made.spec.data.columns})
    _refused("DPQL505", made, {"rows": rows})
    assert before == pl.Config.state()


def test_settings_are_left_as_they_were_by_runs_that_overlap() -> None:
    """The first to start may be the first to end; the last one puts things back."""
    before = pl.Config.state()
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(_quiet())
        second.enter_context(_quiet())
        first.close()
        assert before != pl.Config.state()
    assert before == pl.Config.state()


def test_the_source_must_be_bound_by_its_name() -> None:
    """DPQL500: no other name, and no name too many."""
    assert "`rows`" in _refused("DPQL500", hostile_plan(), {"row": TABLE})
    _refused("DPQL500", hostile_plan(), {"rows": TABLE, "more": TABLE})
    _refused("DPQL500", hostile_plan(), {})


def test_a_path_must_lead_to_a_file(tmp_path: Path) -> None:
    """DPQL501: no file, and the path is not repeated."""
    text = _refused("DPQL501", hostile_plan(), {"rows": tmp_path / "no.parquet"})
    assert str(tmp_path) not in text


def test_data_must_be_of_a_known_kind(tmp_path: Path) -> None:
    """DPQL502: neither spreadsheets nor arbitrary objects."""
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    _refused("DPQL502", hostile_plan(), {"rows": tmp_path / "a.xlsx"})
    _refused("DPQL502", hostile_plan(), {"rows": object()})


def test_missing_columns_are_all_named(tmp_path: Path) -> None:
    """DPQL503: each missing column by name, from the header alone."""
    less = TABLE.drop("age", "score").with_columns(extra=pl.lit(1))
    text = _refused("DPQL503", hostile_plan(), {"rows": less})
    assert "`age`" in text
    assert "`score`" in text
    less.write_csv(tmp_path / "a.csv")
    assert text == _refused("DPQL503", hostile_plan(), {"rows": tmp_path / "a.csv"})


def test_impossible_types_are_named() -> None:
    """DPQL504: a type that holds neither numbers nor words."""
    dated = TABLE.with_columns(age=pl.date(2024, 1, 1), region=pl.concat_list("region"))
    text = _refused("DPQL504", hostile_plan(), {"rows": dated})
    assert "Date" in text
    assert "List" in text
    assert "north" not in text


def test_a_public_number_of_rows_is_enforced() -> None:
    """DPQL505: the declared number is named, never the actual one."""
    made = known_plan(5)
    rows = pl.DataFrame({c.name: ["1"] * 7 for c in made.spec.data.columns})
    text = _refused("DPQL505", made, {"rows": rows})
    assert "5" in text
    assert "7" not in text
    assert isinstance(run(made, {"rows": rows[:5]}), Release)


def test_a_private_number_of_rows_is_never_refused() -> None:
    """More rows than the ceiling are clamped without a word."""
    made = row_plan()
    rows = pl.DataFrame({c.name: ["20"] * 5_000 for c in made.spec.data.columns})
    outcome = run(made, {"rows": rows})
    assert outcome["everyone"].values[0].value <= made.spec.data.rows.count


def test_an_unknown_engine_is_refused() -> None:
    """DPQL506: the known ones are listed."""
    with pytest.raises(RunFault) as caught:
        run(hostile_plan(), {"rows": TABLE}, engine="abacus")
    assert "DPQL506" == caught.value.diagnostics[0].code
    assert "polars" in str(caught.value.diagnostics[0].hint)


def _keyed_plan(keys: int, mechanism: str) -> Plan:
    words = ", ".join(f"k{i}" for i in range(keys))
    return plan(
        make_spec(
            {"key": f"{{type: category, keys: [{words}]}}"},
            {"by_key": {"count": "rows", "by": "[key]", "spend": "{share: 1}"}},
            mechanism=mechanism,
        )
    )


@pytest.mark.heavy
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("keys", [7, MANY])
def test_every_declared_cell_gets_noise_in_order(keys: int, mechanism: str) -> None:
    """Empty cells too, whether drawn one by one or many at once."""
    made = _keyed_plan(keys, mechanism)
    rows = pl.DataFrame({"key": ["k0"] * 900 + ["undeclared"] * 50})
    outcome = run(made, {"rows": rows})
    values = outcome["by_key"].values
    assert keys == len(values)
    assert [(f"k{i}",) for i in range(keys)] == [value.cell for value in values]
    assert len({value.noisy for value in values}) > 1
    assert abs(values[0].value - 900) < 100


def test_values_are_read_as_the_plan_says() -> None:
    """A released value, its interval and its range follow from the noisy parts."""
    made = hostile_plan()
    outcome = run(made, {"rows": TABLE})
    for result in outcome.results:
        for value in result.values:
            step = result.step
            assert step.lower <= value.lower <= value.value <= value.upper <= step.upper
            for part, noisy in zip(step.parts, value.noisy, strict=True):
                module = MECHANISMS[part.noise.mechanism]
                noise = module.restore(dict(part.noise.parameters))
                grid = module.outcome(noise, 1) - module.outcome(noise, 0)
                off = (noisy - module.outcome(noise, 0)) / grid
                edge = noisy in (module.outcome(noise, s) for s in (10**30, -(10**30)))
                assert off.denominator == 1 or edge


def test_noise_is_centred_on_the_clamped_total() -> None:
    """With an epsilon that leaves hardly any noise, the totals come through."""
    made = plan(
        make_spec(
            {"x": "{type: integer, bounds: [0, 10], nulls: drop}"},
            {"total": {"sum": "x", "spend": "{share: 1}"}},
            epsilon="1000",
            rows="{at_most: 3}",
        )
    )
    (step,) = made.steps
    moments = {"n": [4], "u": [40]}
    assert [30] == totals(step.parts[0].measure, moments, 1)
    result = perturbed(step, moments, made.spec.data, SystemBits())
    assert Fraction(30) == result.values[0].value
