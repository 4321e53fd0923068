"""Files of text as lazy frames.

They are framed so that no record can change how another is read. Files with the same
columns are scanned together, others apart.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path

import polars as pl
import polars.selectors as cs

from dpql.curator.engines.files import Content, File
from dpql.curator.engines.places import no_file, unreadable
from dpql.curator.engines.polars_columns import kind_of, places
from dpql.curator.engines.polars_csv import (
    Layout,
    Values,
    header_names,
    separated_frames,
)
from dpql.curator.engines.polars_folders import (
    folder_columns,
    folder_type,
    folder_value,
    text_keys,
    text_types,
)
from dpql.curator.engines.polars_frames import frame_portions
from dpql.curator.engines.polars_lines import line_frames, opened
from dpql.curator.engines.polars_numbers import read_numbers
from dpql.curator.engines.polars_pieces import Piece
from dpql.curator.grid import is_whole
from dpql.model.spec import Data, NumberColumn

SEPARATORS = {"csv": ",", "tsv": "\t"}
_MAGIC = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""How files begin that are compressed."""


def scanned(format_: str, files: Sequence[File], data: Data) -> list[Piece]:
    """Return the rows of files of text as few pieces.

    Raises:
        RunFault: DPQL501 to DPQL503, from names and headers alone.
    """
    if format_ == "ndjson":
        return [_lines(files, data)]
    groups: dict[object, list[File]] = {}
    layouts: dict[object, Layout] = {}
    for file in files:
        layout = _layout(SEPARATORS[format_].encode(), file, data)
        key = tuple(layout.own.items()), layout.width
        groups.setdefault(key, []).append(file)
        layouts[key] = layout
    return [_separated(group, layouts[key], data) for key, group in groups.items()]


def _layout(separator: bytes, file: File, data: Data) -> Layout:
    """Return where the declared columns stand in the lines of a file.

    A folder that names a column stands before the file.
    """
    names = header_names(_first_line(file.content, data), separator)
    here = [None if name in file.values else name for name in names]
    found = places([*here, *file.values], data)
    return Layout(
        separator=separator,
        width=len(names),
        own={name: place for name, place in found.items() if place < len(names)},
        kinds={column.name: kind_of(column) for column in data.columns},
        wholes=_wholes(data),
    )


def _wholes(data: Data) -> dict[str, bool]:
    """Return the columns of numbers, and whether they hold integers."""
    numbers = [column for column in data.columns if isinstance(column, NumberColumn)]
    return {column.name: is_whole(column) for column in numbers}


def _first_line(content: Content, data: Data) -> bytes:
    assert isinstance(content, str | bytes), "text is fetched as a whole"
    try:
        with opened(content) as file:
            line = file.readline()
    except OSError:
        raise no_file(data) from None
    if line.startswith(_MAGIC):
        raise unreadable(data)
    return line


def _separated(files: Sequence[File], layout: Layout, data: Data) -> Piece:
    contents: list[tuple[str | bytes, Values]] = [
        (
            file.content,
            {
                name: folder_value(value, layout.kinds[name])
                for name, value in file.values.items()
            },
        )
        for file in files
        if isinstance(file.content, str | bytes)
    ]
    return _piece(partial(separated_frames, contents, layout), data)


def _lines(files: Sequence[File], data: Data) -> Piece:
    kinds = {column.name: kind_of(column) for column in data.columns}
    wholes = _wholes(data)
    for file in files:
        if isinstance(file.content, str):
            _readable(file.content, data)

    def frames(names: Sequence[str]) -> Generator[pl.DataFrame, None, None]:
        wanted = {name: kinds[name] for name in names}
        for file in files:
            assert isinstance(file.content, str | bytes), "text is fetched as a whole"
            values = [
                value.alias(name)
                for name, value in folder_columns(file, data).items()
                if name in wanted
            ]
            for frame in line_frames(file.content, wanted):
                yield read_numbers(frame.with_columns(values), wholes)

    return _piece(frames, data)


def _piece(
    frames: Callable[[Sequence[str]], Generator[pl.DataFrame, None, None]], data: Data
) -> Piece:
    """Return rows of text as a piece: numbers are read, keys and ids are bytes."""
    names = [column.name for column in data.columns]
    numbers = {
        name: pl.Int64() if whole else pl.Float64()
        for name, whole in _wholes(data).items()
    }
    types = {column.name: folder_type(kind_of(column)) for column in data.columns}
    return Piece(
        portions=frame_portions(types | numbers, frames),
        columns={name: cs.by_name(name) for name in names},
        types=text_types(names, data) | numbers,
        raw=text_keys(names, data),
    )


def _readable(file: str, data: Data) -> None:
    try:
        Path(file).open("rb").close()
    except OSError:
        raise no_file(data) from None
