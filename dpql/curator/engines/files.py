"""Which files hold the rows, here, in a cloud or on the web, and what each is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from dpql.curator.engines.clouds import cloud_files, is_cloud
from dpql.curator.engines.places import (
    find,
    folder_values,
    no_file,
    one_format,
    unreadable,
)
from dpql.curator.engines.urls import Packed, Page, is_web
from dpql.model.spec import Data


class Remote(Protocol):
    """A file that is not here."""

    def whole(self) -> bytes:
        """Return all of it; an `OSError` if it cannot be read."""

    def opened(self) -> Any:
        """Return it as a file of Arrow, of which parts can be read."""


Content = str | bytes | Remote
"""A path, what a file holds, or where it can be had."""

COLUMNAR = ("parquet", "ipc")


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file: its content, and the values that the names of its folders hold."""

    content: Content = field(repr=False)
    values: Mapping[str, bytes | None] = field(repr=False)


def files_of(place: str, data: Data) -> tuple[str, list[File]]:
    """Return the format and the files that a path, a pattern or a URL names.

    What is far away and has to be read from one end to the other is fetched as a whole.

    Raises:
        RunFault: DPQL501, it names nothing that can be read; DPQL502, no format or
            several.
    """
    if is_web(place):
        format_ = one_format([_path(place, data)], data)
        return format_, [_file(format_, Page(place), {}, data)]
    if is_cloud(place):
        root, found = cloud_files(place, data)
        contents: Mapping[str, str | Remote] = found
        format_ = one_format(found, data)
    else:
        here = find(place, data)
        root, format_ = here.root, here.format
        contents = dict(zip(here.files, here.files, strict=True))
    declared = {column.name for column in data.columns}
    files = []
    for name, content in contents.items():
        values = folder_values(root, name)
        kept = {name: value for name, value in values.items() if name in declared}
        files.append(_file(format_, content, kept, data))
    return format_, files


def _path(url: str, data: Data) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        raise no_file(data) from None


def _file(
    format_: str, content: str | Remote, values: Mapping[str, bytes | None], data: Data
) -> File:
    """Return a file; its bytes if polars cannot spell its name or cannot fetch it."""
    try:
        if isinstance(content, str):
            if not _spelt(content):
                return File(content=Path(content).read_bytes(), values=values)
        elif format_ not in COLUMNAR:
            return File(content=content.whole(), values=values)
    except Packed:
        raise unreadable(data) from None
    except OSError:
        raise no_file(data) from None
    return File(content=content, values=values)


def _spelt(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
