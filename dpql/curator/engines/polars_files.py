"""Files as lazy frames, framed so that no record can change how another is read.

Files that agree in the types of the declared columns are scanned together, others
apart. Which types they have is read from headers, before any row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from dpql.curator.engines.places import Place, folder_values, no_file, unreadable
from dpql.curator.engines.polars_columns import is_number, places
from dpql.curator.engines.polars_lines import scan_lines
from dpql.curator.engines.urls import fetched, gives_pieces, is_web
from dpql.errors import RunFault
from dpql.model.spec import Data

Content = str | bytes
"""A path or URL, or what a file holds."""

SEPARATORS = {"csv": ",", "tsv": "\t"}
_MAGIC = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""How files begin that polars would decompress."""


Field = tuple[str | None, str, Any]
"""A column of a file: its name, that under which it is scanned, and its type."""

Own = dict[str, tuple[str, Any]]
"""The declared columns of a file: under which names they are scanned, and types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What files have in common that are scanned together; texts have a width."""

    own: Own
    width: int | None


class UnknownToPolars(Exception):
    """polars cannot make sense of a file; it never leaves the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some rows: a lazy frame, and how it gives each declared column of which type."""

    frame: pl.LazyFrame = field(repr=False)
    columns: Mapping[str, pl.Expr]
    types: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file: its content, and the values that the names of its folders hold."""

    content: Content = field(repr=False)
    values: Mapping[str, str | None] = field(repr=False)


def files_of(place: Place, data: Data) -> list[File]:
    """Return the files of a place, opened as far as it takes to read them."""
    if place.url:
        ours = is_web(place.url)
        whole = ours and (
            place.format not in ("parquet", "ipc") or not gives_pieces(place.url, data)
        )
        content = fetched(place.url, data) if whole else place.url
        return [File(content=content, values={})]
    declared = {column.name for column in data.columns}
    found = []
    for file in place.files:
        values = folder_values(place.root, file)
        kept = {name: value for name, value in values.items() if name in declared}
        found.append(File(content=_content(file, data), values=kept))
    return found


def scanned(format_: str, files: Sequence[File], data: Data) -> list[Piece]:
    """Return the rows of the files as few pieces.

    Raises:
        RunFault: DPQL501 to DPQL503, from names and headers alone.
        UnknownToPolars: a file is damaged, or has columns that polars cannot hold.
    """
    if format_ == "ndjson":
        return _lines(files, data)
    groups: dict[object, list[File]] = {}
    layouts: dict[object, Layout] = {}
    for file in files:
        header = _header(format_, file.content, data)
        own = _own(header, file, data)
        apart = isinstance(file.content, bytes) and id(file)
        width = len(header) if format_ in SEPARATORS else None
        key = (tuple(own.items()), width, tuple(file.values), apart)
        groups.setdefault(key, []).append(file)
        layouts[key] = Layout(own=own, width=width)
    return [_piece(format_, group, layouts[key]) for key, group in groups.items()]


def is_url(content: Content) -> bool:
    """Tell whether the content is left to polars to fetch."""
    return isinstance(content, str) and "://" in content


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


def _content(file: str, data: Data) -> Content:
    """Return the path; the bytes of a file whose name polars cannot spell."""
    try:
        file.encode("utf-8")
    except UnicodeEncodeError:
        try:
            return Path(file).read_bytes()
        except OSError:
            raise no_file(data) from None
    return file


def _header(format_: str, content: Content, data: Data) -> list[Field]:
    """Return the columns of a file, without reading rows."""
    try:
        packed = format_ in SEPARATORS and _packed(content)
        if format_ in SEPARATORS:
            header = [] if packed else _first_line(format_, content)
        else:
            schema = _scan(format_, content).collect_schema()
            header = [(name, name, dtype) for name, dtype in schema.items()]
    except (FileNotFoundError, PermissionError):
        raise no_file(data) from None
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  whatever it says
        raise (no_file(data) if is_url(content) else UnknownToPolars()) from None
    if packed:
        raise unreadable(data)
    return header


def _first_line(format_: str, content: Content) -> list[Field]:
    """Return the columns that the first line of a text names; later ones by place."""
    try:
        frame = _text(format_, content, has_header=False, n_rows=1).collect()
    except pl.exceptions.NoDataError:
        return []
    return [
        (name and name.strip('"'), str(place), pl.String())
        for row in frame.rows()
        for place, name in enumerate(row)
    ]


def _packed(content: Content) -> bool:
    if isinstance(content, bytes):
        return content.startswith(_MAGIC)
    if is_url(content):
        return False
    with Path(content).open("rb") as file:
        return file.read(4).startswith(_MAGIC)


def _scan(format_: str, content: Any, path: str | None = None) -> pl.LazyFrame:
    """Return a scan; no path is a pattern, but those of a cloud are left to polars."""
    if format_ == "parquet":
        return pl.scan_parquet(
            content,
            glob=is_url(content),
            extra_columns="ignore",
            hive_partitioning=False,
            include_file_paths=path,
        )
    return pl.scan_ipc(
        content,
        glob=is_url(content),
        hive_partitioning=False,
        include_file_paths=path,
    )


def _text(format_: str, content: Any, **options: Any) -> pl.LazyFrame:
    return pl.scan_csv(
        content,
        glob=is_url(content),
        separator=SEPARATORS[format_],
        quote_char=None,
        infer_schema=False,
        encoding="utf8-lossy",
        truncate_ragged_lines=True,
        **options,
    )


def _own(header: Sequence[Field], file: File, data: Data) -> Own:
    """Return the declared columns that the file itself holds: their names and types.

    A folder that names a column stands before the file.
    """
    here = [None if name in file.values else name for name, _, _ in header]
    return {
        name: header[place][1:]
        for name, place in places([*here, *file.values], data).items()
        if place < len(header)
    }


def _piece(format_: str, files: Sequence[File], layout: Layout) -> Piece:
    contents = [file.content for file in files]
    content: Any = contents[0] if len(contents) == 1 else contents
    own = {name: stored for name, (stored, _) in layout.own.items()}
    values, path = literals(files[0]), None
    if values and len(files) > 1:
        path = "path of " + " ".join(own.values())
        values = {name: _by_path(path, files, name) for name in values}
    if layout.width is None:
        frame = _scan(format_, content, path)
    else:
        names = [str(place) for place in range(layout.width)]
        frame = _text(format_, content, new_columns=names, include_file_paths=path)
    frame, columns = with_values(frame, own.values(), values)
    types = {name: dtype for name, (_, dtype) in layout.own.items()}
    return Piece(
        frame=frame,
        columns=columns | {name: cs.by_name(stored) for name, stored in own.items()},
        types=types | dict.fromkeys(values, pl.String()),
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
        if is_url(file.content):
            raise RunFault.of(
                "DPQL502",
                f"the data of `{data.source}` are lines of JSON in a cloud",
                hint="fetch the file first, or use parquet",
            )
        if isinstance(file.content, str):
            _readable(file.content, data)
        groups.setdefault(tuple(file.values.items()), []).append(file)
    pieces = []
    for group in groups.values():
        frame = scan_lines([file.content for file in group], numbers)
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
