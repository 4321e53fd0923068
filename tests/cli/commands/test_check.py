"""`dpql check`: every fault of a spec, in every form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import ROOT, SPECS, WAGES, dpql, fine

pytestmark = pytest.mark.cli


FAULTY = (
    WAGES.read_text("utf-8")
    .replace("mean: wage", "mean: wages")
    .replace("count: rows", "count: row")
)


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """A spec with two faults."""
    path = tmp_path / "faulty.yaml"
    path.write_text(FAULTY, "utf-8")
    return path


def test_sound_specs_are_named_with_their_plans() -> None:
    """A folder is checked as a whole."""
    lines = fine(dpql("check", "specs")).splitlines()
    count = len([*SPECS.glob("*.yaml"), *SPECS.glob("*.dpql")])
    assert f"{count} specs, none at fault" == lines[-1]
    assert all(line.startswith("ok  specs/") for line in lines[:-1])


def test_an_id_that_protects_nobody_is_pointed_out(tmp_path: Path) -> None:
    """It is a note, in text and JSON; no fault, and nothing where ids protect."""
    spec = tmp_path / "rows.yaml"
    text = WAGES.read_text("utf-8")
    assert "type: id" in text
    assert "unit: row" not in text
    lines = [line for line in text.splitlines() if "contributes:" not in line]
    unit = next(line for line in lines if line.strip().startswith("unit: "))
    lines[lines.index(unit)] = "  unit: row"
    spec.write_text("\n".join(lines), "utf-8")
    note = "is declared an id, but the unit is a row"
    run = dpql("check", spec, WAGES)
    assert (0, 1) == (run.returncode, run.stdout.count(note)), run.stdout + run.stderr
    document = json.loads(fine(dpql("check", spec, WAGES, "--format", "json")))
    assert [1, 0] == [len(one["notes"]) for one in document["specs"]]
    assert note in document["specs"][0]["notes"][0]


def test_all_faults_are_shown_with_place_and_hint(faulty: Path) -> None:
    """Each fault has the line, a caret and a hint; the exit code is 1."""
    run = dpql("check", faulty)
    assert (1, "") == (run.returncode, run.stderr)
    assert "faulty.yaml:24:12: DPQL" in run.stdout
    assert "faulty.yaml:28:11: DPQL301 no column `wages`" in run.stdout
    assert "= hint: did you mean `wage`?" in run.stdout
    assert run.stdout.count("^") >= 2


def test_concise_is_one_line_a_fault(faulty: Path) -> None:
    """The short form has as many lines as faults."""
    run = dpql("check", faulty, "--format", "concise")
    assert run.returncode == 1
    assert len(run.stdout.splitlines()) == 2
    assert fine(dpql("check", WAGES, "--format", "concise")) == ""


def test_json_names_plans_and_faults(faulty: Path) -> None:
    """The document has one entry a spec and one a fault."""
    run = dpql("check", faulty, WAGES, "--format", "json")
    document = json.loads(run.stdout)
    assert [None, 64] == [s["plan"] and len(s["plan"]) for s in document["specs"]]
    assert [(24, "DPQL"), (28, "DPQL")] == [
        (fault["line"], fault["code"][:4]) for fault in document["diagnostics"]
    ]


def test_github_annotations_are_escaped(tmp_path: Path) -> None:
    """A hostile name can neither end the command nor start another."""
    path = tmp_path / "a,b%0A::x.yaml"
    path.write_text(FAULTY, "utf-8")
    run = dpql("check", path, "--format", "github")
    assert run.returncode == 1
    assert "a%2Cb%250A%3A%3Ax.yaml,line=24" in run.stdout
    assert all(line.startswith("::error file=") for line in run.stdout.splitlines())


def test_sarif_points_at_the_faults(faulty: Path) -> None:
    """The log has the rules it uses and a region for every result."""
    log = json.loads(dpql("check", faulty, "--format", "sarif").stdout)
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] > 1


def test_a_spec_that_cannot_be_planned_is_at_fault(tmp_path: Path) -> None:
    """Faults of the budget are found too."""
    path = tmp_path / "dear.yaml"
    dear = WAGES.read_text("utf-8").replace("epsilon: 1.0", "epsilon: 0.01")
    path.write_text(dear, "utf-8")
    run = dpql("check", path, "--format", "concise")
    assert run.returncode == 1
    assert "DPQL430" in run.stdout


def test_a_folder_without_specs_is_refused() -> None:
    """Nothing checked is not the same as nothing wrong."""
    run = dpql("check", ROOT / "docs" / "decisions")
    assert run.returncode == 1
    assert "DPQL804" in run.stderr
