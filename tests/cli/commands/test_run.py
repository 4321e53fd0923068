"""`dpql run`: one debit, one release, and nothing lost on the way."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.released import RUN, project, release_in, spent_of
from cli.started import dpql, fine, refused, surroundings
from cli.unprivileged import unprivileged

from dpql.cli.commands.demo.payslips import wages
from dpql.ledger import open_ledger
from dpql.reports.file_names import FOLDER, TABLE

pytestmark = pytest.mark.cli


SMALL_DISK = Path(__file__).parents[1] / "small_disk.py"


UNSHARE = ("unshare", "--map-root-user", "--mount")


TALKATIVE = """
import os, sys
from dpql.cli.main import main
from dpql.curator.engines import polars

honest = polars.sums

def talkative(*arguments, **named):
    os.write(2, b"a cell that nobody may see")
    return honest(*arguments, **named)

polars.sums = talkative
main(sys.argv[1:])
"""


def test_a_plan_older_than_its_spec_is_pointed_out(folder: Path) -> None:
    """The plan is run as approved; people and documents learn that it is stale."""
    spec = folder / "wages.yaml"
    text = spec.read_text("utf-8")
    spec.write_text(text.replace("epsilon: 1.0", "epsilon: 0.5"), "utf-8")
    (folder / "wages.dpql").write_text("dpql 1\n", "utf-8")
    asked = dpql(*RUN, folder=folder)
    assert asked.stderr.startswith(" stale        wages.yaml now compiles to plan ")
    run = dpql(*RUN, "--yes", "--format", "json", folder=folder)
    assert run.returncode == 0, run.stderr
    digest = hashlib.sha256((folder / "wages.plan.json").read_bytes()).hexdigest()[:8]
    stale = f" stale        wages.dpql now has faults; plan {digest} is run"
    assert stale in run.stderr
    assert json.loads(run.stdout)["stale"] == ["wages.yaml", "wages.dpql"]


def test_a_fresh_plan_is_not_called_stale(folder: Path) -> None:
    """Nothing is said where spec and plan agree."""
    run = dpql(*RUN, "--yes", "--format", "json", folder=folder)
    assert "stale" not in run.stderr
    assert json.loads(run.stdout)["stale"] == []


def test_data_without_permission_cost_no_more_than_a_look(folder: Path) -> None:
    """The exit code is 5, no word of the engine is repeated, nothing is released."""
    (folder / "wages.csv").chmod(0)
    run = refused(unprivileged(*RUN, "--yes", folder=folder), 5, "DPQL5")
    assert "ermission" not in run.stderr
    assert not (folder / "releases").exists()
    fine(dpql("ledger", "verify", folder=folder))


def test_releases_that_may_not_be_written_are_not_paid_for(folder: Path) -> None:
    """A folder that refuses is noticed first; what was paid for comes out again."""
    (folder / "releases").mkdir(mode=0o500)
    refused(unprivileged(*RUN, "--yes", folder=folder), 4, "DPQL630")
    assert spent_of(folder) == "0"
    (folder / "releases").chmod(0o700)
    assert dpql(*RUN, "--yes", folder=folder).returncode == 0
    fine(dpql("verify", release_in(folder), folder=folder))
    shutil.rmtree(release_in(folder))
    (folder / "releases").chmod(0o500)
    refused(unprivileged(*RUN, folder=folder), 4, "DPQL630", "dpql ledger fetch")
    (folder / "releases").chmod(0o700)
    assert "already released" in fine(dpql(*RUN, folder=folder))
    assert spent_of(folder) == "1"
    fine(dpql("verify", release_in(folder), folder=folder))


def _may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    trial = [*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(trial, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("free", [0, 40_000, 65_000, 100_000, 300_000])
def test_a_disk_that_fills_during_a_run_loses_nothing(folder: Path, free: int) -> None:
    """Wherever the run stops: a code, a sound ledger, and a release when there is room.

    The budget is spent twice only where noise was drawn and could not be stored.
    """
    if not _may_mount():
        pytest.skip("no file system can be mounted here")
    tried = json.loads(
        subprocess.run(
            [*UNSHARE, sys.executable, SMALL_DISK, folder, str(free)],
            env=surroundings(),
            capture_output=True,
            encoding="utf-8",
            timeout=900,
            check=True,
        ).stdout
    )
    status, out, err = tried["full"]
    assert "Traceback" not in err
    if status == 0:
        assert (300_000, 8) == (free, len(tried["begun"]))
    else:
        assert (True, "", True) == (status in {3, 4}, out, "DPQL" in err)
        assert tried["begun"] == []
    for step in ("verified", "recovered", "again", "shown", "release"):
        assert tried[step][0] == 0, tried[step]
    (account,) = json.loads(tried["shown"][1])
    lost = "lost" in tried["recovered"][1]
    assert account["spent"] == ("2" if lost else "1")
    assert json.loads(tried["release"][1])["verified"]


def test_an_interrupt_gives_back_what_was_only_held_back(folder: Path) -> None:
    """Ctrl-C while rows are read ends with 130, costs nothing, and a new run works."""
    header, rows = wages(20_000).split("\n", 1)
    with (folder / "large.csv").open("w", encoding="utf-8") as file:
        file.write(f"{header}\n")
        for _ in range(100):
            file.write(rows)
    run = subprocess.Popen(
        [sys.executable, "-m", "dpql", *RUN[:3], "wages=large.csv", *RUN[4:], "--yes"],
        cwd=folder,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    ledger = open_ledger(str(folder / "ledger.sqlite"))
    while not ledger.account("wages").runs and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=900)
    assert run.returncode == 130
    assert ("", True) == (out, "DPQL807 interrupted" in err)
    assert "Traceback" not in err
    assert (spent_of(folder), (folder / "releases").exists()) == ("0", False)
    fine(dpql("ledger", "verify", folder=folder))
    assert dpql(*RUN, "--yes", folder=folder).returncode == 0
    assert spent_of(folder) == "1"


def test_runs_at_once_get_a_folder_each(owner: Path) -> None:
    """Whoever paid finds the release in the folder that the command names."""
    command = [sys.executable, "-m", "dpql", *RUN, "--yes", "--again"]
    runs = [
        subprocess.Popen(
            [*command, "--format", "json"],
            cwd=owner,
            env=surroundings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(3)
    ]
    shown = [json.loads(run.communicate(timeout=900)[0]) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    folders = {document["folder"] for document in shown}
    assert len(folders) == 3
    assert len(list((owner / "releases").iterdir())) == 4
    (account,) = json.loads(
        fine(dpql("ledger", "show", "--format", "json", folder=owner))
    )
    released = {run["release"] for run in account["runs"]}
    assert {document["release"] for document in shown} < released
    for document in shown:
        verified = dpql(
            "verify",
            document["folder"],
            "--ledger",
            "ledger.sqlite",
            "--format",
            "json",
            folder=owner,
        )
        assert json.loads(fine(verified))["release"] == document["release"]


def test_taken_folder_is_refused_before_the_debit(owner: Path) -> None:
    """Nothing is spent, and the folder stays as it is."""
    (release,) = (owner / "releases").iterdir()
    for out in (release, owner / "wages.csv", owner / "wages.csv" / "below"):
        run = dpql(*RUN, "--yes", "--again", "--out", out, folder=owner)
        refused(run, 4, "DPQL630", "nothing was read or spent")
    assert "spent 1 of 6" in fine(dpql("ledger", "show", folder=owner))


def test_an_engine_that_talks_is_not_heard(tmp_path: Path) -> None:
    """Its words go nowhere; the command's own come through, before and after."""
    project(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", TALKATIVE, *RUN, "--yes"],
        cwd=tmp_path,
        env=surroundings(),
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=False,
    )
    assert done.returncode == 0
    assert "nobody may see" not in done.stderr + done.stdout
    assert "debit" in done.stderr + done.stdout
    assert "released" in done.stderr + done.stdout


def test_a_run_writes_a_folder_and_says_so(released: Path) -> None:
    """The document names the folder, the digest, the entries and every value."""
    document = json.loads((released / "run.json").read_text("utf-8"))
    release = released / document["folder"]
    assert release_in(released) == release
    found = {path.name for path in release.iterdir()}
    assert set(FOLDER) < found
    assert {TABLE} == {name[: len(TABLE)] for name in found - set(FOLDER)}
    assert (True, [2, 5]) == (document["fresh"], document["entries"])
    assert len(document["values"]) == 14


def test_the_same_plan_is_not_run_twice(released: Path) -> None:
    """The stored release comes back, nothing is asked and nothing is spent."""
    run = dpql(*RUN, folder=released)
    assert "already released as" in fine(run)
    assert "nothing spent" in run.stdout
    (account,) = json.loads(
        fine(dpql("ledger", "show", "--format", "json", folder=released))
    )
    assert ("1", "1") == (account["spent"], account["left"])


def test_a_lost_folder_is_written_again(released: Path) -> None:
    """What the ledger has sealed is there whatever happens to the folder."""
    release = release_in(released)
    before = (release / "release.dsse.json").read_bytes()
    shutil.rmtree(release)
    fine(dpql(*RUN, folder=released))
    assert before == (release / "release.dsse.json").read_bytes()


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


def _held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_harmed_folder_is_mended_and_said_so(owner: Path) -> None:
    """The second run names what it put right, costs nothing, and needs no answer."""
    release = release_in(owner)
    before = _held(release)
    (release / "release.csv").unlink()
    (release / "report.html").write_text("altered", "utf-8")
    refused(dpql("verify", release, folder=owner), 4, "DPQL610", "release.dsse.json")
    lines = fine(dpql(*RUN, folder=owner)).splitlines()
    assert "nothing spent" in lines[0]
    assert lines[1].endswith("/   release.csv, report.html")
    assert "mended" in lines[1]
    assert before == _held(release)
    fine(dpql("verify", release, "--ledger", "ledger.sqlite", folder=owner))
    (release / "release.dsse.json").write_bytes(b"altered")
    document = json.loads(fine(dpql(*RUN, "--format", "json", folder=owner)))
    assert document["mended"] == ["release.dsse.json"]
    assert before == _held(release)


def test_stored_release_never_overwrites_another(owner: Path) -> None:
    """Two releases of one day and name: each is found again where it is."""
    first = release_in(owner)
    assert dpql(*RUN, "--yes", "--again", folder=owner).returncode == 0
    one, two = sorted((owner / "releases").iterdir())
    assert first == one
    before = _held(one), _held(two)
    for name in ("release.csv", "release.dsse.json"):
        (two / name).unlink()
        assert name in fine(dpql(*RUN, folder=owner))
        assert before == (_held(one), _held(two))
    shutil.rmtree(two)
    assert "already released" in fine(dpql(*RUN, folder=owner))
    assert before == (_held(one), _held(two))
    refused(dpql(*RUN, "--out", one, folder=owner), 4, "DPQL630")
    assert before[0] == _held(one)


def test_restored_folder_is_noticed(owner: Path, tmp_path: Path) -> None:
    """A whole project put back from a backup spends nothing twice."""
    backup = tmp_path / "backup"
    shutil.copytree(owner, backup)
    assert dpql(*RUN, "--yes", "--again", folder=owner).returncode == 0
    shutil.rmtree(owner)
    shutil.copytree(backup, owner)
    refused(dpql(*RUN, "--yes", "--again", folder=owner), 3, "DPQL706")
    refused(dpql("ledger", "verify", folder=owner), 3, "DPQL706")


def test_data_of_a_run_have_one_budget_unless_the_owner_shares_them(
    owner: Path,
) -> None:
    """Neither a link nor an address of the file opens or runs a second one."""
    data = owner / "wages.csv"
    (owner / "alias.csv").hardlink_to(data)
    opened = ("ledger", "open", "payroll", "--epsilon", "1", "--unit", "person_id")
    bound = dpql(*opened, "--data", f"file://{data}", folder=owner)
    refused(bound, 3, "DPQL716", "these data are bound to `wages`")
    fine(dpql(*opened, folder=owner))
    other = ("--dataset", "payroll", "--yes", "--out", "second")
    for location in ("wages.csv", "alias.csv", f"file://{data}", "*.csv"):
        run = (*RUN[:3], f"wages={location}", *RUN[4:], *other)
        refused(dpql(*run, folder=owner), 3, "DPQL716", "--shared")
    share = ("ledger", "bind", "payroll", "--data", "wages.csv")
    refused(dpql(*share, folder=owner), 3, "DPQL716")
    assert "   shared     wages.csv with wages" in fine(
        dpql(*share, "--shared", folder=owner)
    )
    run = dpql(*RUN, *other, folder=owner)
    assert run.returncode == 0, run.stderr
    assert "left out     wages.approval.officer.json: it is for wages" in run.stderr
    text = fine(dpql("verify", "second", "--ledger", "ledger.sqlite", folder=owner))
    assert " !!  data         the owner gave these data more than one budget" in text


def test_run_without_a_ledger_says_that_runs_are_not_counted(owner: Path) -> None:
    """The runner hears it at once, and the verifier from the release."""
    for name in ("a", "b"):
        run = dpql(*RUN, "--yes", "--no-ledger", "--out", name, folder=owner)
        assert run.returncode == 0, run.stderr
        assert "from no ledger at all, and no run is counted\n" in run.stderr
        text = fine(dpql("verify", name, folder=owner))
        assert " !!  approval " in text
        assert "runs were not counted" in text
