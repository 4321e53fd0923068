"""Pairs of tables that differ in one unit, in every format, and what the unit changes.

A unit is what docs/reference/data.md says: a text id is its bytes, in csv what stands
between its quotes, and an empty or missing id belongs to nobody. Ids and keys are
any bytes, numbers are extreme, rows repeat. The pair differs in all rows of one unit,
and in the order of the rows.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from curator_plans import ALL_FILLED, COLUMNS, KNOWN, ROWS, asked
from hypothesis import strategies as st
from pyarrow import ipc
from quotes import cells_of
from spec_text import make_spec

from dpql.curator import noise
from dpql.curator.compilation import compile_program
from dpql.curator.engines import polars
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.testing import SeededBits

EXAMPLES = int(os.environ.get("DPQL_NEIGHBOURS", "200"))
"""Pairs that one run of the suite tries, about, over all cases."""

UNIT = "person"
KNOWN_ROWS = 7
FORMATS = ("csv", "ndjson", "parquet", "arrow", "memory", "polars")
TEXT = "text"
NUMBER_KINDS = {
    "float": st.one_of(
        st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, -0.0, 5e-324]),
        st.sampled_from([2.0**63, 2.0**64, -(2.0**63), 2.0**53 + 2, 1e18, 0.1, 12.34]),
        st.sampled_from([-3.0, 1.0, 3.0, 12.0, 17.5, 18.0, 64.0, 65.0, 100.0, 20000.0]),
        st.floats(-60, 160),
    ),
    "int": st.one_of(
        st.sampled_from([-(2**63), 2**63 - 1, 2**60 + 1, 10**18, 0, -1]),
        st.sampled_from([-3, 1, 3, 12, 16, 17, 18, 64, 65, 100, 101, 20000]),
    ),
    "uint": st.sampled_from([0, 3, 12, 17, 65, 100, 20000, 2**63, 2**64 - 1]),
    TEXT: st.one_of(
        st.sampled_from([b"1e400", b"-1e400", b"9" * 40, b"0." + b"1" * 300, b"nan"]),
        st.sampled_from([b"17", b"17.5", b"-3", b"12.34", b"100", b"1e18", b" 1", b""]),
        st.sampled_from([b"2e4", b"0x10", b"1_0", b"\xff", b"1\xff", b"-Infinity"]),
        st.integers(-(10**30), 10**30).map(lambda x: str(x).encode()),
        st.binary(max_size=4),
    ),
}
BROKEN = [b"M\xfcller", b"M\xe4ller", "M\ufffdller".encode()]
QUOTED = [b"5", b'5"', b'"5', b'5""']
TWINS = st.sampled_from([BROKEN, QUOTED])
"""Ids that a careless reader takes for one another."""
IDS = st.one_of(
    st.sampled_from([*BROKEN, *QUOTED, b'"5"', b'"', b"p", b"q", b"P", b"p ", b""]),
    st.sampled_from([b"\x00", b"\xff", b"\xfe"]),
    st.sampled_from([b"05", b"5.0", b"null", b"e\xcc\x81", b"\xc3\xa9", b"x" * 13]),
    st.binary(min_size=1, max_size=3),
)
ODD_KEYS = st.one_of(
    st.sampled_from([None, b'"a"', b"A", b"n\xff", b"", b"other", b"1.0", b"\xe9lan"]),
    st.binary(max_size=3),
)
KEYS: dict[str, tuple[str, ...]] = {
    "region": ("north", "élan", "日本", "1"),
    "kind": ("a", "b"),
}
ORDINARY = (3, 12, 17, 18, 64, 65, 100, 20000)


def _cells(name: str, kind: str) -> st.SearchStrategy[Any]:
    """Return cells of a column: mostly ordinary ones, or few would be in any cell."""
    if name in KEYS:
        keys = st.sampled_from([key.encode() for key in KEYS[name]])
        return st.one_of(keys, keys, keys, ODD_KEYS)
    encode: Callable[[int], Any] = {
        "float": float,
        "int": int,
        "uint": int,
        TEXT: lambda x: str(x).encode(),
    }[kind]
    usual = st.sampled_from(ORDINARY).map(encode)
    return st.one_of(usual, usual, st.none(), NUMBER_KINDS[kind])


Row = dict[str, Any]


@cache
def _plan(
    names: tuple[str, ...],
    relation: str,
    contributes: tuple[int, int] | None,
    mechanism: str,
) -> Plan:
    known = relation == "replace_one"
    columns, statistics = (ALL_FILLED, KNOWN) if known else (COLUMNS, ROWS)
    rows, groups = contributes or (0, 0)
    return plan(
        make_spec(
            columns if contributes is None else {UNIT: "{type: id}", **columns},
            {name: asked(statistics[name]) for name in names},
            rows=f"{{exactly: {KNOWN_ROWS}}}" if known else "{at_most: 50}",
            unit="row" if contributes is None else UNIT,
            contributes=contributes and f"{{rows: {rows}, groups: {groups}}}",
            neighbours=relation,
            epsilon="10",
            mechanism=mechanism,
        )
    )


Case = tuple[tuple[str, ...], str, tuple[int, int] | None]
"""Statistics, the relation, and the bound of a unit if it is not a row."""


def _cases() -> list[Case]:
    """Return statistics, relations and bounds that together use all there are."""
    every, known = tuple(ROWS), tuple(KNOWN)
    bundles = [every[start::4] for start in range(4)]
    cases: list[Any] = [
        (bundle, "add_remove", bound)
        for bundle in bundles
        for bound in (None, (1, 1), (1, 2), (2, 1), (3, 2))
    ]
    cases.append((known, "replace_one", None))
    # A covariance takes a public number of rows, which units of several rows hide.
    fewer = tuple(name for name in known if "covariance" not in KNOWN[name])
    cases += [(fewer, "replace_one", (rows, 1)) for rows in (1, 2)]
    return cases


CASES = _cases()


@dataclass(frozen=True)
class Pair:
    """Two tables that differ in one unit, and the plan that must not tell them apart.

    ``kinds`` are the types of the number columns; ``files`` is over how many files a
    table is spread, ``many`` whether noise is drawn for many cells at once.
    """

    case: Case
    mechanism: str
    format: str
    kinds: Mapping[str, str]
    files: int
    many: bool
    salt: bytes
    tables: tuple[Sequence[Row], Sequence[Row]]

    @property
    def plan(self) -> Plan:
        """The plan of the case."""
        return _plan(*self.case, self.mechanism)


def unit_of(format_: str, row: Row) -> bytes | None:
    """Return the unit a row belongs to; None if to nobody."""
    cell = _id_cell(format_, row[UNIT])
    if format_ == "csv":
        (cell,) = cells_of(cell, b",")
    return cell or None


def _id_cell(format_: str, held: Any) -> bytes:
    """Return an id as text; in csv none goes on in the cells behind it."""
    cell = _cell(format_, held)
    opens = format_ == "csv" and cell[:1] == b'"'
    return b"_" + cell if opens and cells_of(cell, b",") == [cell] else cell


@st.composite
def pairs(draw: st.DrawFn, case: Case) -> Pair:
    """Draw two tables that differ in one unit."""
    _, relation, contributes = case
    format_ = draw(st.sampled_from(FORMATS))
    numbers = [name for name in COLUMNS if name not in KEYS]
    kinds = {name: draw(st.sampled_from(list(NUMBER_KINDS))) for name in numbers}
    rows = st.fixed_dictionaries(
        {name: _cells(name, kinds.get(name, TEXT)) for name in COLUMNS}
    )
    # Rows are taken from few, so that many are equal.
    pool = draw(st.lists(rows, min_size=2, max_size=5))
    contents = st.sampled_from(pool)
    known = relation == "replace_one"
    size = KNOWN_ROWS if known else draw(st.integers(1, 6) | st.integers(6, 14))
    table = draw(st.lists(contents, min_size=size, max_size=size))
    if contributes is None:
        new = [draw(rows)] if known else []
        return _pair(draw, case, format_, kinds, table, table[1:] + new)
    people = draw(st.lists(IDS, min_size=1, max_size=4) | TWINS | TWINS)
    owned = [{UNIT: draw(st.sampled_from([*people, None])), **row} for row in table]
    units = {unit_of(format_, row) for row in owned} - {None}
    if not units:
        return _pair(draw, case, format_, kinds, owned, owned)
    unit = draw(st.sampled_from(sorted(units)))  # type: ignore[type-var]
    others = [row for row in owned if unit_of(format_, row) != unit]
    if known:
        # Somebody comes instead, with as many rows, whatever is in them.
        fresh = draw(IDS.filter(lambda one: _is_new(format_, one, others)))
        missing = size - len(others)
        others += [{UNIT: fresh, **draw(contents | rows)} for _ in range(missing)]
    return _pair(draw, case, format_, kinds, owned, others)


def _is_new(format_: str, cell: bytes, others: Sequence[Row]) -> bool:
    unit = unit_of(format_, {UNIT: cell})
    return unit is None or unit not in {unit_of(format_, row) for row in others}


def _pair(  # noqa: PLR0917  what was drawn before
    draw: st.DrawFn,
    case: Case,
    format_: str,
    kinds: Mapping[str, str],
    table: Sequence[Row],
    other: Sequence[Row],
) -> Pair:
    return Pair(
        case=case,
        mechanism=draw(st.sampled_from(["geometric", "snapping"])),
        format=format_,
        kinds=kinds,
        files=draw(st.integers(1, 2)),
        many=draw(st.booleans()),
        salt=draw(st.binary(min_size=32, max_size=32)),
        tables=(table, draw(st.permutations(other))),
    )


_numbers = count()


def written(pair: Pair, rows: Sequence[Row], folder: Path) -> object:
    """Return a table as data that a run accepts."""
    names = [UNIT] * (pair.plan.spec.privacy.unit is not None) + list(COLUMNS)
    if pair.format == "polars":
        return pl.DataFrame(_series(pair, rows, names))
    if pair.format == "memory":
        return _table(pair, rows, names)
    parent = folder / str(next(_numbers))
    parent.mkdir()
    # A pattern needs a file that is not empty, which lines of JSON without rows are.
    files = pair.files if rows else 1
    for number in range(files):
        path = parent / f"{number}.{pair.format}"
        _WRITE[pair.format](pair, rows[number::files], names, path)
    return str(path if files == 1 else parent / f"*.{pair.format}")


def _csv(pair: Pair, rows: Sequence[Row], names: Sequence[str], path: Path) -> None:
    lines = [[name.encode() for name in names]]
    cells = {name: _id_cell if name == UNIT else _cell for name in names}
    lines += [[cells[name](pair.format, row[name]) for name in names] for row in rows]
    path.write_bytes(b"".join(b",".join(line) + b"\n" for line in lines))


def _ndjson(pair: Pair, rows: Sequence[Row], names: Sequence[str], path: Path) -> None:
    def member(name: str, cell: Any) -> bytes:
        return json.dumps(name).encode() + b": " + _json(cell)

    lines = [
        b"{" + b", ".join(member(name, row[name]) for name in names) + b"}\n"
        for row in rows
    ]
    assert pair.format == "ndjson"
    path.write_bytes(b"".join(lines))


def _parquet(pair: Pair, rows: Sequence[Row], names: Sequence[str], path: Path) -> None:
    pq.write_table(_table(pair, rows, names), path, row_group_size=3)


def _arrow(pair: Pair, rows: Sequence[Row], names: Sequence[str], path: Path) -> None:
    table = _table(pair, rows, names)
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table, max_chunksize=3)


_WRITE: dict[str, Callable[[Pair, Sequence[Row], Sequence[str], Path], None]] = {
    "csv": _csv,
    "ndjson": _ndjson,
    "parquet": _parquet,
    "arrow": _arrow,
}


def _cell(format_: str, cell: Any) -> bytes:
    """Return a cell as text; in csv none can hold what ends a cell or a line."""
    if cell is None:
        return b""
    held = cell if isinstance(cell, bytes) else repr(cell).encode()
    if format_ == "csv":
        for end in (b",", b"\n", b"\r"):
            held = held.replace(end, b"_")
    return held


def _json(cell: Any) -> bytes:
    """Return a value of JSON; a text has its bytes, whether they are UTF-8 or not."""
    if cell is None:
        return b"null"
    if isinstance(cell, float) and not math.isfinite(cell):
        return json.dumps(str(cell)).encode()
    if not isinstance(cell, bytes):
        return repr(cell).encode()
    return b'"' + b"".join(map(_escaped, cell)) + b'"'


def _escaped(byte: int) -> bytes:
    plain = byte >= ord(" ") and byte not in b'"\\'
    return bytes([byte]) if plain else b"\\u%04x" % byte


_ARROW = {"float": pa.float64(), "int": pa.int64(), "uint": pa.uint64()}
_POLARS = {"float": pl.Float64, "int": pl.Int64, "uint": pl.UInt64}


def _table(pair: Pair, rows: Sequence[Row], names: Sequence[str]) -> Any:
    """Return a table of Arrow, whose text need not be UTF-8."""
    columns = {}
    for name in names:
        cells = [row[name] for row in rows]
        kind = pair.kinds.get(name, TEXT)
        columns[name] = (
            pa.array(cells, pa.binary()).view(pa.string())
            if kind == TEXT
            else pa.array(cells, _ARROW[kind])
        )
    return pa.table(columns)


def _series(pair: Pair, rows: Sequence[Row], names: Sequence[str]) -> Iterator[Any]:
    """Yield columns of polars; each byte of a text is a character."""
    for name in names:
        cells = [row[name] for row in rows]
        kind = pair.kinds.get(name, TEXT)
        if kind == TEXT:
            words = [None if cell is None else cell.decode("latin-1") for cell in cells]
            yield pl.Series(name, words, dtype=pl.String)
        else:
            yield pl.Series(name, cells, dtype=_POLARS[kind])


class Recorded(SeededBits):
    """Coins that remember what was asked of them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.requests: list[tuple[tuple[int, ...], int, int]] = []

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits as `SeededBits` does, and note the request."""
        self.requests.append((tuple(map(int, lanes)), start, stop))
        return super().read(lanes, start, stop)


@dataclass(frozen=True)
class Outcome:
    """What an outsider must not learn of one table, and what noise must hide.

    ``failed`` names the exception that ended the run, ``coins`` are the requests that
    drawing made, ``totals`` has the exact numbers of each measure.
    """

    failed: str | None
    rows: int | None = None
    coins: tuple[Any, ...] = ()
    totals: Mapping[tuple[str, str], Sequence[int]] = field(default_factory=dict)


def outcome(pair: Pair, rows: Sequence[Row], folder: Path) -> Outcome:
    """Run the plan on one table: read, add up, draw with fixed coins."""
    made = pair.plan
    try:
        table = written(pair, rows, folder)
        source = polars.open_source(table, made.spec.data)
        program = compile_program(made)
        sums = polars.sums(program, source, salt=pair.salt, tick=None)
        coins = Recorded(1)
        with patch.object(noise, "MANY", 1 if pair.many else noise.MANY):
            for step, moments in zip(made.steps, sums.moments, strict=True):
                noise.perturbed(step, moments, made.spec.data, coins)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome(failed=repr(error))
    return Outcome(
        failed=None,
        rows=sums.rows,
        coins=tuple(coins.requests),
        totals={
            (step.name, part.measure.name): noise.totals(
                part.measure, moments, step.cells
            )
            for step, moments in zip(made.steps, sums.moments, strict=True)
            for part in step.parts
        },
    )


def excess(pair: Pair, one: Outcome, other: Outcome) -> dict[tuple[str, str], int]:
    """Return the measures that changed by more than the plan declares.

    Each cell counts with the multiples of the sensitivity that it changed by; joint
    parts with what all of them changed by together.
    """
    found = {}
    for step in pair.plan.steps:
        if step.joint:
            moved = sum(
                abs(a - b)
                for part in step.parts
                for a, b in zip(
                    one.totals[step.name, part.measure.name],
                    other.totals[step.name, part.measure.name],
                    strict=True,
                )
            )
            if moved > step.parts[0].measure.sensitivity:
                found[step.name, "all parts"] = moved
            continue
        for part in step.parts:
            key, measure = (step.name, part.measure.name), part.measure
            changes = [
                -(-abs(a - b) // measure.sensitivity)
                for a, b in zip(one.totals[key], other.totals[key], strict=True)
            ]
            if sum(changes) > measure.l0:
                found[key] = sum(changes)
    return found


def check(pair: Pair, folder: Path) -> None:
    """Assert that nobody but the noise can tell the two tables apart."""
    one, other = (outcome(pair, rows, folder) for rows in pair.tables)
    assert (None, None) == (one.failed, other.failed)
    assert one.rows == other.rows
    assert {} == excess(pair, one, other)
    assert one.coins == other.coins
