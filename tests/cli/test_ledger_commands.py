"""What an owner's commands say of a ledger that was harmed, moved or raced for."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.released import RUN, project
from cli.started import dpql, fine, refused, surroundings
from ledger.ledger_stores import tampering

pytestmark = pytest.mark.cli


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project whose plan was run once, and a user with a memory of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = project(tmp_path / "project", cap=6)
    run = dpql(*RUN, "--yes", folder=folder)
    assert run.returncode == 0, run.stderr
    return folder


def _rows_gone(folder: Path) -> None:
    with tampering(str(folder / "ledger.sqlite")) as execute:
        execute("DELETE FROM dpql_entry WHERE dataset = 'wages'")


@pytest.mark.parametrize("witness", ["beside", "memory"])
def test_dataset_whose_rows_are_gone_is_missed(owner: Path, witness: str) -> None:
    """Whichever witness is left, no command passes over it or opens it anew."""
    opening = ("--epsilon", "4", "--unit", "person_id")
    fine(dpql("ledger", "open", "other", *opening, folder=owner))
    _rows_gone(owner)
    state = str(owner / "none") if witness == "beside" else str(owner.parent / "state")
    if witness == "memory":
        (owner / "ledger.sqlite.witness").unlink()
    for command in (
        ("verify",),
        ("verify", "wages"),
        ("show",),
        ("show", "wages"),
        ("open", "wages", *opening),
    ):
        run = dpql("ledger", *command, folder=owner, XDG_STATE_HOME=state)
        refused(run, 3, "DPQL706", "`wages`")
    fine(dpql("ledger", "verify", "other", folder=owner, XDG_STATE_HOME=state))


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
    told = [json.loads(run.communicate(timeout=900)[0]) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    folders = {document["folder"] for document in told}
    assert len(folders) == 3
    assert len(list((owner / "releases").iterdir())) == 4
    (account,) = json.loads(
        fine(dpql("ledger", "show", "--format", "json", folder=owner))
    )
    released = {run["release"] for run in account["runs"]}
    assert {document["release"] for document in told} < released
    for document in told:
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
    (place,) = (owner / "releases").iterdir()
    for out in (place, owner / "wages.csv", owner / "wages.csv" / "below"):
        run = dpql(*RUN, "--yes", "--again", "--out", out, folder=owner)
        refused(run, 4, "DPQL630", "nothing was read or spent")
    assert "spent 1 of 6" in fine(dpql("ledger", "show", folder=owner))


def test_every_release_can_be_fetched(owner: Path) -> None:
    """Also one that is not the last of its plan; without a key, at no cost."""
    (first,) = (owner / "releases").iterdir()
    before = {path.name: path.read_bytes() for path in first.iterdir()}
    assert dpql(*RUN, "--yes", "--again", folder=owner).returncode == 0
    shown = fine(dpql("ledger", "show", "--format", "json", folder=owner))
    digest = json.loads(shown)[0]["runs"][0]["release"]
    for path in first.iterdir():
        path.unlink()
    first.rmdir()
    text = fine(dpql("ledger", "fetch", "wages", digest[:16], folder=owner))
    assert text == f" fetched      releases/{first.name}/   {digest[:16]}\n"
    fine(dpql("ledger", "fetch", "wages", digest, "--out", "r/x", folder=owner))
    for folder in (first, owner / "r" / "x"):
        assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert shown == fine(dpql("ledger", "show", "--format", "json", folder=owner))
    refused(dpql("ledger", "fetch", "wages", "f" * 16, folder=owner), 3, "DPQL709")


def test_moved_data_are_bound_by_the_command_that_the_refusal_names(
    owner: Path,
) -> None:
    """A project that moved returns what it released, and goes on after one command."""
    fine(dpql("ledger", "bind", "wages", "--data", "wages.csv", folder=owner))
    moved = owner.rename(owner.with_name("moved"))
    assert "already released" in fine(dpql(*RUN, folder=moved))
    run = dpql(*RUN, "--yes", "--again", folder=moved)
    refused(run, 3, "DPQL716", "dpql ledger bind wages --data LOCATION")
    text = fine(dpql("ledger", "bind", "wages", "--data", "wages.csv", folder=moved))
    assert "   data       wages.csv\n" in text
    assert f"before     {owner}/wages.csv" in text
    assert "spent 1 of 6" in text
    assert dpql(*RUN, "--yes", "--again", folder=moved).returncode == 0
    assert "spent 2 of 6" in fine(dpql("ledger", "show", folder=moved))
    fine(dpql("ledger", "verify", folder=moved))


def test_release_of_other_data_is_not_passed_over(owner: Path) -> None:
    """Who names a dataset and a release of another one is told so."""
    (place,) = (owner / "releases").iterdir()
    fine(
        dpql("ledger", "open", "other", "--epsilon", "1", "--unit", "row", folder=owner)
    )
    verify = ("ledger", "verify", "other", "--against", place)
    refused(dpql(*verify, folder=owner), 2, "a release of `wages`, not of `other`")
    assert " ok  wages" in fine(
        dpql("ledger", "verify", "wages", "--against", place, folder=owner)
    )


def test_releases_that_lie_there_tell_of_an_old_ledger(owner: Path) -> None:
    """Ledger put back, witnesses gone: a later release beside the first is enough."""
    (first,) = (owner / "releases").iterdir()
    ledger = owner / "ledger.sqlite"
    backup = ledger.read_bytes()
    assert dpql(*RUN, "--yes", "--again", folder=owner).returncode == 0
    ledger.write_bytes(backup)
    (owner / "ledger.sqlite.witness").unlink()
    shutil.rmtree(owner.parent / "state")
    for place in (first, first / "release.dsse.json"):
        verify = ("verify", place, "--ledger", ledger)
        refused(dpql(*verify, folder=owner), 3, "DPQL706")
    away = ("--ledger", ledger, "--trust", owner / "allowed_signers")
    for options, folder in (((), owner), (("wages",), owner), (away, owner.parent)):
        refused(dpql("ledger", "verify", *options, folder=folder), 3, "DPQL706")
    shutil.rmtree(first.with_name(f"{first.name}-2"))
    fine(dpql("verify", first, "--ledger", ledger, folder=owner))
    fine(dpql("ledger", "verify", folder=owner))


def test_a_run_that_there_is_not_cannot_be_recovered(owner: Path) -> None:
    """A number that nobody knows is a mistake, not a run that lives."""
    recover = ("ledger", "recover", "wages", "--run")
    refused(dpql(*recover, "99", folder=owner), 3, "DPQL709", "no run 99")
    assert fine(dpql(*recover, "2", folder=owner)) == "no run had died\n"


def _envelope(folder: str, owner: Path) -> dict[str, Any]:
    envelope = json.loads((owner / folder / "release.dsse.json").read_bytes())
    payload = json.loads(base64.b64decode(envelope["payload"]))
    assert isinstance(payload, dict)
    return payload


def test_approval_that_is_named_and_found_counts_once(owner: Path) -> None:
    """The report holds it once."""
    named = ("--approval", "wages.approval.officer.json")
    run = dpql(*RUN, "--yes", "--again", *named, "--out", "r", folder=owner)
    assert run.returncode == 0, run.stderr
    assert len(_envelope("r", owner)["predicate"]["approvals"]) == 1


def test_approval_by_a_stranger_blocks_only_who_needs_one(owner: Path) -> None:
    """The refusal speaks of the approval; where none is needed, it is passed over."""
    new = ("keys", "new", "stranger", "--no-passphrase")
    assert dpql(*new, folder=owner).returncode == 0
    approve = ("approve", "wages.plan.json", "--key", "stranger", "--yes")
    run = dpql(*approve, folder=owner)
    assert run.returncode == 0, run.stderr
    run = dpql(*RUN, "--yes", "--again", folder=owner)
    refused(run, 4, "DPQL602", "an approval of the plan cannot be used")
    opened = ("other", "--epsilon", "2", "--unit", "person_id")
    fine(dpql("ledger", "open", *opened, folder=owner))
    for key in ("stranger", "officer"):
        named = (*approve[:3], key, "--dataset", "other", "--runs", "9", "--yes")
        assert dpql(*named, folder=owner).returncode == 0
        path = owner / f"wages.approval.other.{key}.json"
        path.replace(owner / f"wages.approval.{key}.json")
    (owner / "other.csv").write_bytes((owner / "wages.csv").read_bytes())
    other = (*RUN[:3], "wages=other.csv", *RUN[4:], "--yes", "--dataset", "other")
    run = dpql(*other, "--out", "r", folder=owner)
    assert run.returncode == 0, run.stderr
    assert " left out     wages.approval.stranger.json: an approval" in run.stderr
    assert len(_envelope("r", owner)["predicate"]["approvals"]) == 1
    fine(dpql("verify", "r", "--ledger", "ledger.sqlite", folder=owner))
    named = ("--approval", "wages.approval.stranger.json")
    refused(dpql(*other, "--again", *named, folder=owner), 4, "DPQL602")
