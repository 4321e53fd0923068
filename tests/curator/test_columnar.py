"""Files of columns: text is bytes, and no cell decides how a file is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference_engine as reference
from curator_frames import frames
from curator_plans import known_plan, row_plan, unit_plan
from dpql.curator.engines.parquet_excerpts import Excerpts
from dpql.curator.engines.polars_arrow import Keys, array
from dpql.curator.engines.polars_columns import Kind
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spec_text import make_spec, spec_text
from test_parity import answer, same

from dpql.curator.engines import (
    arrow_files,
    polars_engine,
)
from dpql.model.plan import Plan
from dpql.planner import plan

pytestmark = pytest.mark.usefixtures("lane")

RELAXED = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
RAW = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
ODD = [b"\xff", b"a\xc3", b"", b"\x00", "é".encode(), b"\xed\xa0\x80", b"x" * 9000]
CELLS = st.lists(
    st.one_of(st.none(), st.sampled_from([b"a", b"b", *ODD]), st.binary(max_size=20)),
    max_size=40,
)


def _names(decided: Plan) -> list[str]:
    return [column.name for column in decided.spec.data.columns]


def _text(cells: list[bytes | None], kind: Any) -> Any:
    return pa.array(cells, getattr(pa, RAW[str(kind)])()).view(kind)


def _decided(rows: int, unit: str = "row") -> Plan:
    columns = {
        "k": "{type: category, keys: [north, south]}",
        "x": "{type: integer, bounds: [0, 100], nulls: {as: 0}}",
        "who": "{type: id}",
    }
    statistics = {
        "n": {"count": "rows", "by": "[k]", "spend": "{share: 1}"},
        "s": {"sum": "x", "spend": "{share: 1}"},
    }
    given = {"contributes": "{rows: 2, groups: 1}"} if unit != "row" else {}
    return plan(
        make_spec(columns, statistics, rows=f"{{at_most: {rows}}}", unit=unit, **given)
    )


@given(data=st.data(), make=st.sampled_from([row_plan, lambda: known_plan(5)]))
@RELAXED
def test_rows_may_lie_in_any_parts(
    data: Any, make: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However a file is cut into parts, it has the integers of the reference."""
    decided = make()
    frame = data.draw(frames(_names(decided), size=5))
    path = tmp_path_factory.mktemp("parts") / "rows.parquet"
    frame.write_parquet(path, row_group_size=data.draw(st.sampled_from([1, 2, 5])))
    same(
        decided,
        answer(reference, decided, frame),
        answer(polars_engine, decided, path),
    )


def _opened(decided: Plan, path: Path, patch: pytest.MonkeyPatch) -> tuple[Any, int]:
    """Return the sums, and how often a file was opened to get them."""
    count = 0

    def counting(function: Any) -> Any:
        def counted(*given: Any) -> Any:
            nonlocal count
            count += 1
            return function(*given)

        return counted

    with patch.context() as here:
        here.setattr(arrow_files, "_source", counting(arrow_files._source))
        here.setattr(Excerpts, "fill", counting(Excerpts.fill))
        return answer(polars_engine, decided, path), count


@pytest.mark.parametrize("rows", [1_000, 100_000_000])
@pytest.mark.parametrize("unit", ["row", "who"])
@pytest.mark.parametrize("column", ["k", "x", "who"])
@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_no_text_makes_a_file_be_read_again(
    kind: Any,
    column: str,
    *,
    unit: str,
    rows: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file with a broken text is opened as often as one without."""
    decided = _decided(rows, unit)
    opened = []
    for place, cell in enumerate((b"1", b"1\xff")):
        columns: dict[str, Any] = {
            name: _text([b"1", cell if name == column else b"2"], kind)
            for name in ("k", "x", "who")
        }
        path = tmp_path / f"{place}.parquet"
        pq.write_table(pa.table(columns), path)
        opened.append(_opened(decided, path, monkeypatch)[1])
    assert opened[0] == opened[1] > 0


READ = """
import sys
from dpql import api
from dpql.curator.engines import polars_engine
decided = api.plan(api.load(sys.argv[1]))
for path in sys.argv[2:]:
    opened = polars_engine.open_frame(path, decided.spec.data)
    polars_engine.add_up(decided, opened, salt=b"s" * 32, tick=None)
    print(len({"pyarrow", "pandas"} & {*sys.modules}))
"""


def test_no_text_makes_a_library_be_loaded(tmp_path: Path) -> None:
    """A broken text is mended with what is there: loading more would take time."""
    (tmp_path / "spec.yaml").write_text(
        spec_text(
            {
                "k": "{type: category, keys: [north, south]}",
                "x": "{type: integer, bounds: [0, 100], nulls: {as: 0}}",
            },
            {"n": {"sum": "x", "by": "[k]", "spend": "{share: 1}"}},
        ),
        "utf-8",
    )
    paths = []
    for place, cell in enumerate((b"1", b"\xff")):
        table = pa.table(
            {name: _text([b"1", cell], pa.string()) for name in ("k", "x")}
        )
        paths.append(tmp_path / f"{place}.parquet")
        pq.write_table(table, paths[-1])
    run = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / "spec.yaml", *paths],
        capture_output=True,
        check=False,
        text=True,
    )
    assert (0, "", "1\n1\n") == (run.returncode, run.stderr, run.stdout)


@given(cells=CELLS, kind=st.sampled_from(TEXTS), listed=st.booleans())
@RELAXED
def test_texts_find_their_places_among_the_keys(
    cells: list[bytes | None], kind: Any, *, listed: bool
) -> None:
    """Bytes are a key or they are none; nothing else is a key, whatever it holds."""
    keys = ["b", "a", "", "é", "\ufffd"]
    raw = [key.encode() for key in keys]
    texts = _text(cells, kind)
    if listed:
        known = list(dict.fromkeys(cell for cell in cells if cell is not None))
        places = [None if cell is None else known.index(cell) for cell in cells]
        texts = pa.DictionaryArray.from_arrays(
            pa.array(places, pa.int32()), _text([*known], kind)
        )
    expected = [raw.index(cell) if cell in raw else None for cell in cells]
    found = Keys(keys).places(texts)
    assert (expected, pl.UInt8) == (found.to_list(), found.dtype)


@pytest.mark.parametrize("count", [1, 256, 257, 1 << 16, (1 << 16) + 1])
def test_places_fit_into_their_type(count: int) -> None:
    """The last of many keys has its place, and the type is no wider than need be."""
    keys = [f"key {n}" for n in range(count)]
    found = Keys(keys).places(pa.array([keys[-1], keys[0], "key"]))
    assert [count - 1, 0, None] == found.to_list()
    narrow = {1: pl.UInt8, 256: pl.UInt8, 257: pl.UInt16, 1 << 16: pl.UInt16}
    assert found.dtype == narrow.get(count, pl.UInt32)


@given(cells=CELLS, kind=st.sampled_from(TEXTS), copies=st.sampled_from([1, 700]))
@RELAXED
def test_text_is_read_cell_by_cell(
    cells: list[bytes | None], kind: Any, copies: int
) -> None:
    """Keys and ids are their bytes; a number that is no UTF-8 is none, and alone so."""
    texts = _text(cells * copies, kind)
    for declared in Kind:
        expected = [_read(cell, declared) for cell in cells] * copies
        for start in (0, len(cells) // 2):
            found = array(texts.slice(start), declared)
            assert isinstance(found, pl.Series)
            assert expected[start:] == found.to_list()


def _read(cell: bytes | None, kind: Kind) -> str | bytes | None:
    if cell is None or kind is not Kind.NUMBER:
        return cell
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("make", [row_plan, lambda: unit_plan(20, 20)])
def test_a_category_may_be_text_in_one_file_and_numbers_in_another(
    make: Any, tmp_path: Path
) -> None:
    """Places among keys, words and numbers of one column meet as words."""
    decided = make()
    kinds = [pl.String, pl.Int64, pl.Categorical, pl.Float64]
    rows = []
    for place, kind in enumerate(kinds):
        cells = ["1", "17", None] if kind != pl.String else ["1", "north", "no"]
        series = pl.Series(cells).cast(pl.String).cast(kind)
        frame = pl.DataFrame(
            {
                name: series if name == "region" else pl.Series([1, 2, 3])
                for name in _names(decided)
            }
        )
        frame.write_parquet(tmp_path / f"{place}.parquet")
        rows += frame.to_dicts()
    expected = answer(reference, decided, rows)
    same(decided, expected, answer(polars_engine, decided, tmp_path))


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("k == north", 2),
        ("k != north", 1),
        ("k in [north, south]", 3),
        ("not k in [north, south]", 2),
        ("k is null", 2),
        ("k is not null", 3),
    ],
)
def test_conditions_on_categories_hold_where_they_say(
    where: str, count: int, tmp_path: Path
) -> None:
    """Places among keys are compared as the keys are; no key is like no cell."""
    columns = {"k": "{type: category, keys: [north, south]}"}
    share = "{share: 1}"
    statistics = {"n": {"count": "rows", "where": f'"{where}"', "spend": share}}
    decided = plan(make_spec(columns, statistics))
    frame = pl.DataFrame({"k": ["north", "south", None, "else", "north"]})
    frame.write_parquet(tmp_path / "rows.parquet")
    for kind in (frame, tmp_path / "rows.parquet"):
        found = answer(polars_engine, decided, kind)
        assert [count] == list(found.moments[0]["n"])
