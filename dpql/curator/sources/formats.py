"""The format of a file, and how it is compressed, by its name alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dpql.errors import RunFault
from dpql.model.spec import Data

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".ipc": "ipc",
    ".arrow": "ipc",
    ".feather": "ipc",
}
"""Suffix -> format."""

COLUMNAR = ("parquet", "ipc")
SEPARATORS = {"csv": ",", "tsv": "\t"}

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""Suffix behind that of a text -> how it is compressed."""

_COMPRESSED = {".gz", ".zst", ".zip", ".bz2", ".xz", ".lz4", ".snappy", ".z"}


def suffixes(name: str) -> tuple[str, str | None]:
    """Return the suffix of a name that tells its format, and its compression.

    Only text is decompressed; other kinds are compressed inside, or not at all.
    """
    path = Path(name)
    last = path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    if last in COMPRESSIONS and FORMATS.get(inner) not in (None, *COLUMNAR):
        return inner, COMPRESSIONS[last]
    return last, None


def may_hold_rows(name: str, size: int) -> bool:
    """Tell whether a file of this size is part of a table.

    An empty file has no header and is left out. JSON lines need no header: if an empty
    file of them were left out, a single row could decide whether there are data.
    """
    return size != 0 or FORMATS.get(suffixes(name)[0]) == "ndjson"


def format_of(
    names: Iterable[str], data: Data, *, parquet_without_suffix: bool = False
) -> str:
    """Return the one format of files of these names.

    Raises:
        RunFault: DPQL502, no format or several, or they are compressed.
    """
    ends = {suffixes(name)[0] for name in names}
    known = FORMATS | dict.fromkeys(_COMPRESSED, "compressed")
    if parquet_without_suffix:
        known |= {"": "parquet"}
    formats = {known.get(end, "") for end in ends}
    if formats == {"compressed"}:
        raise RunFault.of(
            "DPQL502",
            f"the data of `{data.source}` are compressed",
            hint="name compressed text by both, as in .csv.gz or .csv.zst; parquet is "
            "compressed inside",
        )
    if len(formats) > 1:
        raise RunFault.of(
            "DPQL502",
            f"the data of `{data.source}` are files of several kinds",
            hint="name files of one kind, for instance with a pattern: *.parquet",
        )
    (only,) = formats
    if not only:
        raise RunFault.of(
            "DPQL502",
            f"the file of `{data.source}` is of no kind that can be read",
            hint="name it .parquet, .csv, .tsv, .ndjson, .arrow or .ipc",
        )
    return only


def no_separator(data: Data) -> RunFault:
    """Return the fault of a separator for files that are no separated values."""
    return RunFault.of(
        "DPQL502",
        f"a separator is stated for the data of `{data.source}`, which are not csv",
        hint="leave out the word before the colon, or name csv or tsv files",
    )
