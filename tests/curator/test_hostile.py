"""One hostile record changes nothing but noisy numbers, within the sensitivity.

Every record is added to a small table, in every form that a run accepts, as its first,
its last or another row. With it and without it a run must end alike, print nothing, and
give releases that agree in all but their noisy fields; and the exact integers must move
by no more than the plan allows.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator_kinds import JUNK
from exact_sums import TABLE, exact_sums
from spec_text import make_spec

from dpql.curator import run
from dpql.curator.noise import totals
from dpql.model.plan import Plan
from dpql.model.release import Outcome
from dpql.planner import plan

NAMES = ("region", "age", "wage", "score")
BASE = [("north", "17", "12.5", "0.25"), ("south", "40", "100", "-3e0")] * 6

WORDS = [
    "",
    "east",
    "NORTH",
    " north",
    "north ",
    "north\u0000",
    "no\u202eth",
    "\ufeffnorth",
    "n\u0301orth",
    "'north'",
    '"north',
    'north"',
    '""',
    "=HYPERLINK(0)",
    "\\",
    "#north",
    "null",
    "NaN",
    "x" * 1_000_000,
    "\U0001f600" * 100,
]
NUMBERS = [
    "",
    "nan",
    "-nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1e308",
    "-1e308",
    "1e309",
    "1e-320",
    "-0",
    "-0.0",
    "0x1p3",
    "1_000",
    "1 000",
    "12abc",
    "twelve",
    "12.5.5",
    "--1",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "99999999999999999999999999999999999999999",
    "0." + "1" * 5_000,
    "9" * 400,
    "1e99999999999",
    "٣",
    "½",
    "true",
    "2024-01-01",
    "17\u0000",
    '"17',
    "=1+1",
    "\t17",
    "17;18",
]
LINES = [
    b"",
    b",,,",
    b"north",
    b"north,17",
    b"north,17,1,2,3,4,5",
    b'"north,17,1,2',
    b'north,"17,1,2',
    b'north,17,1,2"',
    b'""""""",17,1,2',
    b'"north",17,"1",2',
    b'"no,rth",17,1,2',
    b'"nor""th",17,1,2',
    b'"north"",17,1,2',
    b'"nor"th,17,1,2',
    b'north,17",1,2',
    b'north,"17,1",2',
    b'"",' * 50_000,
    b'"""x,' * 50_000,
    b'"' * 100_001,
    b'"' + b"," * 100_000 + b'"',
    b'"\xff,",17,1,2',
    b'"nor\rth",17,1,2\r',
    b"north,17,\xff\xfe,2",
    b"\xc3,\x28,\xa0,\xa1",
    b"no\x00rth,17,1,2",
    b"\xef\xbb\xbfnorth,17,1,2",
    b"north,17,1,2\r",
    b"nor\rth,17,1,2",
    b"north\t17\t1\t2",
    b"region,age,wage,score",
    b"," * 100_000,
    b"north,17,1," + b"9" * 1_000_000,
    b"\\north\\,17,1,2",
    b"#north,17,1,2",
    b"\x1fnorth,17,1,2",
]


JSON_LINES = [
    b"",
    b"\r",
    b"{",
    b"{}",
    b"[]",
    b"null",
    b"17",
    b'"north"',
    b"not json",
    b'{"region":"north","age":17,"wage":1,"score":2',
    b'{"region":"north","age":17},{"region":"north","age":17}',
    b'{"region":"north","age":17}{"region":"north","age":17}',
    b'{"region":"north","age":17}]',
    b'{"region":["north"],"age":{"x":17},"wage":true,"score":false}',
    b'{"region":"north","region":"south","age":17,"age":"x"}',
    b'{"region":"north","age":NaN,"wage":Infinity,"score":-Infinity}',
    b'{"region":"north","age":1e400,"wage":-1e400,"score":1e-400}',
    b'{"region":"north","age":' + b"9" * 10_000 + b"}",
    b'{"region":"\\ud800","age":"\\u0000","wage":"\\udc00","score":"\\uffff"}',
    b'{"region":"\xff\xfe","age":17}',
    b"\x1f\x8b\x08\x00",
    b"\x28\xb5\x2f\xfd",
    b"\xef\xbb\xbf{}",
    b"\x00",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"region":"' + b"x" * 1_000_000 + b'"}',
]
BROKEN = [
    b"\xff",
    b"\xfe\xff",
    b"north\xff",
    b"\xc3",
    b"17\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\x80",
    b"\xff" * 100_000,
]
"""Cells that are no UTF-8."""


def _records() -> Iterator[tuple[str, ...]]:
    for word in WORDS:
        yield (word, "17", "12.5", "0.25")
    for number in NUMBERS:
        yield ("north", number, number, number)


RECORDS = list(_records())
FORMS = (
    "csv",
    "tsv",
    "parquet",
    "ipc",
    "ndjson",
    "arrow",
    "pandas",
    "objects",
    "folder",
    "duckdb",
    "lazy",
)
COLUMNAR = ("parquet", "ipc", "arrow", "pandas")
CASES = [(form, i, "record") for form in FORMS for i in range(len(RECORDS))]
CASES += [(form, i, "line") for form in ("csv", "tsv") for i in range(len(LINES))]
CASES += [("ndjson", i, "line") for i in range(len(JSON_LINES))]
CASES += [(form, i, "broken") for form in COLUMNAR for i in range(len(BROKEN))]
CASES += [(form, i, "junk") for form in ("pandas", "objects") for i in range(len(JUNK))]


@cache
def hostile_plan() -> Plan:
    """Return a plan with every kind of column, filter and grouping."""
    share = "{share: 1}"
    return plan(
        make_spec(
            {
                "region": "{type: category, keys: [north, south]}",
                "age": "{type: integer, bounds: [16, 100], nulls: drop}",
                "wage": "{type: decimal, bounds: [0, 200], step: 0.5, nulls: {as: 1}}",
                "score": "{type: float, bounds: [-5, 5], nulls: drop}",
            },
            {
                "everyone": {"count": "rows", "spend": share},
                "some": {"count": "rows", "where": "age > 18", "spend": share},
                "total": {"sum": "wage", "by": "[region]", "spend": share},
                "mean": {"mean": "score", "where": "wage != 3", "spend": share},
                "spread": {"variance": "score", "spend": share},
                "ages": {"histogram": "age", "bins": "[16, 30, 100]", "spend": share},
            },
            epsilon="6",
            mechanism="snapping",
        )
    )


def _text(folder: Path, form: str, lines: list[bytes]) -> str:
    """Write lines below a header, if the form has one."""
    path = folder / f"rows.{form}"
    mark = {"csv": b",", "tsv": b"\t"}.get(form)
    header = [mark.join(name.encode() for name in NAMES)] if mark else []
    path.write_bytes(b"".join(line + b"\n" for line in [*header, *lines]))
    return str(path)


def _lines(form: str, records: Sequence[tuple[Any, ...]]) -> list[bytes]:
    if form == "ndjson":
        rows = [dict(zip(NAMES, record, strict=True)) for record in records]
        return [json.dumps(row).encode() for row in rows]
    mark = {"csv": ",", "tsv": "\t"}[form]
    return [mark.join(record).encode() for record in records]


def _typed(records: Sequence[tuple[str, ...]]) -> pl.DataFrame:
    """Return the table a careless exporter makes: numbers unless one cell is none."""
    columns = {}
    for name, cells in zip(NAMES, zip(*records, strict=True), strict=True):
        try:
            if name == "region":
                raise ValueError  # noqa: TRY301  categories stay text
            columns[name] = pl.Series([float(cell) for cell in cells])
        except ValueError:
            columns[name] = pl.Series(list(cells), dtype=pl.String)
    return pl.DataFrame(columns)


def _bytes(records: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Return the table as Arrow text whose cells are any bytes."""
    raw = [[c if isinstance(c, bytes) else c.encode() for c in r] for r in records]
    cells = [pa.array(column).view(pa.string()) for column in zip(*raw, strict=True)]
    return pa.table(cells, names=list(NAMES))


def _stored(form: str, folder: Path, table: pa.Table) -> Any:
    match form:
        case "parquet":
            pq.write_table(table, folder / "rows.parquet")
            return str(folder / "rows.parquet")
        case "ipc":
            with pa.ipc.new_file(folder / "rows.arrow", table.schema) as file:
                file.write(table)
            return str(folder / "rows.arrow")
        case "pandas":
            return table.to_pandas(types_mapper=pd.ArrowDtype)
        case _:
            return table


def _objects(records: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return dict(zip(NAMES, map(list, zip(*records, strict=True)), strict=True))


def _frame(  # noqa: PLR0911  one per form
    form: str, folder: Path, records: list[tuple[Any, ...]], kind: str
) -> Any:
    match form, kind:
        case _, "broken":
            return _stored(form, folder, _bytes(records))
        case (("csv" | "tsv" | "ndjson"), _):
            return _text(folder, form, _lines(form, records))
        case "objects", _:
            return _objects(records)
        case "pandas", "junk":
            return pd.DataFrame(_objects(records), dtype=object)
        case "pandas", _:
            return _typed(records).to_pandas()
        case "lazy", _:
            return _typed(records).lazy()
        case "duckdb", _:
            return duckdb.from_arrow(_typed(records).to_arrow())
        case "folder", _:
            for number, record in enumerate(records):
                _typed([record]).write_parquet(folder / f"{number}.parquet")
            return folder
        case _:
            return _stored(form, folder, _typed(records).to_arrow())


def _inserted(rows: Sequence[Any], row: Any, number: int) -> list[Any]:
    """Return the rows with one more: first, last or in the middle."""
    position = (0, len(rows), 5)[number % 3]
    return [*rows[:position], row, *rows[position:]]


def _hostile(form: str, number: int, kind: str, folder: Path) -> Any:
    """Return the table with the hostile row."""
    if kind == "line":
        line = (JSON_LINES if form == "ndjson" else LINES)[number]
        line = line.replace(b",", b"\t") if form == "tsv" else line
        return _text(folder, form, _inserted(_lines(form, BASE), line, number))
    record: tuple[Any, ...] = {
        "record": lambda: RECORDS[number],
        "broken": lambda: (BROKEN[number],) * 4,
        "junk": lambda: (JUNK[number],) * 4,
    }[kind]()
    return _frame(form, folder, _inserted(BASE, record, number), kind)


@cache
def _clean(engine: str, form: str, kind: str) -> tuple[Any, Any]:
    """Return what is public of a run without the hostile row, and its integers."""
    with TemporaryDirectory() as folder:
        table = _frame(form, Path(folder), BASE, kind)
        done = run(hostile_plan(), {"rows": table}, engine=engine)
        return _public(done), _sums(engine, table)


def _sums(engine: str, frame: Any) -> Any:
    return exact_sums(hostile_plan(), frame, engine=TABLE[engine]).moments


def _public(outcome: Outcome) -> Any:
    """Return everything of a release that is not a noisy field."""
    table = outcome.to_polars()
    return (
        repr(outcome),
        [(r.name, r.headings, r.accuracy, r.alpha, r.unit) for r in outcome.results],
        [[value.cell for value in r.values] for r in outcome.results],
        [{type(x) for v in r.values for x in v.noisy} for r in outcome.results],
        table.schema,
        table.drop("value", "noisy", "lower", "upper", "note").rows(),
        outcome.to_csv().splitlines()[0],
        outcome.coins,
        outcome.engine,
    )


def _within_sensitivity(made: Plan, one: Any, other: Any) -> None:
    """Assert that the integers of neighbours differ as little as the plan says."""
    for step, first, second in zip(made.steps, one, other, strict=True):
        for part in step.parts:
            pairs = zip(
                totals(part.measure, first, step.cells),
                totals(part.measure, second, step.cells),
                strict=True,
            )
            moved = [math.ceil(abs(a - b) / part.measure.sensitivity) for a, b in pairs]
            assert sum(moved) <= part.measure.l0, step.name


def test_there_are_enough_neighbours() -> None:
    """At least 56 hostile records, in every form."""
    assert len(RECORDS) >= 56
    assert len(CASES) >= 56 * len(FORMS)


@pytest.mark.heavy
@pytest.mark.parametrize("engine", TABLE)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hostile_record_changes_only_noisy_fields(
    case: tuple[str, int, str],
    engine: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Outcome, output, schema, order and types are as without the record."""
    form, number, kind = case
    expected, sums = _clean(engine, form, kind)
    capfd.readouterr()
    hostile = _hostile(form, number, kind, tmp_path)
    with caplog.at_level(logging.DEBUG):
        actual = _public(run(hostile_plan(), {"rows": hostile}, engine=engine))
        _within_sensitivity(hostile_plan(), sums, _sums(engine, hostile))
    assert expected == actual
    assert ("", "") == tuple(capfd.readouterr())
    assert [] == caplog.records
