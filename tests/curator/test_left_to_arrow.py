"""Parquet files, or row groups of them, of which no excerpts are made."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
from spec_text import make_spec
from test_parity import answer

from dpql.curator.engines import (
    parquet_excerpts,
    polars_engine,
    polars_excerpts,
)
from dpql.curator.engines.arrow_files import opened
from dpql.curator.engines.parquet_excerpts import Excerpts
from dpql.planner import plan


def _written() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"int64": [1, 2]}), file)
    return file.getvalue()


def _parted(content: bytes) -> Excerpts | None:
    return opened("parquet", content).excerpts(["int64"])


@pytest.mark.parametrize("few", [0, 2])
def test_rows_that_arrow_reads_stand_beside_those_of_polars(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row group is too large for one, another is not; words stay with their rows."""
    monkeypatch.setattr(parquet_excerpts, "_LARGEST_ROWS", 5)
    monkeypatch.setattr(polars_excerpts, "_FEW_KEYS", few)
    words = ["b", "a", None, "c", "a", "b", "b"]
    numbers = [1, 2, 3, 4, 5, 6, 7]
    path = tmp_path / "rows.parquet"
    rows = pa.table({"k": words + words[:2], "x": [*numbers, 8, 9]})
    pq.write_table(rows, path, row_group_size=7)
    decided = plan(
        make_spec(
            {
                "k": "{type: category, keys: [a, b]}",
                "x": "{type: integer, bounds: [0, 9], nulls: drop}",
            },
            {"s": {"sum": "x", "by": "[k]", "spend": "{share: 1}"}},
        )
    )
    source = polars_engine.open_frame(path, decided.spec.data)
    assert {"k"} == (source.coded if few else source.raw)
    (moments,) = answer(polars_engine, decided, path).moments
    assert [2 + 5 + 9, 1 + 6 + 7 + 8] == list(moments["u"])


def test_a_footer_that_is_too_long_or_makes_no_sense_is_left_to_arrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Arrow reads it, or refuses it, by itself."""
    content = _written()
    monkeypatch.setattr(parquet_excerpts, "_LARGEST_FOOTER", 9)
    assert _parted(content) is None


def test_files_of_writers_that_miscounted_are_left_to_arrow() -> None:
    """The first versions of Parquet for Java left out a part of a dictionary."""
    content = _written()
    created = content.replace(
        b"parquet-cpp-arrow version ", b"parquet-mr version 1.2.8  "
    )
    assert created != content
    assert _parted(created) is None
    created = content.replace(
        b"parquet-cpp-arrow version ", b"parquet-mr version 1.12.0 "
    )
    assert _parted(created) is not None


class _Vault(pe.KmsClient):  # type: ignore[misc]
    """Keys that are wrapped in nothing."""

    def wrap_key(self, key_bytes: bytes, _: str) -> bytes:
        """Return the key."""
        return key_bytes

    def unwrap_key(self, wrapped_key: bytes, _: str) -> bytes:
        """Return the key."""
        return wrapped_key


def test_of_encrypted_columns_nothing_is_asked(tmp_path: Path) -> None:
    """Arrow would abort the process; the row group says that it is locked."""
    factory = pe.CryptoFactory(lambda _: _Vault())
    keys = pe.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["x"]}, plaintext_footer=True
    )
    table = pa.table({"x": [1, 2], "y": [3, 4]})
    path = tmp_path / "rows.parquet"
    locked = factory.file_encryption_properties(pe.KmsConnectionConfig(), keys)
    with pq.ParquetWriter(path, table.schema, encryption_properties=locked) as writer:
        writer.write_table(table)
    file = opened("parquet", str(path))
    for names in (["x"], ["y"], ["x", "y"]):
        parted = file.excerpts(names)
        assert parted is None or not parted.groups
