"""`dpql init`: a new project folder."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_scaffold_is_sound_and_keeps_what_is_there(tmp_path: Path) -> None:
    """The spec checks, is laid out, and its plan is fresh; a second init keeps all."""
    fine(dpql("init", "new", "--no-passphrase", folder=tmp_path))
    folder = tmp_path / "new"
    fine(dpql("check", "specs", folder=folder))
    fine(dpql("fmt", "--check", "specs", folder=folder))
    fine(dpql("plan", "--check", "specs", folder=folder))
    assert "spent 0 of 4" in fine(dpql("ledger", "show", folder=folder))
    before = (folder / "keys" / "steward").read_bytes()
    again = fine(dpql("init", "new", "--no-passphrase", folder=tmp_path))
    assert " made " not in again
    assert before == (folder / "keys" / "steward").read_bytes()


def test_names_and_types_come_from_a_header(tmp_path: Path) -> None:
    """No row is read; what a header does not tell is what `check` asks for."""
    polars = pytest.importorskip("polars")
    (tmp_path / "rows.csv").write_text("unit_id,secret\n1,canary\n", "utf-8")
    made = fine(dpql("init", "a", "--from-schema", "rows.csv", folder=tmp_path))
    assert "later  `dpql plan specs/first.yaml" in made
    assert "made   a/ledger.sqlite" not in made
    text = (tmp_path / "a" / "specs" / "first.yaml").read_text("utf-8")
    assert "unit_id: {type: id}" in text
    assert "canary" not in text
    assert ["DPQL201"] * 3 + ["DPQL214"] == sorted(_asked(tmp_path, "a"))
    frame = polars.DataFrame(
        {
            "Patient ID": [1],
            "größe": [1.5],
            "sex": ["f"],
            "paid": [2],
            "born": [date(2000, 1, 1)],
        }
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    fine(dpql("init", "b", "--from-schema", "rows.parquet", folder=tmp_path))
    text = (tmp_path / "b" / "specs" / "first.yaml").read_text("utf-8")
    assert '"Patient ID": {type: id}' in text
    assert '"größe": {type: float, nulls: drop}' in text
    assert "paid: {type: integer, nulls: drop}" in text
    assert "born: {type: date, nulls: drop}" in text
    assert ["DPQL201"] * 7 == sorted(_asked(tmp_path, "b"))
    gone = dpql("init", "c", "--from-schema", "none.parquet", folder=tmp_path)
    refused(gone, 5, "DPQL501")


def test_a_spec_from_a_header_is_finished_by_hand(tmp_path: Path) -> None:
    """When what `check` asks for is there, a second init makes the rest."""
    (tmp_path / "rows.csv").write_text("unit_id,age\n1,3\n", "utf-8")
    begin = ("init", ".", "--from-schema", "rows.csv", "--no-passphrase")
    fine(dpql(*begin, folder=tmp_path))
    spec = tmp_path / "specs" / "first.yaml"
    text = spec.read_text("utf-8")
    for begun, finished in (
        ("{type: unknown}", "{type: integer, bounds: [0, 100], nulls: drop}"),
        ("# purpose:", "purpose:"),
        ("# rows: a public number, or a public ceiling", "rows: {at_most: 100}"),
        ("# unit:", "unit: unit_id\n  contributes: {rows: 1, groups: 1}  #"),
        ("# epsilon:", "epsilon: 1  #"),
    ):
        assert begun in text
        text = text.replace(begun, finished)
    spec.write_text(text, "utf-8")
    fine(dpql("check", "specs", folder=tmp_path))
    again = fine(dpql(*begin, folder=tmp_path))
    assert "made   specs/first.plan.json" in again
    assert "made   ledger.sqlite" in again
    fine(dpql("plan", "--check", "specs", folder=tmp_path))


def test_what_is_open_is_a_short_list(tmp_path: Path) -> None:
    """`check` lists what a new spec lacks, a line for each, however wide the file."""
    columns = [f"column_{number}" for number in range(50)]
    (tmp_path / "wide.csv").write_text(",".join(columns) + "\n", "utf-8")
    fine(dpql("init", ".", "--from-schema", "wide.csv", folder=tmp_path))
    lines = dpql("check", "specs", folder=tmp_path).stdout.strip().split("\n")
    assert lines[0] == "specs/first.yaml is not finished; what is missing:"
    assert len(lines) == 5
    assert "and 45 more have no type yet" in lines[3]


def test_data_are_called_as_their_file(tmp_path: Path) -> None:
    """The source has the name of the file, where that is a name, or that given."""
    for file, more, expected in (
        ("flights.2013.csv", (), "flights"),
        ("2013.csv", (), "data"),
        ("rows.csv", ("--source", "trips"), "trips"),
    ):
        (tmp_path / file).write_text("id\n", "utf-8")
        fine(dpql("init", file[:4], "--from-schema", file, *more, folder=tmp_path))
        text = (tmp_path / file[:4] / "specs" / "first.yaml").read_text("utf-8")
        assert f"\n  source: {expected}  #" in text
    fine(dpql("init", "empty", folder=tmp_path))
    text = (tmp_path / "empty" / "specs" / "first.yaml").read_text("utf-8")
    assert "release: wages_by_district\n" in text


def test_whom_to_protect_is_never_guessed(tmp_path: Path) -> None:
    """A header without an id, and one with two, leave the unit and the budget open."""
    for header in ("age", "visit_id,personId"):
        (tmp_path / "rows.csv").write_text(f"{header}\n", "utf-8")
        name = f"of-{header.split(',')[0]}"
        fine(dpql("init", name, "--from-schema", "rows.csv", folder=tmp_path))
        run = dpql("check", f"{name}/specs", folder=tmp_path)
        for keys in ("`unit` and no `epsilon`", "`rows`", "`purpose`"):
            assert f"has no {keys}" in run.stdout
    text = (tmp_path / "of-visit_id" / "specs" / "first.yaml").read_text("utf-8")
    assert "personId: {type: id}" in text


def test_the_way_into_a_new_folder_is_shown(tmp_path: Path) -> None:
    """Commands to type next begin with the step into the folder, if one is needed."""
    made = fine(dpql("init", "my specs", "--no-passphrase", folder=tmp_path))
    assert "next: `cd 'my specs'`, then edit specs/first.yaml" in made
    here = fine(dpql("init", "--no-passphrase", folder=tmp_path))
    assert "next: edit specs/first.yaml" in here


def _asked(folder: Path, name: str) -> list[str]:
    """Return the codes of what `check` asks for."""
    run = dpql("check", f"{name}/specs", "--format", "json", folder=folder)
    assert run.returncode == 1
    return [fault["code"] for fault in json.loads(run.stdout)["diagnostics"]]
