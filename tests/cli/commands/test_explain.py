"""`dpql explain`: pages of the manual, and the program of a plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import SPECS, dpql, fine, refused
from private_specs import private_text
from spec_text import spec_text

from dpql.cli.inputs.files import plan_at
from dpql.curator.compilation import compile_program

pytestmark = pytest.mark.cli


def test_codes_words_and_keys_are_explained() -> None:
    """A code by either spelling, a term, a key of a spec, a function."""
    assert fine(dpql("explain", "DPQL301")) == fine(dpql("explain", "301"))
    assert fine(dpql("explain", "epsilon")).startswith("epsilon: how much")
    assert "bins: [" in fine(dpql("explain", "bins"))
    assert "left-closed" in fine(dpql("explain", "bands"))
    assert "-5 // 2 is -3" in fine(dpql("explain", "//"))
    assert json.loads(fine(dpql("explain", "DPQL430", "--format", "json")))["title"]


def test_unknown_words_are_guessed_at() -> None:
    """A word that is nearly right gets the right one."""
    refused(dpql("explain", "epsilom"), 1, "DPQL806", "did you mean `epsilon`?")
    refused(dpql("explain", "\x1b[31mzzz"), 1, "\\u{1b}")


@pytest.mark.parametrize("name", ["clinic_filters.yaml", "clinic_filters.plan.json"])
def test_the_program_of_a_plan_is_shown(name: str) -> None:
    """A spec and its plan have one program: the one that engines are given."""
    path = SPECS / name
    program = str(compile_program(plan_at(path)))
    assert program == fine(dpql("explain", "--program", path))
    shown = json.loads(fine(dpql("explain", "--program", path, "--format", "json")))
    assert shown == {"plan": plan_at(path).digest, "program": program}


def test_the_program_of_a_plan_that_finds_keys_has_two_parts(tmp_path: Path) -> None:
    """First the searches, then the sums; how many keys there are nobody knows."""
    path = tmp_path / "flights.yaml"
    path.write_text(private_text(listed=True, others=True))
    text = fine(dpql("explain", "--program", path))
    first, then = text.split("then, with the keys that are shown")
    assert "finds   keys of dest, for found" in first
    assert "of each at most 3 keys" in first
    assert "cells   carrier (2 keys) x `dest` (as many keys as are shown)" in then
    assert "makes   `dest` (the keys that found finds, and others)" in then
    assert "in each of at most 3 cells" in then


def test_the_sql_of_a_plan_is_shown(tmp_path: Path) -> None:
    """What a database would be asked, in its own dialect."""
    path = tmp_path / "rows.yaml"
    columns = {"x": "{type: float, bounds: [0, 1], nulls: drop}"}
    asked = {"total": {"sum": "x", "spend": "{share: 1}"}}
    path.write_text(spec_text(columns, asked))
    assert 'FROM "rows" OFFSET 0' in fine(
        dpql("explain", "--sql", path, "--engine", "postgres")
    )
    shown = json.loads(fine(dpql("explain", "--sql", path, "--format", "json")))
    assert "duckdb" == shown["engine"]
    assert shown["sql"].startswith("WITH cells AS (SELECT")


def test_units_have_no_sql() -> None:
    """They are bounded before they are summed, which SQL does not."""
    refused(dpql("explain", "--sql", SPECS / "income.yaml"), 5, "DPQL509")


def test_a_program_is_no_page() -> None:
    """A page and a program are not asked for at once; what is no plan has none."""
    refused(
        dpql("explain", "epsilon", "--program", SPECS / "income.yaml"), 2, "DPQL814"
    )
    refused(dpql("explain", "--program", "none.plan.json"), 1, "DPQL400")
