"""One plan on the same rows, from a file and from databases: one table, verified."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from cli.started import dpql
from curator.sources.postgres_tables import write
from spec_text import spec_text

from dpql.ledger import open_ledger
from dpql.model.spec import Neighbours
from dpql.reports.keys import new_key
from dpql.reports.trust import trust_line

pytestmark = pytest.mark.cli

ROWS = 300
COLUMNS = {
    "person": "{type: id}",
    "region": "{type: category, keys: [north, south]}",
    "age": "{type: integer, bounds: [16, 100], nulls: drop}",
    "wage": "{type: decimal, bounds: [0, 5000], step: 0.01, nulls: {as: 100}}",
}
ASKED = {
    "people": {"count": "rows", "by": "[region]"},
    "mean_wage": {"mean": "wage", "by": "[region]"},
    "ages": {"histogram": "age", "bins": "[16, 30, 50, 100]"},
    "grown": {"proportion": "age >= 18"},
    "middle": {"median": "age"},
}


def _frame() -> pl.DataFrame:
    rng = random.Random(4)
    return pl.DataFrame(
        {
            "person": [f"p{number % 100}" for number in range(ROWS)],
            "region": [["north", "south", "x"][number % 3] for number in range(ROWS)],
            "age": [rng.choice([None, 15, 40, 70, 130]) for _ in range(ROWS)],
            "wage": [
                rng.choice([None, 12.34, 9e9, -1.0, 2_500.5]) for _ in range(ROWS)
            ],
        }
    )


def _values(folder: Path, unit: str, *options: str) -> dict[Any, float]:
    """Run a plan with a ledger of its own, verify it, and return what it released."""
    (folder / "keys").mkdir(parents=True)
    shared = {name: {**one, "spend": "{share: 1}"} for name, one in ASKED.items()}
    contributes = None if unit == "row" else "{rows: 3, groups: 3}"
    text = spec_text(
        COLUMNS, shared, unit=unit, contributes=contributes, epsilon="1000"
    )
    (folder / "rows.yaml").write_text(text)
    key = new_key(folder / "keys" / "tester", None)
    line = trust_line(key, "tester@example.org", ("dpql-release",))
    (folder / "allowed_signers").write_text(line + "\n", "utf-8")
    open_ledger(str(folder / "ledger.sqlite"), create=True).open_account(
        "rows",
        cap=Fraction(1000),
        unit=None if unit == "row" else unit,
        neighbours=Neighbours.ADD_REMOVE,
    )
    run = dpql(
        *("run", "rows.yaml", "--key", "tester", "--yes", "--format", "json"),
        *options,
        folder=folder,
    )
    assert 0 == run.returncode, run.stderr
    assert "Zebedee" not in run.stderr
    done = json.loads(run.stdout)
    (release,) = (folder / "releases").iterdir()
    verified = dpql("verify", str(release), "--ledger", "ledger.sqlite", folder=folder)
    assert 0 == verified.returncode, verified.stderr
    return {
        (one["statistic"], *one["cell"]): float(Fraction(one["value"]))
        for one in done["values"]
    }


Where = Callable[[pytest.FixtureRequest, Path], list[str]]


def _parquet(_: pytest.FixtureRequest, folder: Path) -> list[str]:
    _frame().write_parquet(folder / "rows.parquet")
    return ["--data", f"rows={folder}/rows.parquet"]


def _duckdb(_: pytest.FixtureRequest, folder: Path) -> list[str]:
    with duckdb.connect(folder / "rows.duckdb") as connection:
        connection.register("given", _frame().to_arrow())
        connection.execute("CREATE TABLE t AS FROM given")
    return ["--data", f"rows=duckdb:{folder}/rows.duckdb#t"]


def _postgres(request: pytest.FixtureRequest, _: Path) -> list[str]:
    server = request.getfixturevalue("postgres_server")
    return ["--data", f"rows={write(server, _frame())}"]


def _spark(request: pytest.FixtureRequest, folder: Path) -> list[str]:
    url = request.getfixturevalue("spark_url")
    _parquet(request, folder)
    location = f"spark:parquet.`{folder}/rows.parquet`"
    return ["--data", f"rows={location}", "--spark", url]


LOCATIONS: dict[str, Where] = {
    "duckdb": _duckdb,
    "postgres": _postgres,
    "spark": _spark,
}


@pytest.fixture(scope="module")
def from_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[Any, float]]:
    """Give what is released from a file, by unit."""
    folder = tmp_path_factory.mktemp("file")
    options = _parquet(request, folder)
    return cache(lambda unit: _values(folder / unit, unit, *options))


CASES = [
    pytest.param(
        name,
        unit,
        marks=[pytest.mark.slow] if (name, unit) == ("spark", "row") else [],
    )
    for name in LOCATIONS
    for unit in ("row", "person")
]


@pytest.mark.parametrize(("name", "unit"), CASES)
def test_one_plan_gives_one_table(
    name: str, unit: str, from_file: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """At epsilon 1000 noise moves a count by one at most; nothing else differs."""
    values = from_file(unit)
    options = LOCATIONS[name](request, tmp_path)
    if unit == "row" and name != "spark":
        options += ["--engine", name]
    found = _values(tmp_path / name, unit, *options)
    assert set(values) == set(found)
    for key, value in values.items():
        scale = 50 if key[0] == "mean_wage" else 1.5
        assert abs(value - found[key]) <= scale, key
