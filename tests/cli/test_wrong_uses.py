"""What newcomers get wrong: a clear word, a code, the exit code, and nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.released import RUN, project, release_in
from cli.started import ROOT, WAGES, dpql, fine, refused, surroundings

from dpql.ledger import open_ledger

pytestmark = pytest.mark.cli


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
        (("verify", "nowhere"), 4, "DPQL630"),
        (("verify", "wages.plan.json"), 4, "DPQL6"),
        (("keys", "show", "stranger"), 4, "DPQL620"),
        (("ledger", "open", "other", "--epsilon", "-1"), 2, "above 0"),
        (("ledger", "raise-cap", "wages", "--epsilon", "1"), 3, "DPQL710"),
        (("approve", "wages.csv", "--key", "officer"), 1, "DPQL102"),
        (("completion", "tcsh"), 2, "SHELL"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_wrong_use_is_refused(
    made: Path, arguments: tuple[str, ...], status: int, word: str
) -> None:
    """Each mistake has its word and its exit code."""
    (made / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    (made / "binary.yaml").write_bytes(bytes(range(256)))
    (made / "folder.yaml").mkdir(exist_ok=True)
    plan = (made / "wages.plan.json").read_bytes()
    (made / "edited.plan.json").write_bytes(plan.replace(b'"1/2"', b'"1/3"', 1) + b" ")
    run = dpql(*arguments, folder=made)
    assert run.returncode == status, run.stderr
    assert word in run.stderr + run.stdout
    assert "Traceback" not in run.stderr


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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    """Nothing is written in part."""
    tmp_path.chmod(0o500)
    refused(dpql("plan", WAGES, "--out", tmp_path / "p.json"), 1, "DPQL801")
    tmp_path.chmod(0o700)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named() -> None:
    """Output to a full device is an error of the system, not a traceback."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this machine")
    with full.open("w") as target:
        run = subprocess.run(
            [sys.executable, "-m", "dpql", "plan", str(WAGES)],
            stdout=target,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=surroundings(),
            check=False,
        )
    assert (1, True) == (run.returncode, "DPQL800" in run.stderr)
    assert "Traceback" not in run.stderr


def test_a_closed_pipe_changes_nothing_but_what_is_seen(tmp_path: Path) -> None:
    """The command goes on to its end and keeps its exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    target = tmp_path / "p.json"
    run = subprocess.run(
        [sys.executable, "-m", "dpql", "plan", str(WAGES), "--out", str(target)],
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=surroundings(),
        check=False,
    )
    os.close(writer)
    assert (0, True) == (run.returncode, target.exists())
    assert "Broken" not in run.stderr


def test_an_interrupt_gives_back_what_was_only_held_back(tmp_path: Path) -> None:
    """Ctrl-C while rows are read ends with 130 and a sound ledger."""
    folder = project(tmp_path / "project")
    os.mkfifo(folder / "slow.csv")
    run = subprocess.Popen(
        [sys.executable, "-m", "dpql", *RUN[:3], "wages=slow.csv", *RUN[4:], "--yes"],
        cwd=folder,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    ledger = open_ledger(str(folder / "ledger.sqlite"))
    for _ in range(600):
        if ledger.account("wages").runs or run.poll() is not None:
            break
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    # A reader in native code notices only when the file ends.
    try:
        handle = os.open(folder / "slow.csv", os.O_WRONLY | os.O_NONBLOCK)
        os.close(handle)
    except OSError:
        pass
    out, err = run.communicate(timeout=60)
    assert "Traceback" not in err
    assert run.returncode in {5, 130}
    assert out == ""
    text = fine(dpql("ledger", "recover", "wages", folder=folder))
    assert text
    fine(dpql("ledger", "verify", folder=folder))
    assert not (folder / "releases").exists()


def test_a_bug_is_owned_up_to() -> None:
    """An unexpected exception is 70, with a hint; details only when asked for."""
    program = (
        "import sys\n"
        "from dpql.cli import main, explain\n"
        "import dpql.cli.manual as manual\n"
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
