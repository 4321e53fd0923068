"""Footers tell how cells are stored, and no damage to them ends the process."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import REAL, WHOLE, category, declare, rows

from dpql.curator.sources import parquet
from dpql.curator.sources.footer import read_chunks
from dpql.curator.wall import behind_wall
from dpql.errors import RunFault

_NUMBERS = {"PLAIN": 0, "RLE": 3, "DELTA_BINARY_PACKED": 5, "DELTA_BYTE_ARRAY": 7}
_NUMBERS |= {"RLE_DICTIONARY": 8, "BYTE_STREAM_SPLIT": 9, "PLAIN_DICTIONARY": 2}


@pytest.mark.parametrize("columns", [1, 40])
@pytest.mark.parametrize(
    "encoding", ["", "PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
)
def test_chunks_are_those_that_pyarrow_finds(encoding: str, columns: int) -> None:
    """Of every row group and column, also beside parts of columns."""
    table = pa.table(
        {"s": [{"a": n, "b": [n]} for n in range(40)]}
        | {f"c{n}": range(n, n + 40) for n in range(columns)}
    )
    encodings = {f"c{n}": encoding for n in range(columns)} if encoding else None
    file = io.BytesIO()
    pq.write_table(
        table,
        file,
        row_group_size=2,
        use_dictionary=not encoding,
        column_encoding=encodings,
        version="1.0" if columns == 1 else "2.6",
    )
    found = read_chunks(pa.BufferReader(file.getvalue()))
    metadata = pq.ParquetFile(file).metadata
    assert [metadata.num_columns] * 20 == [len(chunks) for chunks in found]
    for group, chunks in enumerate(found):
        for index, chunk in enumerate(chunks):
            column = metadata.row_group(group).column(index)
            assert {_NUMBERS[name] for name in column.encodings} == chunk.encodings
            assert column.total_uncompressed_size == chunk.size


@given(st.binary(max_size=40), st.integers(0, 50))
def test_what_is_no_footer_is_damaged(content: bytes, length: int) -> None:
    """Whatever stands there; no length of a list takes memory or time."""
    file = content + length.to_bytes(4, "little") + b"PAR1"
    try:
        chunks = read_chunks(pa.BufferReader(file))
    except ValueError:
        chunks = []
    assert [] == chunks


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00",
        b"\x49\xfc\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x49\xfc" + b"\xff" * 20,
        b"\x1c" * 40 + b"\x00" * 41,
        b"\x49\x1c\x15\x02\x00\x00",
        b"\x45\x02\x00",
        b"\x4b\x00\x00",
    ],
    ids=["nothing", "no fields", "long", "longer", "deep", "odd", "number", "map"],
)
def test_damaged_footers_are_value_errors(content: bytes) -> None:
    """Lists without end, structs without bottom, and fields of other types."""
    file = content + len(content).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError, match=r"^$"):
        read_chunks(pa.BufferReader(file))


DATA = declare(k=category("a", "b"), x=REAL, i=WHOLE)


def _damaged() -> Iterator[bytes]:
    """Yield files, each with a byte that is not as it was written."""
    table = pa.table(
        {
            "k": ["a", "b", None, "a"],
            "x": [1.0, None, 2.5, 3.0],
            "i": pa.array([1, 2, 3, None], pa.int32()),
        }
    )
    for version in ("1.0", "2.0"):
        file = io.BytesIO()
        pq.write_table(table, file, compression="none", data_page_version=version)
        content = file.getvalue()
        for at in range(4, len(content) - 8):
            for other in (content[at] ^ 1, 0xFF):
                yield content[:at] + bytes([other]) + content[at + 1 :]


@pytest.mark.heavy
def test_no_damaged_byte_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with any byte changed is read or refused, and this test goes on.

    Not so where polars reads pages, of many rows: docs/limits.md says so.
    """
    monkeypatch.setattr(parquet, "_SHORT", 1 << 62)
    path = tmp_path / "rows.parquet"
    ends = set()
    for content in _damaged():
        path.write_bytes(content)
        try:
            behind_wall(lambda: rows(path, DATA))
            ends.add("read")
        except RunFault as fault:
            ends.add(fault.diagnostics[0].code)
    known = {"DPQL501", "DPQL502", "DPQL503", "DPQL504", "DPQL510"}
    assert {"read", "DPQL502", "DPQL510"} <= ends <= {"read", *known}


class _Vault(pe.KmsClient):  # type: ignore[misc]
    """Keys that are wrapped in nothing."""

    def wrap_key(self, key_bytes: bytes, _: str) -> bytes:
        """Return the key."""
        return key_bytes

    def unwrap_key(self, wrapped_key: bytes, _: str) -> bytes:
        """Return the key."""
        return wrapped_key


def test_an_encrypted_column_ends_no_process(tmp_path: Path) -> None:
    """It cannot be read, and the others can."""
    factory = pe.CryptoFactory(lambda _: _Vault())
    keys = pe.EncryptionConfiguration(
        footer_key="f" * 16, column_keys={"c" * 16: ["x"]}, plaintext_footer=True
    )
    table = pa.table({"x": [1, 2], "y": [3, 4]})
    path = tmp_path / "rows.parquet"
    locked = factory.file_encryption_properties(pe.KmsConnectionConfig(), keys)
    with pq.ParquetWriter(path, table.schema, encryption_properties=locked) as writer:
        writer.write_table(table)
    assert [(3,), (4,)] == rows(path, declare(y=WHOLE))
    for data in (declare(x=WHOLE), declare(x=WHOLE, y=WHOLE)):
        with pytest.raises(RunFault, match="DPQL510"):
            behind_wall(lambda data=data: rows(path, data))  # type: ignore[misc]
