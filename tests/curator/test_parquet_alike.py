"""Columns of equal cells: two readers find in them what was asked for."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from curator_frames import frames
from curator_plans import COLUMNS, row_plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_parity import answer, same

from dpql.curator.engines import parquet_excerpts, polars_engine, polars_excerpts
from dpql.curator.engines.parquet_alike import TEXT, alike
from dpql.curator.engines.parquet_footer import MAGIC, footer
from dpql.curator.engines.parquet_pages import check_pages

Groups = list[tuple[bytes | None, int]]


def _file(groups: Groups) -> bytes:
    """Return a file with a row group for each word, and so many rows in it."""
    body, told = MAGIC, []
    for word, rows in groups:
        stored, chunk = alike(word, rows)
        check_pages(memoryview(stored), chunk)
        assert (chunk.length, chunk.cells) == (len(stored), rows)
        told.append((rows, [chunk.moved(len(body))]))
        body += stored
    return body + footer([TEXT], told)


def _expected(groups: Groups) -> list[bytes | None]:
    return [word for word, rows in groups for _ in range(rows)]


@pytest.mark.property
@given(
    st.lists(
        st.tuples(
            st.none() | st.binary(max_size=9),
            st.sampled_from([0, 1, 2, 63, 64, 65, 5000]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_readers_find_the_words(groups: Groups) -> None:
    """Both find the same cells: words of any bytes, empty ones, and nulls."""
    made = _file(groups)
    assert _expected(groups) == pl.read_parquet(made).to_series().to_list()
    assert _expected(groups) == pq.read_table(io.BytesIO(made)).column(0).to_pylist()


@pytest.mark.parametrize("word", [None, b"", b"north", b"x" * 255])
def test_many_rows_take_no_more_room_than_few(word: bytes | None) -> None:
    """A million cells are a few bytes more than one."""
    (few, _), (many, _) = alike(word, 1), alike(word, 10**6)
    assert len(many) <= len(few) + 8
    assert {word: 10**6} == _counted([(word, 10**6)])


def test_streams_are_read_too() -> None:
    """The streaming engine, which the curator uses, reads them as well."""
    groups: Groups = [(b"a", 70_000), (None, 3), (b"b", 70_000), (b"a", 1)]
    assert {b"a": 70_001, b"b": 70_000, None: 3} == _counted(groups)


def _counted(groups: Groups) -> dict[bytes | None, int]:
    """Return how often the streaming engine finds each word."""
    rows = pl.scan_parquet(_file(groups), use_statistics=False)
    return dict(rows.group_by("0").len().collect(engine="streaming").iter_rows())


@pytest.mark.parametrize("folders", [("region",), ("age",), ("region", "kind", "big")])
@given(data=st.data())
@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
def test_values_of_folders_count_like_those_of_columns(
    folders: tuple[str, ...], data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Categories and numbers, known and unknown ones, nulls, text in a number."""
    cells = st.sampled_from([None, "north", "1", "b", "17", "1e3", "no number"])
    rows = data.draw(frames([name for name in COLUMNS if name not in folders]))
    values = data.draw(
        st.lists(
            st.tuples(*(cells for _ in folders)), min_size=1, max_size=4, unique=True
        )
    )
    root = tmp_path_factory.mktemp("table")
    flat = []
    for some in values:
        named = dict(zip(folders, some, strict=True))
        folder = root.joinpath(*(f"{n}={_spelt(value)}" for n, value in named.items()))
        folder.mkdir(parents=True)
        rows.write_parquet(folder / "a.parquet", row_group_size=5)
        flat.append(
            rows.with_columns(pl.lit(v, pl.String).alias(n) for n, v in named.items())
        )
    plan = row_plan()
    whole = pl.concat(flat)
    expected = answer(polars_engine, plan, whole)
    with pytest.MonkeyPatch.context() as patched:
        # Larger row groups are left to Arrow, beside smaller ones of the same file.
        largest = data.draw(st.sampled_from([2, 4, 99]))
        patched.setattr(parquet_excerpts, "_LARGEST_ROWS", largest)
        same(plan, expected, answer(polars_engine, plan, str(root)))


def _spelt(value: str | None) -> str:
    return "__HIVE_DEFAULT_PARTITION__" if value is None else value


@pytest.mark.parametrize("few", [0, 99])
def test_many_folders_are_one_portion(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each portion costs a call of polars, so small files are read together."""
    monkeypatch.setattr(polars_excerpts, "_FEW_KEYS", few)
    rows = pl.DataFrame({name: [1, 2] for name in COLUMNS})
    for number in range(40):
        folder = tmp_path / f"region={number}"
        folder.mkdir()
        rows.drop("region").write_parquet(folder / "a.parquet")
    source = polars_engine.open_frame(str(tmp_path), row_plan().spec.data)
    assert [0] == [number for number, _ in source.portions([["region", "age"]])]
    assert {"region"} == (source.coded if few else source.raw)
