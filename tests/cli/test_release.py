"""From keys to a verified release: run, verify, show, ledger, rehearse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli.released import RUN, project, release_in
from cli.started import WAGES, dpql, fine, refused

pytestmark = pytest.mark.cli


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose plan was run once."""
    folder = project(tmp_path_factory.mktemp("released") / "project")
    run = dpql(*RUN, "--yes", "--format", "json", folder=folder)
    assert run.returncode == 0, run.stderr
    (folder / "run.json").write_text(run.stdout, "utf-8")
    return folder


def test_a_run_writes_a_folder_and_says_so(released: Path) -> None:
    """The document names the folder, the digest, the entries and every value."""
    document = json.loads((released / "run.json").read_text("utf-8"))
    place = released / document["folder"]
    assert release_in(released) == place
    assert {"release.dsse.json", "release.csv", "release.parquet", "report.html"} == {
        path.name for path in place.iterdir()
    }
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
    place = release_in(released)
    before = (place / "release.dsse.json").read_bytes()
    shutil.rmtree(place)
    fine(dpql(*RUN, folder=released))
    assert before == (place / "release.dsse.json").read_bytes()


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


def test_a_release_is_shown_in_every_form(released: Path) -> None:
    """Text, Markdown, HTML, CSV and JSON; showing says that it verifies nothing."""
    name = release_in(released)
    for form, word in (
        ("text", "release district_wages_2025"),
        ("markdown", "district"),
        ("html", "<!doctype html>"),
        ("csv", "statistic,cell,value"),
        ("json", '"predicate"'),
    ):
        run = dpql("show", name, "--format", form, folder=released)
        assert run.returncode == 0
        assert "not verified" in run.stderr
        assert word in run.stdout
    csv = dpql("show", name, "--format", "csv", folder=released).stdout
    assert (name / "release.csv").read_text("utf-8") == csv


def test_a_plan_is_shown(released: Path) -> None:
    """The same command shows plans; a picture is refused."""
    assert "headcount" in fine(dpql("show", "wages.plan.json", folder=released))
    assert json.loads(
        fine(dpql("show", "wages.plan.json", "--format", "json", folder=released))
    )
    picture = released / "photo.png"
    picture.write_bytes(b"\x89PNG")
    refused(dpql("show", picture, folder=released), 1, "DPQL803")
    refused(dpql("show", "wages.plan.json", "--format", "csv", folder=released), 2)


def test_the_ledger_is_verified_against_releases(released: Path) -> None:
    """A published release must be in the chain."""
    arguments = ("ledger", "verify", "--against", release_in(released))
    assert " ok  wages   5 entries" in fine(dpql(*arguments, folder=released))


def test_keys_are_shown_and_never_overwritten(released: Path) -> None:
    """The fingerprint is that of OpenSSH; a taken name is refused with 4."""
    (shown,) = json.loads(
        fine(dpql("keys", "show", "steward", "--format", "json", folder=released))
    )
    assert shown["fingerprint"].startswith("SHA256:")
    again = dpql("keys", "new", "steward", "--no-passphrase", folder=released)
    refused(again, 4, "DPQL623")
    assert (released / "keys" / "steward").stat().st_mode & 0o077 == 0


def test_a_passphrase_comes_from_a_file(tmp_path: Path) -> None:
    """The key opens with it and with no other."""
    (tmp_path / "right").write_text("open sesame\n", "utf-8")
    (tmp_path / "wrong").write_text("open barley\n", "utf-8")
    new = ("keys", "new", "locked", "--passphrase-file", "right")
    fine(dpql(*new, folder=tmp_path))
    plan = WAGES.with_suffix(".plan.json")
    sign = ("approve", plan, "--key", "locked", "--out", "a.json")
    refused(dpql(*sign, folder=tmp_path), 4, "DPQL622")
    refused(dpql(*sign, "--passphrase-file", "wrong", folder=tmp_path), 4, "DPQL622")
    fine(dpql(*sign, "--passphrase-file", "right", folder=tmp_path))
    refused(dpql("keys", "new", "other", folder=tmp_path), 2, "--no-passphrase")


def test_a_rehearsal_is_the_same_for_a_seed() -> None:
    """Nothing is read; the word is on stderr and in the text."""
    first = dpql("rehearse", WAGES, "--seed", "a", "--format", "csv")
    again = dpql("rehearse", WAGES, "--seed", "a", "--format", "csv")
    other = dpql("rehearse", WAGES, "--seed", "b", "--format", "csv")
    assert first.returncode == 0
    assert "REHEARSAL" in first.stderr
    assert first.stdout == again.stdout != other.stdout
    document = json.loads(dpql("rehearse", WAGES, "--format", "json").stdout)
    assert ("rehearsal", 14) == (document["kind"], len(document["values"]))
    assert dpql("rehearse", WAGES).stdout.startswith("rehearsal ")


def test_a_plan_is_held_against_the_budget(released: Path, tmp_path: Path) -> None:
    """The ledger of the folder, or one that is named, says what would be left."""
    dearer = released / "dearer.yaml"
    text = (released / "wages.yaml").read_text("utf-8")
    dearer.write_text(text.replace("epsilon: 1.0", "epsilon: 1.25"), "utf-8")
    shown = fine(dpql("plan", "dearer.yaml", folder=released))
    assert "ledger     wages   spent 1 → 9/4 of 2   does not fit" in shown
    shown = fine(dpql("plan", "wages.yaml", folder=released))
    assert "wages   spent 1 of 2   █████░░░░░   released already" in shown
    named = ("--ledger", released / "ledger.sqlite")
    shown = fine(dpql("plan", dearer, *named, folder=tmp_path))
    assert "spent 1 → 9/4 of 2" in shown
    assert "ledger  " not in fine(dpql("plan", dearer, folder=tmp_path))
    unknown = ("plan", "wages.yaml", "--dataset", "other")
    assert "ledger  " not in fine(dpql(*unknown, folder=released))
    refused(dpql(*unknown, *named, folder=released), 3, "DPQL701")


def test_a_change_is_held_against_the_budget(released: Path) -> None:
    """What the ledger would hold after either spec stands beside the budget."""
    text = (released / "wages.yaml").read_text("utf-8")
    for name, epsilon in (("small", "0.5"), ("large", "0.75"), ("huge", "1.5")):
        changed = text.replace("epsilon: 1.0", f"epsilon: {epsilon}")
        (released / f"{name}.yaml").write_text(changed, "utf-8")
    shown = fine(dpql("diff", "small.yaml", "large.yaml", folder=released))
    assert "e^ε 1.65 → 2.12   ledger after: 3/2 → 7/4 of 2\n" in shown
    shown = fine(dpql("diff", "wages.yaml", "huge.yaml", folder=released))
    assert "ledger after: 1 → 5/2 of 2, does not fit\n" in shown
    shown = fine(dpql("diff", "small.yaml", "small.yaml", folder=released))
    assert "   ledger     after: 3/2 of 2\n" in shown
    asked = ("diff", "small.yaml", "large.yaml", "--format", "json")
    (document,) = json.loads(fine(dpql(*asked, folder=released)))
    assert ("1", "7/4", "2", True) == tuple(
        document["ledger"][key] for key in ("before", "after", "cap", "fits")
    )


def test_owners_commands_speak_json(tmp_path: Path) -> None:
    """What opens, raises, recovers, signs and makes keys can be piped on."""
    plan = WAGES.with_suffix(".plan.json")
    for arguments in (
        ("keys", "new", "officer", "--no-passphrase"),
        ("approve", plan, "--key", "officer", "--out", "a.json"),
        ("ledger", "open", "wages", "--epsilon", "1", "--unit", "person_id"),
        ("ledger", "raise-cap", "wages", "--epsilon", "2"),
        ("ledger", "recover", "wages"),
        ("ledger", "verify"),
    ):
        run = dpql(*arguments, "--format", "json", folder=tmp_path)
        assert isinstance(json.loads(fine(run)), dict | list)


def test_a_release_is_exported_for_the_registry(released: Path) -> None:
    """The draft names the curator and the budget."""
    name = release_in(released)
    arguments = ("export", "registry", name, "--curator", "Office", "--region", "here")
    run = dpql(*arguments, folder=released)
    assert run.returncode == 0
    record = json.loads(run.stdout)["deployment"]
    assert record["basic"]["data_product_region"] == "here"
    assert record["privacy_loss"]["privacy_parameters"] == {"epsilon": 1}
