"""What newcomers get wrong: a clear word, a code, the exit code, and nothing lost."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli.released import RUN, project, release_in
from cli.started import ROOT, dpql, fine, refused, surroundings

pytestmark = pytest.mark.cli


TWICE = ("--set", "epsilon=1", "--set", "epsilon=2")
APPROVE = ("approve", "wages.plan.json", "--key", "officer")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that nothing in this module spends on."""
    return project(tmp_path_factory.mktemp("wrong") / "project")


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (("check", "nowhere.yaml"), 1, "DPQL101"),
        (("check", "photo.png"), 1, "DPQL102"),
        (("plan", "binary.yaml"), 1, "DPQL10"),
        (("plan", "folder.yaml"), 1, "DPQL804"),
        (("plan", "nowhere.plan.json"), 1, "DPQL400"),
        (("plan", "edited.plan.json"), 1, "DPQL40"),
        (("frobnicate",), 2, "DPQL810"),
        (("plan",), 2, "DPQL812"),
        (("plan", "wages.yaml", "--colour"), 2, "DPQL811"),
        (("plan", "wages.yaml", "--out", "no/such/folder/p.json"), 1, "DPQL801"),
        (("run", "wages.plan.json", "--key", "steward"), 2, "--data"),
        ((*RUN[:2], "--data", "wages", *RUN[4:]), 2, "NAME=URI"),
        ((*RUN[:2], "--data", "incomes=wages.csv", *RUN[4:]), 2, "wages"),
        ((*RUN[:4], "--key", "stranger", "--yes"), 4, "DPQL620"),
        ((*RUN, "--yes", "--ledger", "none.sqlite"), 3, "DPQL700"),
        ((*RUN, "--yes", "--dataset", "incomes"), 3, "DPQL701"),
        (RUN, 2, "--yes"),
        (("verify", "nowhere"), 4, "there is no release at `nowhere`"),
        (("verify", "nowhere", "--trust", "none"), 4, "DPQL630"),
        (("verify", "keys"), 4, "release.dsse.json is missing"),
        (("verify", "wages.csv", "--trust", "none"), 4, "no trust file `none`"),
        (("verify", "wages.plan.json"), 4, "DPQL6"),
        (("keys", "show", "stranger"), 4, "DPQL620"),
        (("ledger", "open", "other", "--epsilon", "-1"), 2, "above 0"),
        (("ledger", "open", "other", "--epsilon", "4"), 2, "`--unit COLUMN|row`"),
        (("ledger", "raise-cap", "wages", "--epsilon", "1"), 3, "DPQL710"),
        (("approve", "wages.csv", "--key", "officer"), 1, "DPQL102"),
        (("completion", "tcsh"), 2, "SHELL"),
        ((), 2, "dpql demo                  the whole story"),
        (("ledger",), 2, "dpql ledger open wages"),
        (("ledger", "opne"), 2, "did you mean `open`?"),
        (("plna", "wages.yaml"), 2, "did you mean `plan`?"),
        (("plan", "wages.yaml", "--ou", "x"), 2, "did you mean `--out`?"),
        (("plan", "wages.yaml", "--format", "jsn"), 2, "did you mean `json`?"),
        (("plan", "wages.yaml", "--out"), 2, "`--out` needs a value"),
        (("plan", "wages.yaml", "--check=yes"), 2, "`--check` takes no value"),
        (("schema", "spec", "plan"), 2, "`plan` is too much"),
        (("keys", "trust", "steward", "s"), 2, "--role release|plan|both"),
        ((*APPROVE, "--runs", "0"), 2, "from 1 to 1000000"),
        ((*APPROVE, "--runs=many"), 2, "`many` does not fit `--runs`"),
        ((*APPROVE, "--until", "2027-02-30"), 2, "such as 2027-06-01"),
        (("run", "wages.plan.json", "--data", "wages=wages.csv"), 2, "`--key`"),
        ((*APPROVE[:3], "steward.pub"), 4, "the public half"),
        ((*RUN[:4], "--key", "keys/steward.pub"), 4, "private half: `steward`"),
        (("plan", "wages.yaml", *TWICE), 2, "each of epsilon, alpha, mechanism once"),
        (("init", "wages.csv"), 1, "name a folder to begin in"),
        (("init", "wages.csv/below"), 1, "name a folder to begin in"),
        (("plan", "huge.yaml"), 1, "DPQL107"),
        (("check", "empty.yaml"), 1, "DPQL1"),
        (("fmt", "wages.csv"), 1, "DPQL102"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_wrong_use_is_refused(
    made: Path, arguments: tuple[str, ...], status: int, word: str
) -> None:
    """Each mistake has its word, a code or the help, and its exit code."""
    (made / "huge.yaml").write_bytes(b"#" * (2 << 20))
    (made / "empty.yaml").write_bytes(b"")
    (made / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    (made / "binary.yaml").write_bytes(bytes(range(256)))
    (made / "folder.yaml").mkdir(exist_ok=True)
    plan = (made / "wages.plan.json").read_bytes()
    (made / "edited.plan.json").write_bytes(plan.replace(b'"1/2"', b'"1/3"', 1) + b" ")
    run = dpql(*arguments, folder=made)
    assert run.returncode == status, run.stderr
    assert word in run.stderr + run.stdout
    assert "Traceback" not in run.stderr
    assert re.search(r"DPQL\d{3} |^Usage: ", run.stderr + run.stdout, re.MULTILINE)
    for foreign in ("Error:", "Invalid value", "No such", "Missing ", "Try '"):
        assert foreign not in run.stderr


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("person_id,district,age\np1,north,30\n", "DPQL503"),
        (None, "DPQL501"),
    ],
    ids=["missing column", "missing file"],
)
def test_data_that_do_not_fit_cost_nothing(
    tmp_path: Path, content: str | None, code: str
) -> None:
    """The exit code is 5, the column is named, the budget is given back."""
    folder = project(tmp_path / "project")
    data = folder / "wages.csv"
    data.unlink()
    if content is not None:
        data.write_text(content, "utf-8")
    refused(dpql(*RUN, "--yes", folder=folder), 5, code)
    assert "spent 0 of 2" in fine(dpql("ledger", "show", folder=folder))
    assert not (folder / "releases").exists()


def test_cells_that_are_no_numbers_change_nothing_but_noise(tmp_path: Path) -> None:
    """A file full of bad cells is run like any other."""
    folder = project(tmp_path / "project")
    rows = [
        "person_id,district,age,wage",
        'p1,"north,3',
        "p2,\x00,x,1e999",
        ",,,",
        "p3",
    ]
    (folder / "wages.csv").write_text("\n".join(rows), "utf-8")
    run = dpql(*RUN, "--yes", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "1e999" not in run.stdout + run.stderr


def test_more_than_the_budget_is_refused(tmp_path: Path) -> None:
    """The second draw fits, the third does not; the exit code is 3."""
    folder = project(tmp_path / "project")
    for _ in range(2):
        assert dpql(*RUN, "--yes", "--again", folder=folder).returncode == 0
    refused(dpql(*RUN, "--yes", "--again", folder=folder), 3, "DPQL703")
    assert len(list((folder / "releases").iterdir())) == 2
    fine(dpql("verify", release_in(folder), folder=folder))


def test_a_plan_without_its_approval_is_refused(tmp_path: Path) -> None:
    """A stale approval covers nothing."""
    folder = project(tmp_path / "project")
    spec = folder / "wages.yaml"
    spec.write_text(spec.read_text("utf-8").replace("1.0", "1.5"), "utf-8")
    fine_plan = dpql("plan", "wages.yaml", "--out", "wages.plan.json", folder=folder)
    assert fine_plan.returncode == 0
    refused(dpql(*RUN, "--yes", folder=folder), 4, "DPQL611")
    assert "spent 0 of 2" in fine(dpql("ledger", "show", folder=folder))


def test_a_bug_is_owned_up_to() -> None:
    """An unexpected exception is 70, with a hint; details only when asked for."""
    program = (
        "import sys\n"
        "from dpql.cli import main, explain\n"
        "import dpql.cli.commands.explain.pages as manual\n"
        "def page(word): raise ZeroDivisionError('secret')\n"
        "manual.page = page\n"
        "main.main(['explain', 'epsilon'])\n"
    )
    for debug in (False, True):
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=surroundings(**({"DPQL_DEBUG": "1"} if debug else {})),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if debug:
            assert "Traceback" in run.stderr
        else:
            assert run.returncode == 70
            assert "this is a bug in dpql" in run.stderr
            assert "Traceback" not in run.stderr
            assert "secret" not in run.stderr
