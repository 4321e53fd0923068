"""Files framed so that no record can change how another is read.

The first bytes of a file of ndjson, and the names of the folders of a partitioned
table, belong to data subjects. A reader that guesses from them (a compression, a type)
would let one record change the reading of all, so nothing is guessed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import polars as pl
from polars.io.plugins import register_io_source

_BATCH_BYTES = 1 << 24
_BYTE_ORDER_MARK = "\ufeff"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def scan_lines(places: Sequence[str]) -> pl.LazyFrame:
    """Return a row for each line of the files, as text in the column ``line``.

    Lines end at newline bytes and nowhere else; bytes that are no UTF-8 become U+FFFD.
    Memory holds one batch of lines at a time.
    """

    def batches(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        row_limit: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        left = row_limit
        for place in places:
            for batch in _batches(place):
                lines = batch if left is None else batch.head(left)
                if left is not None:
                    left -= len(lines)
                if predicate is not None:
                    lines = lines.filter(predicate)
                yield lines if columns is None else lines.select(columns)

    return register_io_source(batches, schema={"line": pl.String}, is_pure=True)


def _batches(place: str) -> Iterator[pl.DataFrame]:
    with Path(place).open("rb") as file:
        while lines := file.readlines(_BATCH_BYTES):
            texts = [_text(line) for line in lines]
            yield pl.DataFrame({"line": texts}, schema={"line": pl.String})


def _text(line: bytes) -> str:
    text = line.removesuffix(b"\n").decode("utf-8", errors="replace")
    return text.removeprefix(_BYTE_ORDER_MARK)


def files_of(folder: str) -> list[str]:
    """Return the files below a folder that hold rows: neither empty nor hidden."""
    return sorted(
        str(path)
        for path in Path(folder).rglob("*")
        if path.is_file() and path.name[0] not in "._" and path.stat().st_size
    )


def scan_folder(
    folder: str, files: Sequence[str], names: Sequence[str]
) -> pl.LazyFrame:
    """Return the rows of the files of a folder, with the columns its folders name.

    Values in the names of folders (``region=north``) stay text. They are taken from the
    path, for polars infers their types from all of them together.
    """
    column = "path of " + " ".join(names)
    frame = pl.scan_parquet(
        list(files),
        glob=False,
        hive_partitioning=False,
        include_file_paths=column,
        extra_columns="ignore",
    )
    values = [_folder_values(folder, file) for file in files]
    named = {name for found in values for name in found}
    return frame.with_columns(
        pl.col(column)
        .replace_strict(
            list(files),
            pl.Series([found.get(name) for found in values], dtype=pl.String),
            default=None,
            return_dtype=pl.String,
        )
        .alias(name)
        for name in names
        if name in named
    ).drop(column)


def _folder_values(folder: str, file: str) -> dict[str, str]:
    values = {}
    for part in Path(file).relative_to(folder).parts[:-1]:
        name, equals, value = part.partition("=")
        if equals and value != _NO_VALUE:
            values[unquote(name)] = unquote(value)
    return values
