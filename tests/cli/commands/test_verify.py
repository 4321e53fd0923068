"""`dpql verify`: what a release is worth, line by line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli.released import RUN, release_in
from cli.started import WAGES, dpql, fine, refused
from cli.unprivileged import unprivileged

pytestmark = pytest.mark.cli


def test_a_folder_that_may_only_be_read_is_read(folder: Path) -> None:
    """Who verifies an archive needs no right to write into it."""
    assert dpql(*RUN, "--yes", folder=folder).returncode == 0
    (folder / "ledger.sqlite").chmod(0o444)
    (folder / "ledger.sqlite.witness").chmod(0o444)
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    verify = ("verify", release_in(folder), "--ledger", "ledger.sqlite")
    for command in (verify, ("ledger", "show"), ("ledger", "verify")):
        run = unprivileged(*command, folder=folder)
        assert (run.returncode, run.stderr) == (0, "")
    refused(unprivileged("ledger", "recover", "wages", folder=folder), 3, "DPQL7")
    folder.chmod(0o755)
    assert before == sorted(folder.iterdir())


def test_a_release_is_verified_line_by_line(released: Path) -> None:
    """Every check has its line; what was not checked is said."""
    name = release_in(released)
    lines = fine(
        dpql("verify", name, "--ledger", "ledger.sqlite", folder=released)
    ).splitlines()
    for word in ("signature", "files", "approval", "arithmetic", "ledger"):
        assert any(line.startswith(f" ok  {word}") for line in lines), word
    assert any(line.startswith(" --  not checked") for line in lines)
    arguments = ("verify", name, "--plan", "wages.plan.json", "--format", "json")
    document = json.loads(fine(dpql(*arguments, folder=released)))
    assert (True, ["bulletin-2025@example.org"]) == (
        document["verified"],
        document["signers"],
    )


def test_verification_fails_with_4(released: Path, tmp_path: Path) -> None:
    """A changed table, a changed envelope, another trust, another plan."""
    name = release_in(released)
    copy = tmp_path / "copy"
    shutil.copytree(name, copy)
    table = copy / "release.csv"
    table.write_bytes(table.read_bytes().replace(b"north", b"North", 1))
    refused(dpql("verify", copy, folder=released), 4, "DPQL610")
    envelope = copy / "release.dsse.json"
    content = envelope.read_bytes()
    envelope.write_bytes(content.replace(b'"sig":"', b'"sig":"A', 1))
    refused(dpql("verify", copy, folder=released), 4, "DPQL6")
    nobody = tmp_path / "nobody"
    nobody.write_text("", "utf-8")
    refused(dpql("verify", name, "--trust", nobody, folder=released), 4, "DPQL6")
    other = WAGES.with_name("income.plan.json")
    refused(dpql("verify", name, "--plan", other, folder=released), 4, "DPQL614")


def test_verifier_with_a_ledger_wants_it_to_know_the_release(owner: Path) -> None:
    """A release without a debit, or of other data, is refused with 4."""
    run = dpql(*RUN, "--yes", "--no-ledger", "--out", "loose", folder=owner)
    assert run.returncode == 0, run.stderr
    text = fine(dpql("verify", "loose", folder=owner))
    assert " !!  ledger       no budget was debited" in text
    refused(
        dpql("verify", "loose", "--ledger", "ledger.sqlite", folder=owner),
        4,
        "DPQL612",
        "without a ledger",
    )
    other = ("ledger", "open", "other", "--epsilon", "1", "--unit", "row")
    fine(dpql(*other, "--ledger", "o.sqlite", folder=owner))
    refused(
        dpql("verify", release_in(owner), "--ledger", "o.sqlite", folder=owner),
        4,
        "DPQL612",
    )


def test_altered_page_is_refused_with_4(owner: Path) -> None:
    """The page that people read is held to the signature like a table."""
    release = release_in(owner)
    text = fine(dpql("verify", release, folder=owner))
    assert " ok  files        dictionary.md, release.csv, release.parquet" in text
    page = release / "report.html"
    page.write_bytes(page.read_bytes().replace(b"value", b"valve", 1))
    refused(dpql("verify", release, folder=owner), 4, "DPQL610", "report.html")
    page.unlink()
    refused(dpql("verify", release, folder=owner), 4, "DPQL610", "report.html")


def test_verifier_hears_of_files_that_nobody_signed(owner: Path) -> None:
    """Other files in the folder are listed."""
    release = release_in(owner)
    (release / "extra.csv").write_text("value\n1\n", "utf-8")
    text = fine(dpql("verify", release, folder=owner))
    assert "which nobody signed: extra.csv" in text
    assert "the cells of release.parquet" in text
    document = json.loads(
        fine(dpql("verify", release, "--format", "json", folder=owner))
    )
    assert any("extra.csv" in note for note in document["unchecked"])
