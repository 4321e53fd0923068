"""Files of text as lazy frames.

They are framed so that no record can change how another is read. Files with the same
columns are scanned together, others apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars.selectors as cs

from dpql.curator.engines.files import Content, File
from dpql.curator.engines.places import no_file, unreadable
from dpql.curator.engines.polars_columns import kind_of, places
from dpql.curator.engines.polars_csv import (
    Layout,
    Values,
    header_names,
    scan_separated,
)
from dpql.curator.engines.polars_folders import (
    folder_columns,
    folder_value,
    text_keys,
    text_types,
    with_values,
)
from dpql.curator.engines.polars_lines import opened, scan_lines
from dpql.curator.engines.polars_pieces import Piece
from dpql.model.spec import Data

SEPARATORS = {"csv": ",", "tsv": "\t"}
_MAGIC = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""How files begin that are compressed."""


def scanned(format_: str, files: Sequence[File], data: Data) -> list[Piece]:
    """Return the rows of files of text as few pieces.

    Raises:
        RunFault: DPQL501 to DPQL503, from names and headers alone.
    """
    if format_ == "ndjson":
        return _lines(files, data)
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
    )


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
    return _piece(scan_separated(contents, layout), {}, data)


def _lines(files: Sequence[File], data: Data) -> list[Piece]:
    kinds = {column.name: kind_of(column) for column in data.columns}
    groups: dict[tuple[Any, ...], list[File]] = {}
    for file in files:
        if isinstance(file.content, str):
            _readable(file.content, data)
        groups.setdefault(tuple(file.values.items()), []).append(file)
    pieces = []
    for group in groups.values():
        contents = [c for c in (f.content for f in group) if isinstance(c, str | bytes)]
        frame = scan_lines(contents, kinds)
        frame, columns = with_values(frame, kinds, folder_columns(group[0], data))
        pieces.append(_piece(frame, columns, data))
    return pieces


def _piece(frame: Any, columns: dict[str, Any], data: Data) -> Piece:
    """Return rows of text as a piece: numbers as text, keys and ids as bytes."""
    names = [column.name for column in data.columns]
    return Piece(
        frame=frame,
        columns={name: cs.by_name(name) for name in names} | columns,
        types=text_types(names, data),
        raw=text_keys(names, data),
    )


def _readable(file: str, data: Data) -> None:
    try:
        Path(file).open("rb").close()
    except OSError:
        raise no_file(data) from None
