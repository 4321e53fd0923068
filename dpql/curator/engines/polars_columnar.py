"""Files of columns as lazy frames, read by Arrow: no cell can break the reading.

polars refuses a whole file for one text that is no UTF-8, and for a column of a type it
does not know. Here the text of a category becomes its place among the declared keys, or
stays bytes where polars reads other rows; that of an id stays bytes; and that of a
number is checked, a few cells at a time.
Parts of the files are read ahead, in any order, for no sum depends on the order of
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import polars as pl
import polars.selectors as cs

from dpql.curator.engines.ahead import Task, gathered
from dpql.curator.engines.arrow_files import Columnar, opened
from dpql.curator.engines.files import File
from dpql.curator.engines.parquet_excerpts import Excerpts
from dpql.curator.engines.places import no_file, unreadable
from dpql.curator.engines.polars_arrow import Keys, array, is_text, raw_texts
from dpql.curator.engines.polars_columns import Kind, kind_of, places
from dpql.curator.engines.polars_excerpts import excerpt_piece
from dpql.curator.engines.polars_folders import folder_type, folder_value
from dpql.curator.engines.polars_frames import frame_portions
from dpql.curator.engines.polars_pieces import Piece
from dpql.curator.engines.urls import Packed
from dpql.model.spec import CategoryColumn, Data

Make = Callable[[Any], Any]
"""How an array becomes a column; the name of its type where polars has no such."""


def column_pieces(
    format_: str, files: Sequence[File], data: Data
) -> tuple[list[Piece], list[File]]:
    """Return the rows of the files, those in one piece that agree in their types.

    What Arrow can make no sense of is returned as it is: files that are damaged, or
    have columns that Arrow cannot hold.

    Raises:
        RunFault: DPQL501, a file cannot be read; DPQL503, a column is missing.
    """
    groups: dict[object, list[tuple[File, Columnar]]] = {}
    excerpts: dict[object, list[Excerpts]] = {}
    owns: dict[object, dict[str, Any]] = {}
    strange: list[File] = []
    names = [column.name for column in data.columns]
    for file in files:
        known = _header(format_, file, data)
        if known is None:
            strange.append(file)
            continue
        own = _own(known, file, data)
        key = tuple(own.items()), tuple(file.values)
        owns[key] = own
        parted = known.excerpts(list(own))
        if parted is not None and parted.groups:
            parted = parted.beside(
                {name: file.values[name] for name in names if name not in own}
            )
            alike = tuple(parted.leaves.items())
            excerpts.setdefault(alike, []).append(parted)
            known = known.only([n for n in known.groups if n not in parted.groups])
        if known.groups or not (parted and parted.groups):
            groups.setdefault(key, []).append((file, known))
    pieces = [excerpt_piece(alike, data) for alike in excerpts.values()]
    # Where polars reads some of the rows, Arrow gives the others in the same form.
    raw = frozenset.intersection(*(piece.raw for piece in pieces)) if pieces else ()
    pieces += [_piece(group, owns[key], data, raw) for key, group in groups.items()]
    return pieces, strange


def _header(format_: str, file: File, data: Data) -> Columnar | None:
    try:
        return opened(format_, file.content)
    except Packed:
        raise unreadable(data) from None
    except (FileNotFoundError, PermissionError):
        raise no_file(data) from None
    except (import_module("pyarrow").ArrowException, OSError, ValueError):
        return None


def _own(known: Columnar, file: File, data: Data) -> dict[str, Any]:
    """Return the declared columns that the file itself holds, and their types.

    A folder that names a column stands before the file.
    """
    names = [None if name in file.values else name for name in known.schema.names]
    found = places([*names, *file.values], data)
    return {n: known.schema.field(p).type for n, p in found.items() if p < len(names)}


def _piece(
    group: Sequence[tuple[File, Columnar]],
    own: dict[str, Any],
    data: Data,
    wanted_raw: Collection[str],
) -> Piece:
    raw = {name for name in wanted_raw if name in own and is_text(own[name])}
    keys = {
        column.name: Keys(column.keys)
        for column in data.columns
        if isinstance(column, CategoryColumn)
        and (column.name not in own or is_text(own[column.name]))
        and column.name not in raw
    }
    kinds = {column.name: kind_of(column) for column in data.columns}
    make: dict[str, Make] = {
        name: keys[name].places if name in keys else partial(array, kind=kind)
        for name, kind in kinds.items()
    }
    make |= dict.fromkeys(raw, raw_texts)
    types: dict[str, Any] = {name: found.type for name, found in keys.items()}
    types |= dict.fromkeys(raw, pl.Binary())
    types |= {
        name: _type(own.get(name), make[name], kind)
        for name, kind in kinds.items()
        if name not in types
    }
    listed = import_module("pyarrow").types.is_dictionary
    words = {
        name for name, kind in own.items() if name in {*keys, *raw} or listed(kind)
    }

    def tasks(wanted: Sequence[str]) -> Iterator[Task[pl.DataFrame]]:
        stored = [name for name in wanted if name in own]
        for file, known in group:
            values = {
                name: keys[name].place(value)
                if name in keys
                else folder_value(value, kinds[name])
                for name, value in file.values.items()
            }

            def frame(batch: Any, values: dict[str, Any] = values) -> pl.DataFrame:
                return pl.DataFrame(
                    {
                        name: make[name](batch.column(name))
                        if name in own
                        else pl.repeat(
                            values[name], batch.num_rows, dtype=types[name], eager=True
                        )
                        for name in wanted
                    }
                )

            for part in known.parts(stored, [name for name in stored if name in words]):
                yield partial(_frames, part, frame)

    def frames(wanted: Sequence[str]) -> Generator[pl.DataFrame, None, None]:
        yield from gathered(tasks(wanted), pl.thread_pool_size())

    scheme = {name: kind for name, kind in types.items() if not isinstance(kind, str)}
    return Piece(
        portions=frame_portions(scheme, frames),
        columns={name: cs.by_name(name) for name in scheme},
        types=types | dict.fromkeys(raw, pl.String()),
        coded=frozenset(keys),
        raw=frozenset(raw),
        rows=lambda: sum(known.rows() for _, known in group),
    )


def _type(type_: Any, make: Make, kind: Kind) -> Any:
    """Return the polars type of a column, or the name of one that polars lacks."""
    if type_ is None:
        return folder_type(kind)
    made = make(import_module("pyarrow").chunked_array([], type_))
    return made if isinstance(made, str) else made.dtype


def _frames(
    part: Callable[[], Iterator[Any]], frame: Callable[[Any], pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    return map(frame, part())
