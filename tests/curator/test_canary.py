"""Nothing that comes out of a run carries an exact count, a cell or a digest."""

from __future__ import annotations

import hashlib
import io
import logging
import pickle
import traceback
from dataclasses import astuple
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from curator_kinds import WRITE
from test_hostile import hostile_plan

from dpql.curator import run
from dpql.curator.compilation import compile_program
from dpql.curator.engines import Sums, polars
from dpql.errors import RunFault
from dpql.model.release import Outcome

ROWS = 104_729
CANARY_WORD = "Zebedee-7141-canary"
CANARY_CELL = 98.76543210123


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a table of an odd number of rows with secret words and numbers."""
    path = tmp_path_factory.mktemp("canary") / "rows.parquet"
    pl.DataFrame(
        {
            "region": ["north", CANARY_WORD, *["south"] * (ROWS - 2)],
            "age": [17] * ROWS,
            "wage": [CANARY_CELL] * ROWS,
            "score": [0.5] * ROWS,
            "name": [CANARY_WORD] * ROWS,
        }
    ).write_parquet(path)
    return path


def _everything(outcome: Outcome) -> str:
    """Return every text and byte that a release can be made to show."""
    fields = {
        "repr": repr(outcome),
        "str": str(outcome),
        "html": outcome._repr_html_(),
        "csv": outcome.to_csv(),
        "table": str(outcome.to_polars().rows()),
        "parquet": outcome.to_parquet().decode("latin-1"),
        "coins": outcome.coins,
        "engine": outcome.engine,
        "plan": outcome.plan.to_json().decode(),
        "results": repr([astuple(result) for result in outcome.results]),
        "tables": "".join(map(str, outcome.results)),
        "values": repr(
            [astuple(value) for result in outcome.results for value in result.values]
        ),
        "attributes": repr(vars(outcome)),
    }
    return "\n".join(fields.values())


def test_the_release_holds_no_canary(
    table: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Row count, secret word, file digest and path appear nowhere."""
    with caplog.at_level(logging.DEBUG):
        texts = [_everything(run(hostile_plan(), {"rows": table})) for _ in range(3)]
    shown = "".join([*capfd.readouterr(), caplog.text])
    assert shown == ""
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    canaries = [CANARY_WORD, digest, str(table), str(CANARY_CELL)]
    for text in texts:
        for canary in canaries:
            assert canary not in text
    # Noise may hit the exact count once; it does not do so three times.
    assert not all(str(ROWS) in text for text in texts)


FEW = 10_007


@pytest.mark.parametrize(
    "form",
    ["csv", "tsv", "ndjson", "arrow", "parquet", "folder", "table", "pandas", "lists"],
)
def test_no_kind_of_data_shows_a_canary(
    form: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Neither the release nor any stream repeats cells, counts, names or digests."""
    rows = pl.DataFrame(
        {
            "region": [CANARY_WORD] * FEW,
            "age": [CANARY_WORD, *["17"] * (FEW - 1)],
            "wage": [CANARY_CELL] * FEW,
            "score": [0.5] * FEW,
        }
    )
    frames: dict[str, Any] = {
        "table": rows.to_arrow(),
        "pandas": rows.to_pandas(),
        "lists": rows.to_dict(as_series=False),
    }
    canaries = [CANARY_WORD, str(CANARY_CELL)]
    if form not in frames:
        folder = tmp_path / f"region={CANARY_WORD}"
        folder.mkdir()
        path = folder / f"rows.{'csv' if form == 'folder' else form}"
        WRITE[path.suffix[1:]](rows, path)
        canaries += [hashlib.sha256(path.read_bytes()).hexdigest(), str(tmp_path)]
        frames[form] = tmp_path if form == "folder" else path
    with caplog.at_level(logging.DEBUG):
        texts = [_everything(run(hostile_plan(), {"rows": frames[form]})) for _ in "12"]
    assert ["", "", ""] == [*capfd.readouterr(), caplog.text]
    for text in texts:
        assert [] == [canary for canary in canaries if canary in text]


def test_exact_sums_never_show_themselves(table: Path) -> None:
    """The handle of the rows and the exact sums have no telling repr."""
    made = hostile_plan()
    opened = polars.open_source(str(table), made.spec.data)
    sums = polars.sums(compile_program(made), opened, salt=b"c" * 32, tick=None)
    assert str(ROWS) in str(sums.moments)
    for text in (repr(sums), str(sums), repr(opened)):
        assert str(ROWS) not in text
        assert CANARY_WORD not in text


def test_a_release_keeps_no_exact_number(table: Path) -> None:
    """Whatever a release refers to, however deep, is plan or noisy."""
    outcome = run(hostile_plan(), {"rows": table})
    tuple(value for result in outcome.results for value in result.values)
    seen: set[int] = set()
    stack: list[Any] = [outcome]
    while stack:
        thing = stack.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        assert not isinstance(thing, Sums | pl.DataFrame | pl.LazyFrame)
        if isinstance(thing, tuple | list | dict):
            stack += thing.values() if isinstance(thing, dict) else thing
        elif type(thing).__module__.startswith("dpql.model.release"):
            names = [*getattr(thing, "__slots__", ()), *getattr(thing, "__dict__", ())]
            stack += [getattr(thing, name) for name in names if hasattr(thing, name)]
            assert getattr(thing, "_make", None) is None


class _Failing:
    """An object whose stream fails with a message that quotes a cell."""

    def __arrow_c_stream__(self, requested: object = None) -> object:
        raise ValueError(CANARY_WORD)


class _Sequence(list[str]):
    """A column that fails with a message that quotes a cell."""

    def __iter__(self) -> Any:
        raise ValueError(CANARY_WORD)


def _damaged(folder: Path) -> str:
    path = folder / "rows.parquet"
    whole = io.BytesIO()
    pl.DataFrame(
        {name: [CANARY_WORD] * 9 for name in ("region", "age", "wage", "score")}
    ).write_parquet(whole)
    content = bytearray(whole.getvalue())
    content[4:60] = b"\xff" * 56
    path.write_bytes(bytes(content))
    return str(path)


def test_errors_of_engines_stop_at_the_wall(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A failing engine leaves one fixed fault: no cause, no context, no quotation."""
    lazy = pl.DataFrame(
        {name: [CANARY_WORD] for name in ("region", "age", "wage", "score")}
    ).lazy()
    strict = lazy.with_columns(pl.col("age").cast(pl.Int64, strict=True))
    texts = set()
    columns = dict.fromkeys(("region", "age", "wage", "score"), _Sequence())
    for frame in (_Failing(), strict, _damaged(tmp_path), columns):
        with pytest.raises(RunFault) as caught:
            run(hostile_plan(), {"rows": frame})
        error = caught.value
        assert [d.code for d in error.diagnostics] == ["DPQL510"]
        assert error.__cause__ is None
        assert error.__context__ is None
        shown = "".join(traceback.format_exception(error))
        assert CANARY_WORD not in shown
        assert CANARY_WORD.encode() not in pickle.dumps(error.diagnostics)
        texts.add(str(error))
    assert len(texts) == 1
    assert ("", "") == tuple(capfd.readouterr())
