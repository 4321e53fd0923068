"""What the system puts in the way: a clear word, the exit code, and nothing lost."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli.released import RUN, project, release_in
from cli.started import WAGES, dpql, fine, refused, surroundings

from dpql.cli.commands.demo.payslips import wages
from dpql.ledger import open_ledger

pytestmark = pytest.mark.cli

SMALL_DISK = Path(__file__).parent / "small_disk.py"
UNSHARE = ("unshare", "--map-root-user", "--mount")


def _as_anybody() -> None:
    """Take from the process to be started what lets root pass over permissions."""
    if os.geteuid() == 0:
        drop, override, search = 24, 1, 2
        libc = ctypes.CDLL(None)
        for capability in (override, search):
            if libc.prctl(drop, capability, 0, 0, 0):
                raise PermissionError


def _hindered(
    *arguments: str | Path, folder: Path, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command that has no more rights than anybody."""
    try:
        return subprocess.run(
            [sys.executable, "-m", "dpql", *map(str, arguments)],
            cwd=folder,
            env=surroundings(),
            capture_output=True,
            encoding="utf-8",
            timeout=900,
            check=False,
            preexec_fn=_as_anybody,
            **options,
        )
    except subprocess.SubprocessError:
        pytest.skip("root cannot lay down its rights here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project that may be run."""
    return project(tmp_path / "project")


def _spent(folder: Path) -> str:
    (account,) = json.loads(
        fine(dpql("ledger", "show", "--format", "json", folder=folder))
    )
    spent = account["spent"]
    assert isinstance(spent, str)
    return spent


def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    """Nothing is written in part."""
    tmp_path.chmod(0o500)
    run = _hindered("plan", WAGES, "--out", tmp_path / "p.json", folder=WAGES.parent)
    refused(run, 1, "DPQL801", "permission denied", "p.json")
    tmp_path.chmod(0o700)
    assert list(tmp_path.iterdir()) == []


def test_a_spec_without_permission_is_named(tmp_path: Path) -> None:
    """A file that may not be read is no spec."""
    spec = tmp_path / "secret.yaml"
    spec.write_bytes(WAGES.read_bytes())
    spec.chmod(0)
    for command in ("check", "plan", "fmt", "show"):
        run = _hindered(command, spec, folder=tmp_path)
        refused(run, 1, "DPQL803", "secret.yaml", "permission denied")


def test_data_without_permission_cost_no_more_than_a_look(folder: Path) -> None:
    """The exit code is 5, no word of the engine is repeated, nothing is released."""
    (folder / "wages.csv").chmod(0)
    run = refused(_hindered(*RUN, "--yes", folder=folder), 5, "DPQL5")
    assert "ermission" not in run.stderr
    assert not (folder / "releases").exists()
    fine(dpql("ledger", "verify", folder=folder))


def test_releases_that_may_not_be_written_are_not_paid_for(folder: Path) -> None:
    """A place that refuses is noticed first; what was paid for comes out again."""
    (folder / "releases").mkdir(mode=0o500)
    refused(_hindered(*RUN, "--yes", folder=folder), 4, "DPQL630")
    assert _spent(folder) == "0"
    (folder / "releases").chmod(0o700)
    assert dpql(*RUN, "--yes", folder=folder).returncode == 0
    fine(dpql("verify", release_in(folder), folder=folder))
    shutil.rmtree(release_in(folder))
    (folder / "releases").chmod(0o500)
    refused(_hindered(*RUN, folder=folder), 4, "DPQL630", "dpql ledger fetch")
    (folder / "releases").chmod(0o700)
    assert "already released" in fine(dpql(*RUN, folder=folder))
    assert _spent(folder) == "1"
    fine(dpql("verify", release_in(folder), folder=folder))


def test_a_folder_that_may_only_be_read_is_read(folder: Path) -> None:
    """Who verifies an archive needs no right to write into it."""
    assert dpql(*RUN, "--yes", folder=folder).returncode == 0
    (folder / "ledger.sqlite").chmod(0o444)
    (folder / "ledger.sqlite.witness").chmod(0o444)
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    verify = ("verify", release_in(folder), "--ledger", "ledger.sqlite")
    for command in (verify, ("ledger", "show"), ("ledger", "verify")):
        run = _hindered(*command, folder=folder)
        assert (run.returncode, run.stderr) == (0, "")
    refused(_hindered("ledger", "recover", "wages", folder=folder), 3, "DPQL7")
    folder.chmod(0o755)
    assert before == sorted(folder.iterdir())


def test_a_key_that_others_may_read_is_refused(folder: Path) -> None:
    """Before anything is read or spent."""
    (folder / "keys" / "steward").chmod(0o644)
    refused(dpql(*RUN, "--yes", folder=folder), 4, "DPQL621")
    assert _spent(folder) == "0"


def test_a_full_disk_is_named() -> None:
    """Output to a full device is an error of the system, not a traceback."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    for form in ("text", "json"):
        with Path("/dev/full").open("w") as target:
            run = subprocess.run(
                [sys.executable, "-m", "dpql", "plan", WAGES, "--format", form],
                stdout=target,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                env=surroundings(),
                check=False,
            )
        assert (1, True) == (run.returncode, "DPQL800" in run.stderr)
        assert "no space left" in run.stderr
        assert "Traceback" not in run.stderr


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
        assert (300_000, 4) == (free, len(tried["begun"]))
    else:
        assert (True, "", True) == (status in {3, 4}, out, "DPQL" in err)
        assert tried["begun"] == []
    for step in ("verified", "recovered", "again", "shown", "release"):
        assert tried[step][0] == 0, tried[step]
    (account,) = json.loads(tried["shown"][1])
    lost = "lost" in tried["recovered"][1]
    assert account["spent"] == ("2" if lost else "1")
    assert json.loads(tried["release"][1])["verified"]


def test_a_closed_pipe_changes_nothing_but_what_is_seen(folder: Path) -> None:
    """A run whose reader has left goes on to its end and keeps its exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "dpql", *RUN, "--yes"],
        cwd=folder,
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=surroundings(),
        check=False,
    )
    os.close(writer)
    assert (0, False) == (run.returncode, "Broken" in run.stderr)
    fine(dpql("verify", release_in(folder), folder=folder))


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(folder: Path, closed: str) -> None:
    """A command without stdout or stderr works; no file takes a stream's place."""
    line = f'exec "$0" -m dpql "$@" {closed}'
    run = subprocess.run(
        ["sh", "-c", line, sys.executable, *RUN, "--yes"],
        cwd=folder,
        env=surroundings(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (0, False) == (run.returncode, "Traceback" in run.stderr)
    fine(dpql("ledger", "verify", folder=folder))
    fine(dpql("verify", release_in(folder), folder=folder))


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
    assert (130, "", True) == (run.returncode, out, "DPQL807 interrupted" in err)
    assert "Traceback" not in err
    assert (_spent(folder), (folder / "releases").exists()) == ("0", False)
    fine(dpql("ledger", "verify", folder=folder))
    assert dpql(*RUN, "--yes", folder=folder).returncode == 0
    assert _spent(folder) == "1"


@pytest.mark.parametrize(
    "surrounding",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "cp1252"},
    ],
    ids=["C", "latin-1", "cp1252"],
)
def test_terminals_that_cannot_say_everything(
    folder: Path, surrounding: dict[str, str]
) -> None:
    """Words take the place of signs; columns stay in line; nothing is lost."""
    kept = surroundings()
    kept.pop("PYTHONIOENCODING")
    for arguments, status in (((*RUN, "--yes"), 0), (("plan", "nö.yaml"), 1)):
        run = subprocess.run(
            [sys.executable, "-m", "dpql", *arguments],
            cwd=folder,
            env={**kept, **surrounding},
            capture_output=True,
            check=False,
        )
        assert status == run.returncode, run.stderr
        assert b"Traceback" not in run.stderr
        assert "ε".encode() not in run.stdout + run.stderr
    plan = subprocess.run(
        [sys.executable, "-m", "dpql", "plan", "wages.yaml"],
        cwd=folder,
        env={**kept, **surrounding},
        capture_output=True,
        check=True,
    ).stdout.decode("latin-1")
    heading, rule, *rows = plan.splitlines()[2:7]
    place = heading.index("share")
    assert set(rule) == {" ", "-"}
    assert all(row[place - 1] == " " and row[place] in "#." for row in rows[:3])


def test_a_folder_of_other_things_is_not_searched_in_vain(tmp_path: Path) -> None:
    """A file that cannot be read is named, with the way around it."""
    locked = tmp_path / "other" / "secret.yaml"
    locked.parent.mkdir()
    locked.write_text("a: b\n", "utf-8")
    locked.chmod(0)
    run = _hindered("check", ".", folder=tmp_path)
    refused(run, 1, "DPQL803", "other/secret.yaml", "name the folder of your specs")
