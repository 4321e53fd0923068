"""Files as lazy frames, framed so that no record can change how another is read.

Files that agree in the types of the declared columns are scanned together, others
apart. Which types they have is read from headers, before any row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    headers: dict[object, dict[str, Any]] = {}
    for file in files:
        header = _header(format_, file.content, data)
        own = _own(header, file, data, text=format_ in SEPARATORS)
        kept = tuple(header) if format_ in SEPARATORS else tuple(own.items())
        apart = isinstance(file.content, bytes) and id(file)
        key = (kept, tuple(file.values), apart)
        groups.setdefault(key, []).append(file)
        headers[key] = own
    return [_piece(format_, group, headers[key]) for key, group in groups.items()]


def is_url(content: Content) -> bool:
    """Tell whether the content is left to polars to fetch."""
    return isinstance(content, str) and "://" in content


def literal(value: str | None) -> pl.Expr:
    """Return the value of a folder as a column."""
    return pl.lit(value, pl.String)


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


def _header(format_: str, content: Content, data: Data) -> dict[str, Any]:
    """Return names and types of a file, without reading rows."""
    try:
        packed = format_ in SEPARATORS and _packed(content)
        header = {} if packed else dict(_scan(format_, content).collect_schema())
    except pl.exceptions.NoDataError:
        return {}
    except OSError:
        raise no_file(data) from None
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  whatever it says
        raise UnknownToPolars from None
    if packed:
        raise unreadable(data)
    return header


def _packed(content: Content) -> bool:
    if isinstance(content, bytes):
        return content.startswith(_MAGIC)
    if is_url(content):
        return False
    with Path(content).open("rb") as file:
        return file.read(4).startswith(_MAGIC)


def _scan(format_: str, content: Any, path: str | None = None) -> pl.LazyFrame:
    """Return a scan; no path is a pattern, but those of a cloud are left to polars."""
    pattern = is_url(content)
    match format_:
        case "parquet":
            return pl.scan_parquet(
                content,
                glob=pattern,
                extra_columns="ignore",
                hive_partitioning=False,
                include_file_paths=path,
            )
        case "ipc":
            return pl.scan_ipc(
                content, glob=pattern, hive_partitioning=False, include_file_paths=path
            )
        case _:
            return pl.scan_csv(
                content,
                glob=pattern,
                separator=SEPARATORS[format_],
                quote_char=None,
                infer_schema=False,
                encoding="utf8-lossy",
                truncate_ragged_lines=True,
                include_file_paths=path,
            )


def _own(
    header: Mapping[str, Any], file: File, data: Data, *, text: bool
) -> dict[str, tuple[str, Any]]:
    """Return the declared columns that the file itself holds: their names and types.

    A folder that names a column stands before the file.
    """
    names = [_unquoted(name, header) if text else name for name in header]
    here = [None if name in file.values else name for name in names]
    stored = list(header)
    return {
        name: (stored[place], header[stored[place]])
        for name, place in places([*here, *file.values], data).items()
        if place < len(stored)
    }


def _unquoted(name: str, header: Mapping[str, Any]) -> str:
    """Return a name without quotes; polars numbers the second of two equal ones."""
    first, mark, number = name.rpartition("_duplicated_")
    again = mark and number.isdecimal() and first in header
    return (first if again else name).strip('"')


def _piece(
    format_: str, files: Sequence[File], own: Mapping[str, tuple[str, Any]]
) -> Piece:
    contents = [file.content for file in files]
    values = files[0].values
    path = None
    if values and len(files) > 1:
        path = "path of " + " ".join(name for name, _ in own.values())
    columns: dict[str, pl.Expr] = {
        name: cs.by_name(stored) for name, (stored, _) in own.items()
    }
    for name, value in values.items():
        columns[name] = _by_path(path, files, name) if path else literal(value)
    types = {name: dtype for name, (_, dtype) in own.items()}
    return Piece(
        frame=_scan(format_, contents[0] if len(contents) == 1 else contents, path),
        columns=columns,
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
    return [
        Piece(
            frame=scan_lines([file.content for file in group], numbers),
            columns={name: cs.by_name(name) for name in numbers}
            | {name: literal(value) for name, value in group[0].values.items()},
            types=dict.fromkeys(numbers, pl.String()),
        )
        for group in groups.values()
    ]


def _readable(file: str, data: Data) -> None:
    try:
        Path(file).open("rb").close()
    except OSError:
        raise no_file(data) from None
