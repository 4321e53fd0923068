"""Every command can be piped on: one JSON document, whether it succeeds or fails."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from cli.released import RUN, project, release_in
from cli.started import dpql

from dpql.cli.main import COMMANDS
from dpql.cli.main import dpql as group

pytestmark = pytest.mark.cli

JQ = shutil.which("jq")


@dataclass(frozen=True, slots=True)
class Case:
    """A command, how it is used rightly, how it fails, and with which exit code."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    status: int


CASES: dict[str, Case] = {
    "demo": Case(("first",), ("specs",), 1),
    "init": Case(("begun",), ("b", "--from-schema", "none.parquet"), 5),
    "check": Case(("wages.yaml",), ("faulty.yaml",), 1),
    "fmt": Case(("wages.yaml",), ("--check", "loose.yaml"), 1),
    "plan": Case(("wages.yaml",), ("--check", "faulty.yaml"), 1),
    "diff": Case(("wages.yaml", "wages.plan.json"), ("wages.yaml",), 2),
    "keys new": Case(("third", "--no-passphrase"), ("steward", "--no-passphrase"), 4),
    "keys show": Case(("steward",), ("nobody",), 4),
    "keys trust": Case(
        ("officer", "o@example.org", "--role", "plan", "--trust", "others"),
        ("nobody", "n@example.org", "--role", "plan", "--trust", "others"),
        4,
    ),
    "approve": Case(
        ("wages.plan.json", "--key", "officer", "--out", "a.json"),
        ("wages.csv", "--key", "officer"),
        1,
    ),
    "preflight": Case(
        ("wages.yaml", *RUN[2:4], "--not-private"), ("wages.yaml", *RUN[2:4]), 2
    ),
    "run": Case(RUN[1:], (*RUN[1:], "--again", "--yes"), 3),
    "rehearse": Case(("wages.yaml", "--rows", "9"), ("wages.yaml", "--rows", "0"), 2),
    "verify": Case(("{release}",), ("{release}", "--trust", "empty"), 4),
    "show": Case(("{release}",), ("photo.png",), 1),
    "export registry": Case(("{release}", "--curator", "Office"), ("{release}",), 2),
    "ledger open": Case(
        ("other", "--epsilon", "1", "--unit", "person_id"),
        ("wages", "--epsilon", "1", "--unit", "person_id"),
        3,
    ),
    "ledger show": Case(("wages",), ("nothing",), 3),
    "ledger verify": Case(("--against", "{release}"), ("--ledger", "no.sqlite"), 3),
    "ledger raise-cap": Case(
        ("second", "--epsilon", "3"), ("wages", "--epsilon", "0.5"), 3
    ),
    "ledger bind": Case(("second", "--data", "new.csv"), ("no", "--data", "x"), 3),
    "ledger fetch": Case(("wages", "{digest}"), ("wages", "f" * 16), 3),
    "ledger recover": Case(("wages",), ("nothing",), 3),
    "explain": Case(("epsilon",), ("epsilom",), 1),
    "schema": Case(("report",), ("reports",), 2),
    "completion": Case(("bash",), ("tcsh",), 2),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a release, and some files to fail on."""
    made = project(tmp_path_factory.mktemp("json") / "project", cap=1)
    run = dpql(*RUN, "--yes", folder=made)
    assert run.returncode == 0, run.stderr
    opened = ("second", "--epsilon", "1", "--unit", "person_id")
    assert dpql("ledger", "open", *opened, folder=made).returncode == 0
    text = (made / "wages.yaml").read_text("utf-8")
    (made / "faulty.yaml").write_text(text.replace("mean: wage", "mean: w"), "utf-8")
    (made / "loose.yaml").write_text(text.replace("delta: 0", "delta:  0"), "utf-8")
    (made / "empty").write_text("", "utf-8")
    (made / "photo.png").write_bytes(b"\x89PNG")
    (made / "specs").mkdir()
    (made / "specs" / "kept").write_text("", "utf-8")
    return made


def _piped(folder: Path, name: str, arguments: tuple[str, ...]) -> tuple[int, Any]:
    """Return the exit code of a command and the document that jq reads from it."""
    release = release_in(folder)
    envelope = (release / "release.dsse.json").read_bytes()
    digest = hashlib.sha256(envelope).hexdigest()
    filled = [word.format(release=release, digest=digest) for word in arguments]
    run = dpql(*name.split(), *filled, "--format", "json", folder=folder)
    assert "Traceback" not in run.stderr
    text = run.stdout
    if JQ is not None:
        text = subprocess.run(
            [JQ, "--exit-status", "."],
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
    return run.returncode, json.loads(text)


@pytest.mark.parametrize("name", CASES)
def test_success_is_one_document(folder: Path, name: str) -> None:
    """Nothing but the document is on stdout, and jq can read it."""
    status, document = _piped(folder, name, CASES[name].right)
    assert (0, True) == (status, isinstance(document, dict | list))


@pytest.mark.parametrize("name", CASES)
def test_failure_is_one_document(folder: Path, name: str) -> None:
    """The document has each fault with its code, and the exit code is the stated."""
    case = CASES[name]
    status, document = _piped(folder, name, case.wrong)
    assert case.status == status
    assert status == document.get("status", status)
    assert document["diagnostics"]
    for fault in document["diagnostics"]:
        assert re.fullmatch(r"DPQL\d{3}", fault["code"])
        assert fault["message"]


def _leaves(found: click.Command, name: str) -> Iterator[str]:
    if isinstance(found, click.Group):
        for inner in found.list_commands(click.Context(found)):
            command = found.get_command(click.Context(found), inner)
            assert command is not None
            yield from _leaves(command, f"{name} {inner}")
    else:
        yield name


def test_no_command_is_left_out() -> None:
    """The table above has every command there is."""
    found = {leaf.strip() for leaf in _leaves(group, "")}
    assert found == set(CASES)
    assert {name.split()[0] for name in found} == set(COMMANDS)


def test_a_document_is_asked_for_in_either_spelling(folder: Path) -> None:
    """`--format=json` counts too, even where the rest cannot be read."""
    for words in (("plan", "--format=json"), ("plan", "--nope", "--format", "json")):
        run = dpql(*words, folder=folder)
        assert (2, 2) == (run.returncode, json.loads(run.stdout)["status"])
        assert "DPQL81" in run.stderr


def test_layouts_and_plans_say_what_is_not_as_it_should_be(folder: Path) -> None:
    """`fmt` shows the difference, converts; `plan --check` names the stale ones."""
    _, layout = _piped(folder, "fmt", ("--diff", "loose.yaml"))
    assert "-  delta:  0" in layout["specs"][0]["difference"]
    assert ["DPQL805"] == [fault["code"] for fault in layout["diagnostics"]]
    status, twin = _piped(folder, "fmt", ("--to", "dpql", "wages.yaml"))
    assert (0, True) == (status, "\ndpql 1\n" in twin["text"])
    status, fresh = _piped(folder, "plan", ("--check", "wages.yaml"))
    assert (0, True) == (status, fresh["fresh"])
    status, stale = _piped(folder, "plan", ("--check", "loose.yaml"))
    assert (1, False) == (status, stale["fresh"])
    assert ["DPQL405"] == [fault["code"] for fault in stale["diagnostics"]]
