"""Plans over words of dictionaries: the sums are those of the words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference_engine as reference
from spec_text import make_spec
from test_parity import answer, same

from dpql.curator.engines import parquet_words, polars_engine, polars_excerpts
from dpql.model.plan import Plan
from dpql.planner import plan

SMALL = 1
"""A dictionary of so many bytes is too large: most cells stand for themselves."""


def _plan(*more: str) -> Plan:
    keys = ["a", "b", "c", *(f"'{word}'" for word in more)]
    category = f"{{type: category, keys: [{', '.join(keys)}]}}"
    return plan(
        make_spec(
            {
                "k": category,
                "m": category,
                "x": "{type: integer, bounds: [0, 9], nulls: drop}",
            },
            {
                "s": {"sum": "x", "by": "[k]", "spend": "{share: 1}"},
                "t": {"count": "rows", "by": "[m, k]", "spend": "{share: 1}"},
                "u": {
                    "count": "rows",
                    "where": "k != 'a' or m in ['b']",
                    "spend": "{share: 1}",
                },
                "v": {
                    "count": "rows",
                    "where": "not (m is null)",
                    "spend": "{share: 1}",
                },
            },
        )
    )


def _rows(count: int) -> pl.DataFrame:
    words = ["a", "b", None, "z", "c", "b", ""]
    return pl.DataFrame(
        {
            "k": [words[n % 7] for n in range(count)],
            "m": [words[n * n % 5] for n in range(count)],
            "x": [n % 12 for n in range(count)],
        }
    )


def test_row_groups_without_dictionaries_stand_beside_others(tmp_path: Path) -> None:
    """Or with dictionaries that grew too large, or have too many words."""
    decided = _plan()
    few = _rows(4_000)
    many = few.with_columns(
        pl.when(pl.col("x") % 2 == 0)
        .then(pl.int_range(pl.len()).cast(pl.String))
        .otherwise("k")
        .alias("k")
    )
    schema = pa.schema([("k", pa.string()), ("m", pa.string()), ("x", pa.int64())])
    tables = [rows.to_arrow().cast(schema) for rows in (few, many)]
    small = {"dictionary_pagesize_limit": SMALL, "write_batch_size": 10}
    ways: list[tuple[int, dict[str, Any]]] = [
        (0, {}),
        (0, {"compression": "gzip", "row_group_size": 1_000}),
        (0, {"use_dictionary": ["m"]}),
        (1, {}),
        (1, small),
    ]
    for number, (which, options) in enumerate(ways):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(tables[which], path, **options)
    source = polars_engine.open_frame(str(tmp_path), decided.spec.data)
    assert (source.coded, source.raw) == ({"k", "m"}, frozenset())
    whole = pl.concat([[few, many][which] for which, _ in ways])
    expected = answer(reference, decided, whole)
    with pytest.MonkeyPatch.context() as patched:
        same(decided, expected, answer(polars_engine, decided, str(tmp_path)))
        patched.setattr(parquet_words, "MOST_WORDS", 99)
        same(decided, expected, answer(polars_engine, decided, str(tmp_path)))
    # Those without a dictionary of `k` are a portion, and the others are another one.
    portions = [frame for _, frame in source.portions([["k", "x"]])]
    assert [frame.collect_schema()["k"] for frame in portions] == [pl.Int32()] * 2
    counts = [frame.select(pl.len()).collect().item() for frame in portions]
    assert sorted(counts) == [2 * 4_000, 3 * 4_000]


@pytest.mark.parametrize(
    ("stored", "coded"), [(3, False), (2, True), (1, True), (0, True)]
)
def test_a_column_is_read_by_bytes_if_most_cells_are_no_words(
    stored: int, tmp_path: Path, *, coded: bool
) -> None:
    """Looking up cell by cell takes longer than grouping by what they hold."""
    rows = _rows(70)
    table = rows.to_arrow()
    for number in range(4):
        listed = True if number >= stored else ["m"]
        pq.write_table(table, tmp_path / f"{number}.parquet", use_dictionary=listed)
    rows.clear().write_parquet(tmp_path / "b.parquet")
    decided = _plan()
    source = polars_engine.open_frame(str(tmp_path), decided.spec.data)
    assert ("k" in source.coded, "k" in source.raw) == (coded, not coded)
    assert "m" in source.coded
    expected = answer(reference, decided, pl.concat([rows] * 4))
    same(decided, expected, answer(polars_engine, decided, str(tmp_path)))


def test_columns_of_many_keys_are_read_by_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That depends on the spec, so no record changes it."""
    rows = _rows(70)
    rows.write_parquet(tmp_path / "rows.parquet")
    for most, coded in ((3, {"k", "m"}), (2, frozenset())):
        monkeypatch.setattr(polars_excerpts, "_FEW_KEYS", most)
        decided = _plan()
        source = polars_engine.open_frame(tmp_path / "rows.parquet", decided.spec.data)
        assert (source.coded, source.raw) == (coded, {"k", "m"} - coded)


@pytest.mark.parametrize("numbers", [[7, 8, 9], [1, 2, 3]])
def test_files_with_words_stand_beside_files_with_numbers(
    tmp_path: Path, numbers: list[int]
) -> None:
    """Places become words again where the other file has something else."""
    decided = _plan("1", "2")
    words = _rows(40)
    others = pl.DataFrame({"k": numbers, "m": ["a", "2", None], "x": [1, 2, 3]})
    words.write_parquet(tmp_path / "a.parquet")
    others.write_parquet(tmp_path / "b.parquet")
    source = polars_engine.open_frame(str(tmp_path), decided.spec.data)
    assert source.coded == {"m"}
    whole = pl.concat([words, others.with_columns(pl.col("k").cast(pl.String))])
    expected = answer(reference, decided, whole)
    same(decided, expected, answer(polars_engine, decided, str(tmp_path)))
