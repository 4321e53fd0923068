"""What owners and verifiers see of all this at the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli.released import RUN, project, release_in
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


@pytest.fixture
def owner(tmp_path: Path) -> Path:
    """Give a project whose plan was run once."""
    folder = project(tmp_path / "project")
    run = dpql(*RUN, "--yes", folder=folder)
    assert run.returncode == 0, run.stderr
    return folder


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
    assert " ok  files        release.csv, release.parquet, report.html match" in text
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


def test_restored_folder_is_noticed(owner: Path, tmp_path: Path) -> None:
    """A whole project put back from a backup spends nothing twice."""
    backup = tmp_path / "backup"
    shutil.copytree(owner, backup)
    assert dpql(*RUN, "--yes", "--again", folder=owner).returncode == 0
    shutil.rmtree(owner)
    shutil.copytree(backup, owner)
    refused(dpql(*RUN, "--yes", "--again", folder=owner), 3, "DPQL706")
    refused(dpql("ledger", "verify", folder=owner), 3, "DPQL706")


def test_owner_who_signs_cannot_approve(owner: Path) -> None:
    """The same key in both roles is refused before anything is spent."""
    both = ("keys", "trust", "steward", "bulletin-2025@example.org", "--role", "both")
    assert dpql(*both, "--trust", "two", folder=owner).returncode == 0
    (owner / "wages.approval.officer.json").unlink()
    approve = ("approve", "wages.plan.json", "--key", "steward", "--runs", "5")
    assert dpql(*approve, folder=owner).returncode == 0
    run = dpql(*RUN, "--yes", "--again", "--trust", "two", folder=owner)
    refused(run, 4, "DPQL616")
    assert "spent 1 of 2" in fine(dpql("ledger", "show", folder=owner))


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


def test_approval_names_its_dataset(owner: Path) -> None:
    """The command says which; a file of its own keeps it apart from the others."""
    approve = ("approve", "wages.plan.json", "--key", "officer", "--dataset", "payroll")
    text = fine(dpql(*approve, "--runs", "2", folder=owner))
    assert "for 2 runs on payroll by SHA256:" in text
    assert (owner / "wages.approval.payroll.officer.json").exists()
    opened = ("ledger", "open", "payroll", "--epsilon", "1", "--unit", "person_id")
    fine(dpql(*opened, "--approvals", "1", folder=owner))
    (owner / "june.csv").write_bytes((owner / "wages.csv").read_bytes())
    run = (*RUN[:3], "wages=june.csv", *RUN[4:], "--yes", "--dataset", "payroll")
    done = dpql(*run, "--out", "june", folder=owner)
    assert done.returncode == 0, done.stderr
    text = fine(dpql("verify", "june", "--ledger", "ledger.sqlite", folder=owner))
    assert " for payroll\n" in text
    again = dpql(*run, "--again", "--out", "july", folder=owner)
    refused(again, 3, "DPQL715", "1 of them on other datasets")
    named = ("--approval", "wages.approval.officer.json")
    refused(dpql(*run, "--again", *named, folder=owner), 4, "DPQL617", "for `payroll`")


def test_registry_draft_takes_the_registrys_words_only(owner: Path) -> None:
    """Words that the form does not know are refused as wrong usage."""
    export = ("export", "registry", release_in(owner), "--curator", "Office")
    run = dpql(
        *export, "--curator-type", "Nonprofit", "--sector", "Energy", folder=owner
    )
    record = json.loads(run.stdout)["deployment"]
    assert record["basic"]["data_product_sector"] == "Energy"
    refused(dpql(*export, "--sector", "Astrology", folder=owner), 2)
    fine(dpql("ledger", "verify", "--against", release_in(owner), folder=owner))
