"""One hostile record changes nothing but noisy numbers, within the sensitivity.

Every record is added to a small table, in four forms: csv, parquet, an Arrow table in
memory and ndjson. With it and without it a run must end alike, print nothing, and give
releases that agree in all but their noisy fields; and the exact integers must move by
no more than the plan allows.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from spec_text import make_spec

from dpql.curator import run
from dpql.curator.engines import polars_engine
from dpql.curator.noise import totals
from dpql.model.plan import Plan
from dpql.model.release import Outcome
from dpql.planner import plan

NAMES = ("region", "age", "wage", "score")
BASE = [("north", "17", "12.5", "0.25"), ("south", "40", "100", "-3e0")] * 6
SALT = b"h" * 32

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


def _records() -> Iterator[tuple[str, ...]]:
    for word in WORDS:
        yield (word, "17", "12.5", "0.25")
    for number in NUMBERS:
        yield ("north", number, number, number)


RECORDS = list(_records())
FORMS = ("csv", "parquet", "arrow", "ndjson")
CASES = [(form, i, False) for form in FORMS for i in range(len(RECORDS))]
CASES += [("csv", i, True) for i in range(len(LINES))]


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


def _csv(folder: Path, lines: list[bytes]) -> str:
    path = folder / "rows.csv"
    path.write_bytes(b"\n".join([",".join(NAMES).encode(), *lines]) + b"\n")
    return str(path)


def _typed(records: list[tuple[str, ...]]) -> pl.DataFrame:
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


def _frame(form: str, folder: Path, records: list[tuple[str, ...]]) -> Any:
    match form:
        case "csv":
            return _csv(folder, [",".join(record).encode() for record in records])
        case "parquet":
            path = folder / "rows.parquet"
            _typed(records).write_parquet(path)
            return str(path)
        case "arrow":
            return _typed(records).to_arrow()
        case _:
            path = folder / "rows.ndjson"
            rows = [dict(zip(NAMES, record, strict=True)) for record in records]
            path.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
            return str(path)


def _public(outcome: Outcome) -> Any:
    """Return everything of a release that is not a noisy field."""
    table = outcome.to_polars()
    return (
        repr(outcome),
        [(r.name, r.headings, r.accuracy, r.alpha, r.unit) for r in outcome.results],
        [[value.cell for value in r.values] for r in outcome.results],
        [{type(x) for v in r.values for x in v.noisy} for r in outcome.results],
        table.schema,
        table.drop("value", "lower", "upper", "exact").rows(),
        outcome.to_csv().splitlines()[0],
        outcome.coins,
        outcome.engine,
    )


def _within_sensitivity(made: Plan, one: Any, other: Any) -> None:
    """Assert that the integers of neighbours differ as little as the plan says."""
    sums = []
    for frame in (one, other):
        opened = polars_engine.open_frame(frame, made.spec.data)
        sums.append(polars_engine.add_up(made, opened, salt=SALT, tick=None).moments)
    for step, first, second in zip(made.steps, *sums, strict=True):
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hostile_record_changes_only_noisy_fields(
    case: tuple[str, int, bool],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Outcome, output, schema, order and types are as without the record."""
    made = hostile_plan()
    form, number, raw = case
    if raw:
        clean = [",".join(record).encode() for record in BASE]
        place = 1 + number % len(clean)
        hostile_lines = [*clean[:place], LINES[number], *clean[place:]]
        (tmp_path / "clean").mkdir()
        without = _csv(tmp_path / "clean", clean)
        hostile: Any = _csv(tmp_path, hostile_lines)
    else:
        record = RECORDS[number]
        (tmp_path / "clean").mkdir()
        without = _frame(form, tmp_path / "clean", BASE)
        hostile = _frame(form, tmp_path, [*BASE[:5], record, *BASE[5:]])
    with caplog.at_level(logging.DEBUG):
        expected = _public(run(made, {"rows": without}))
        actual = _public(run(made, {"rows": hostile}))
    assert expected == actual
    assert ("", "") == tuple(capfd.readouterr())
    assert [] == caplog.records
    _within_sensitivity(made, without, hostile)
