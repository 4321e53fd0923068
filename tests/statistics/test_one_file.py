"""A new statistic is a file and its line in the table: the rest follows from them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent

SPEC = """\
dpql: 1
release: squares
purpose: A statistic that the language did not have.
data:
  source: people
  rows: {at_most: 10}
  columns:
    wage: {type: integer, bounds: [-2, 9], unit: EUR, nulls: {as: 0}}
privacy:
  unit: row
  neighbours: add_remove
  epsilon: 1_000
  delta: 0
statistics:
  energy:
    sum_of_squares: wage
    where: wage != 7
    mechanism: geometric
    alpha: 0.05
    gamma: 1e-9
    spend: {share: 1}
"""
TEXT = "energy = sum_of_squares wage where wage != 7 using geometric "


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package, one file and one line of the table more."""
    folder = tmp_path_factory.mktemp("house")
    for part in (ROOT / "dpql").rglob("*"):
        copy = folder / part.relative_to(ROOT)
        if part.is_file() and part.suffix != ".pyc":
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(part.read_bytes())
    added = FOLDER / "sum_of_squares.py"
    (folder / "dpql" / "statistics" / added.name).write_bytes(added.read_bytes())
    table = folder / "dpql" / "statistics" / "__init__.py"
    text = table.read_text("utf-8")
    text = text.replace("    variance,\n)", "    sum_of_squares,\n    variance,\n)")
    line = "            sum,\n"
    text = text.replace(line, f"{line}            sum_of_squares,\n")
    assert 2 == text.count("sum_of_squares")
    table.write_text(text, "utf-8")
    (folder / "squares.yaml").write_text(SPEC, "utf-8")
    (folder / "people.csv").write_text("wage\n-2\n4\n7\n100\n", "utf-8")
    return folder


def python(house: Path, *arguments: str) -> str:
    """Return what Python prints in the house."""
    path = os.pathsep.join([str(house), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=house,
        env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def dpql(house: Path, *arguments: str) -> str:
    """Return what a command prints in the house."""
    return python(house, "-m", "dpql", *arguments)


def test_both_forms_have_its_word(house: Path) -> None:
    """It is checked, formatted, and the same in either form."""
    dpql(house, "check", "squares.yaml")
    dpql(house, "fmt", "squares.yaml")
    text = dpql(house, "fmt", "squares.yaml", "--to", "dpql")
    assert TEXT in text
    (house / "squares.dpql").write_text(text, "utf-8")
    back = dpql(house, "fmt", "squares.dpql", "--to", "yaml")
    assert (house / "squares.yaml").read_text("utf-8") == back


def test_a_plan_has_it(house: Path) -> None:
    """Both forms give one plan, which is fresh and reads back."""
    dpql(house, "plan", "squares.yaml", "--out", "squares.plan.json")
    text = dpql(house, "fmt", "squares.yaml", "--to", "dpql")
    (house / "twin.dpql").write_text(text, "utf-8")
    dpql(house, "plan", "twin.dpql", "--out", "twin.plan.json")
    plan = (house / "squares.plan.json").read_text("utf-8")
    assert '"statistic": "sum_of_squares"' in plan
    assert plan == (house / "twin.plan.json").read_text("utf-8")
    assert "energy" in dpql(house, "show", "squares.plan.json")


def test_the_schemas_name_it(house: Path) -> None:
    """An editor knows the key, and a reader of plans the name."""
    (house / "schemas").mkdir()
    for package in ("language", "planner", "reports"):
        python(house, "-m", f"dpql.{package}.schema", "schemas")
    for schema in (house / "schemas").glob("[!d]*.json"):
        assert '"sum_of_squares"' in schema.read_text("utf-8"), schema.name


RELEASE = """\
from pathlib import Path
import dpql
from dpql.reports.keys import new_key
from dpql.reports.trust import parse_trust, trust_line

plan = dpql.plan("squares.yaml")
release = dpql.run(plan, {"people": "people.csv"})
(value,) = release["energy"].values
assert abs(value.value - (4 + 16 + 81)) <= 5  # noise beyond has chance 1e-27
signers = parse_trust(
    trust_line(new_key(Path("steward"), None), "steward", ("dpql-release",))
)
report = dpql.sign(release, "steward")
assert dpql.verify(report, signers) == release
print(dict(report.files)["report.html"].decode())
"""


def test_a_release_of_it_is_verified(house: Path) -> None:
    """Cells are clamped, filtered, squared and summed; the report has its phrase."""
    page = python(house, "-c", RELEASE)
    assert "Sum of the squares of wage, where wage != 7" in page


def test_it_passes_the_contract(house: Path) -> None:
    """The brute force over all tiny data sets finds its line in the table."""
    contract = FOLDER / "test_contract.py"
    (house / "test_contract.py").write_bytes(contract.read_bytes())
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    chosen = ["-k", "sum_of_squares or every or refused", "test_contract.py"]
    assert "passed" in python(house, "-m", "pytest", *options, *chosen)
