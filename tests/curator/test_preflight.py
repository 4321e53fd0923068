"""A preflight tells the owner how data fit, in the same words for every source."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import dpql
from dpql.curator.preflight import Preflight, preflight
from dpql.curator.preflight.notations import Notation
from dpql.errors import RunFault
from dpql.language import load_text
from dpql.model.plan import Plan

SPEC = """\
dpql: 1
release: fits
purpose: How well do the data fit.
data:
  source: t
  rows: {at_most: 1_000}
  columns:
    id: {type: id}
    word: {type: category, keys: [a, b]}
    flag: {type: category, keys: ["0", "1"]}
    whole: {type: integer, bounds: [0, 10], nulls: drop}
    wage: {type: float, bounds: [0, 20_000], nulls: {as: 0}}
privacy: {unit: id, contributes: {rows: 2, groups: 1}, epsilon: 1}
statistics:
  counts: {count: rows, by: [word], spend: {share: 1}}
  wages: {mean: wage, where: whole > 2, by: [flag], spend: {share: 1}}
"""

ROWS = {
    "id": ["p1", "p1", "p1", "p2", None, "p3", "p3", "p4"],
    "word": ["a", "a", "a", "b", "a", "A", "c", None],
    "flag": ["0", "1", "1.0", "True", "1 ", "0", "0", "1"],
    "whole": ["3", "4.0", "12", "-1", "NA", "true", "3", None],
    "wage": ["1.5", "$17,000", "30000", "12 ", "7", "yes", "3,5", "5%"],
}


def plan_of(text: str = SPEC) -> Plan:
    """Return the plan of a spec."""
    return dpql.plan(load_text(text, form="yaml"))


def stored(kind: str, folder: Path) -> object:
    """Return the rows as a source of some kind."""
    frame = pl.DataFrame(ROWS)
    path = folder / f"t.{kind}"
    match kind:
        case "csv":
            frame.write_csv(path)
        case "ndjson":
            frame.write_ndjson(path)
        case "parquet":
            frame.write_parquet(path)
        case "arrow":
            frame.write_ipc(path)
        case _:
            return frame
    return path


@pytest.mark.parametrize("kind", ["csv", "ndjson", "parquet", "arrow", "frame"])
def test_every_source_is_told_alike(kind: str, tmp_path: Path) -> None:
    """Undeclared keys, cells that do not parse, nulls, bounds, ids, contributions."""
    found = preflight(plan_of(), {"t": stored(kind, tmp_path)})
    assert 8 == found.rows
    columns = {one.name: one for one in found.columns}
    counts = {
        name: (one.empty, one.misfit, one.below, one.above)
        for name, one in columns.items()
    }
    assert {
        "id": (1, 0, 0, 0),
        "word": (1, 2, 0, 0),
        "flag": (0, 3, 0, 0),
        "whole": (1, 2, 1, 1),
        "wage": (0, 5, 0, 1),
    } == counts
    notations = {
        name: {each.text: each.notation for each in one.misfits}
        for name, one in columns.items()
    }
    assert {"A": Notation.CASE, "c": None} == notations["word"]
    assert {
        "1.0": Notation.DECIMALS,
        "True": Notation.WORDS,
        "1 ": Notation.BLANKS,
    } == notations["flag"]
    assert {"NA": Notation.MISSING, "true": Notation.WORDS} == notations["whole"]
    assert {
        "$17,000": Notation.MONEY,
        "12 ": Notation.BLANKS,
        "yes": Notation.WORDS,
        "3,5": Notation.COMMA,
        "5%": Notation.PERCENT,
    } == notations["wage"]
    assert {Notation.DECIMALS: 1} == dict(columns["whole"].converted)
    first, second = found.statistics
    assert (8, 8, 5, 4, 3, 3) == _steps(first)
    assert (8, 4, 3, 3, 2, 2) == _steps(second)
    assert (2, 0) == (first.cells, first.empty)


def test_numbers_and_booleans_that_are_stored_as_such_fit() -> None:
    """A key is a number's text; true counts as 1, and is said to."""
    frame = pl.DataFrame(
        {
            "id": [1, 2, None],
            "word": [True, None, False],
            "flag": [1.0, 0.0, 2.0],
            "whole": [1, 11, None],
            "wage": [True, False, None],
        }
    )
    found = {one.name: one for one in preflight(plan_of(), {"t": frame}).columns}
    assert (0, 1) == (found["id"].misfit, found["id"].empty)
    assert [("true", 1), ("false", 1)] == sorted(
        ((each.text, each.count) for each in found["word"].misfits), reverse=True
    )
    assert ["2"] == [each.text for each in found["flag"].misfits]
    assert (1, 1) == (found["whole"].above, found["whole"].empty)
    assert (0, 1, True) == (
        found["wage"].misfit,
        found["wage"].empty,
        found["wage"].booleans,
    )


def test_what_cannot_be_opened_is_refused_as_a_run_refuses_it(tmp_path: Path) -> None:
    """Missing columns and types that cannot hold what is declared."""
    with pytest.raises(RunFault, match="DPQL503"):
        preflight(plan_of(), {"t": pl.DataFrame({"id": ["p"]})})
    with pytest.raises(RunFault, match="DPQL501"):
        preflight(plan_of(), {"t": tmp_path / "nothing.csv"})


def test_an_empty_table_has_nothing_to_say(tmp_path: Path) -> None:
    """No row, no misfit, no division by nothing."""
    path = tmp_path / "t.csv"
    path.write_text(",".join(ROWS) + "\n", "utf-8")
    found = preflight(plan_of(), {"t": path})
    assert isinstance(found, Preflight)
    assert 0 == found.rows
    assert {0} == {one.misfit + one.empty for one in found.columns}


def test_nothing_of_the_library_makes_a_preflight_by_itself() -> None:
    """It is no public name, and no verb returns it."""
    assert not [name for name in dir(dpql) if "preflight" in name.lower()]


def _steps(fit: object) -> tuple[int, ...]:
    names = ("rows", "passing", "inside", "owned", "kept", "used")
    return tuple(getattr(fit, name) for name in names)
