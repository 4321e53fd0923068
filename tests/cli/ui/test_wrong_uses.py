"""What newcomers get wrong, and the cure that stands in the message."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.released import project
from cli.started import WAGES

import dpql as library
from dpql.cli.main import run
from dpql.errors import SpecError

SPEC = WAGES.read_text("utf-8")

SPECS = {
    "a tab": ("  source: wages", "\tsource: wages", "indent with spaces"),
    "a colon forgotten": ("mean: wage", "mean wage", "is a colon missing on line 28"),
    "epsilon in short": ("epsilon: 1.0", "eps: 1.0", "did you mean `epsilon`?"),
    "a decimal comma": ("epsilon: 1.0", "epsilon: 1,5", "write a point: `1.5`"),
    "percent": ("alpha: 0.05", "alpha: 5%", "as a part of one: `0.05`"),
    "thousands by commas": (
        "{at_most: 2_000_000}",
        "{at_most: '2,000,000'}",
        "write the number alone: `2000000`",
    ),
    "a number of rows alone": (
        "{at_most: 2_000_000}",
        "500",
        "write `rows: {at_most: 500}` for a public ceiling",
    ),
    "a contribution alone": (
        "{rows: 3, groups: 1}",
        "3",
        "write `contributes: {rows: 3, groups: 1}`",
    ),
    "a spend alone": (
        "{share: 2}",
        "0.5",
        "write `spend: {share: 0.5}` for a part of what is left",
    ),
    "a group without brackets": ("by: [district]", "by: district", "`[district]`"),
    "bounds as a range": ("[16, 100]", "16-100", "`[FIRST, SECOND]`"),
    "bounds as in JSON Schema": (
        "bounds: [16, 100]",
        "minimum: 16, maximum: 100",
        "did you mean `bounds`?",
    ),
    "another word for mean": ("mean: wage", "avg: wage", "did you mean `mean`?"),
    "another word for by": ("by: [", "group_by: [", "did you mean `by`?"),
    "another word for where": ("where: age", "filter: age", "did you mean `where`?"),
    "a type of Python": ("type: integer", "type: int", "did you mean `integer`?"),
    "one equals sign": ("age < 65", "age = 65", "write `==` to compare"),
    "signs of C": ("18 and age", "18 && age", "write `and`"),
    "a chain of comparisons": (
        "age >= 18 and age < 65",
        "18 <= age < 65",
        "join comparisons by `and`",
    ),
    "a key with a slip": (
        "age >= 18 and age < 65",
        "district == nroth",
        "did you mean `north`?",
    ),
    "a mean of words": ("mean: wage", "mean: district", "take `age` or `wage`"),
    "groups of numbers": ("by: [district]", "by: [age]", "take `district`"),
    "a unit that is no id": ("unit: person_id", "unit: age", "take `person_id`"),
    "stars for rows": ("count: rows", 'count: "*"', "write `rows` or `units`"),
    "spaces in a name": ("district_wages_2025", "district wages", "letters, digits"),
    "two things at once": (
        "mean: wage",
        "mean: wage\n    sum: wage",
        "keep one of",
    ),
    "more than there is": ("{share: 2}", "{epsilon: 5}", "lower it, or raise"),
    "accuracy of a mean": ("{share: 2}", "{accuracy: 10}", "promise `at_least: ROWS`"),
    "laplace by name": ("mechanism: auto", "mechanism: laplace", "`snapping`"),
    "unbounded neighbours": ("add_remove", "unbounded", "did you mean `add_remove`?"),
}
"""What stands in the spec, what a newcomer writes, and the cure."""

COMMANDS = {
    "a slip in a path": ("plan wage.yaml", "did you mean `wages.yaml`?"),
    "no such file": ("plan quite/other.yaml", "there is no such folder"),
    "data for a spec": ("run wages.csv", "name a spec, and --data NAME=wages.csv"),
    "an option for a what-if": ("plan wages.yaml --epsilon 2", "`--set epsilon=…`"),
    "a setting in short": ("plan wages.yaml --set eps=2", "write epsilon=…"),
    "the folder of releases": ("verify results", "give one of the 1 in it"),
    "a code that is none": ("explain DPQL999", "`dpql explain` lists them"),
    "a term with a slip": ("explain epsilonn", "did you mean `epsilon`?"),
    "one side of a diff": ("diff wages.yaml", "--base REF and a SPEC"),
    "a dataset not opened": ("ledger show wage", "`dpql ledger open wage --epsilon"),
    "an engine by another name": ("run wages.yaml --engine pandas", "choose from"),
    "no rows to rehearse": ("rehearse wages.yaml --rows 0", "from 1 to"),
    "a schema of no file": ("init x --from-schema none.csv", "check the path"),
    "a demo over work": ("demo keys", "name another folder"),
}
"""What a newcomer types in a project, and the cure."""


@pytest.mark.parametrize("name", SPECS)
def test_the_cure_stands_in_the_fault(name: str) -> None:
    """At most two faults, of which one says what to write."""
    right, wrong, cure = SPECS[name]
    assert right in SPEC
    with pytest.raises((SpecError, library.DpqlError)) as caught:
        library.plan(SPEC.replace(right, wrong, 1))
    faults = caught.value.diagnostics
    assert any(cure in (fault.hint or "") for fault in faults), faults
    assert len(faults) <= 2


def test_there_are_enough() -> None:
    """Thirty specs that newcomers write, beside the commands that they type."""
    assert len(SPECS) >= 30


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a folder that holds the folder of a release."""
    folder = project(tmp_path_factory.mktemp("uses") / "project")
    release = folder / "results" / "first"
    release.mkdir(parents=True)
    (release / "release.dsse.json").write_text("{}", "utf-8")
    return folder


@pytest.mark.cli
@pytest.mark.parametrize("name", COMMANDS)
def test_the_cure_stands_behind_the_command(
    name: str,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A code, a hint that cures, and no traceback."""
    line, cure = COMMANDS[name]
    monkeypatch.chdir(made)
    status = run(line.split())
    out, err = capsys.readouterr()
    assert status in {1, 2, 3, 4, 5}
    assert cure in err + out
    assert "DPQL" in err + out
    assert "Traceback" not in err + out
