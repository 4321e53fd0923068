"""Files of text as lazy frames.

They are framed so that no record can change how another is read. Files with the same
columns are scanned together, others apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from dpql.curator.engines.files import Content, File
from dpql.curator.engines.places import no_file, unreadable
from dpql.curator.engines.polars_columns import is_number, places
from dpql.curator.engines.polars_lines import scan_lines
from dpql.curator.engines.polars_pieces import Piece
from dpql.model.spec import Data

SEPARATORS = {"csv": ",", "tsv": "\t"}
_MAGIC = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""How files begin that polars would decompress."""


Field = tuple[str | None, str]
"""A column of a text: its name, and that under which it is scanned."""

Own = dict[str, str]
"""The declared columns of a text: under which names they are scanned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What texts have in common that are scanned together."""

    own: Own
    width: int


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
        header = _header(format_, file.content, data)
        own = _own(header, file, data)
        apart = isinstance(file.content, bytes) and id(file)
        key = (tuple(own.items()), len(header), tuple(file.values), apart)
        groups.setdefault(key, []).append(file)
        layouts[key] = Layout(own=own, width=len(header))
    return [_piece(format_, group, layouts[key]) for key, group in groups.items()]


def with_values(
    frame: pl.LazyFrame, own: Iterable[str], values: Mapping[str, pl.Expr]
) -> tuple[pl.LazyFrame, dict[str, pl.Expr]]:
    """Return the frame with the values of folders, and how it gives all columns.

    The values become columns of the frame: a literal alone has one row.
    """
    columns: dict[str, pl.Expr] = {}
    made: list[pl.Expr] = []
    # Longer than the names of the columns that are read, so none of those.
    longer = "value of " + " ".join(own)
    for place, (name, value) in enumerate(values.items()):
        made.append(value.alias(f"{longer} {place}"))
        columns[name] = pl.col(f"{longer} {place}")
    return (frame.with_columns(made) if made else frame), columns


def literals(file: File) -> dict[str, pl.Expr]:
    """Return the values of the folders of one file."""
    return {name: pl.lit(value, pl.String) for name, value in file.values.items()}


def _header(format_: str, content: Content, data: Data) -> list[Field]:
    """Return the columns that the first line of a text names, each by its place."""
    try:
        packed = _packed(content)
        rows = [] if packed else _first_line(format_, content)
    except OSError:
        raise no_file(data) from None
    if packed:
        raise unreadable(data)
    return [
        (name and name.strip('"'), str(place))
        for row in rows
        for place, name in enumerate(row)
    ]


def _first_line(format_: str, content: Content) -> list[tuple[Any, ...]]:
    try:
        return _text(format_, content, has_header=False, n_rows=1).collect().rows()
    except pl.exceptions.NoDataError:
        return []


def _packed(content: Content) -> bool:
    if isinstance(content, bytes):
        return content.startswith(_MAGIC)
    with Path(str(content)).open("rb") as file:
        return file.read(4).startswith(_MAGIC)


def _text(format_: str, content: Any, **options: Any) -> pl.LazyFrame:
    return pl.scan_csv(
        content,
        glob=False,
        separator=SEPARATORS[format_],
        quote_char=None,
        infer_schema=False,
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        **options,
    )


def _own(header: Sequence[Field], file: File, data: Data) -> Own:
    """Return the declared columns that the file itself holds.

    A folder that names a column stands before the file.
    """
    here = [None if name in file.values else name for name, _ in header]
    return {
        name: header[place][1]
        for name, place in places([*here, *file.values], data).items()
        if place < len(header)
    }


def _piece(format_: str, files: Sequence[File], layout: Layout) -> Piece:
    contents = [file.content for file in files]
    content: Any = contents[0] if len(contents) == 1 else contents
    own = layout.own
    values, path = literals(files[0]), None
    if values and len(files) > 1:
        path = "path of " + " ".join(own.values())
        values = {name: _by_path(path, files, name) for name in values}
    names = [str(place) for place in range(layout.width)]
    frame = _text(format_, content, new_columns=names, include_file_paths=path)
    frame, columns = with_values(frame, own.values(), values)
    return Piece(
        frame=frame,
        columns=columns | {name: cs.by_name(stored) for name, stored in own.items()},
        types=dict.fromkeys((*own, *values), pl.String()),
    )


def _by_path(path: str, files: Sequence[File], name: str) -> pl.Expr:
    """Return the value of the folder that a row's file lies in.

    It is taken from the path, for polars infers types from all values together.
    """
    return pl.col(path).replace_strict(
        [file.content for file in files],
        pl.Series([file.values[name] for file in files], dtype=pl.String),
        default=None,
        return_dtype=pl.String,
    )


def _lines(files: Sequence[File], data: Data) -> list[Piece]:
    numbers = {column.name: is_number(column) for column in data.columns}
    groups: dict[tuple[Any, ...], list[File]] = {}
    for file in files:
        if isinstance(file.content, str):
            _readable(file.content, data)
        groups.setdefault(tuple(file.values.items()), []).append(file)
    pieces = []
    for group in groups.values():
        contents = [c for c in (f.content for f in group) if isinstance(c, str | bytes)]
        frame = scan_lines(contents, numbers)
        frame, columns = with_values(frame, numbers, literals(group[0]))
        pieces.append(
            Piece(
                frame=frame,
                columns={name: cs.by_name(name) for name in numbers} | columns,
                types=dict.fromkeys(numbers, pl.String()),
            )
        )
    return pieces


def _readable(file: str, data: Data) -> None:
    try:
        Path(file).open("rb").close()
    except OSError:
        raise no_file(data) from None
