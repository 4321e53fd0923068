"""`dpql diff`: what a change means."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli.started import SPECS, WAGES, dpql, fine, refused

pytestmark = pytest.mark.cli


TEXT = WAGES.read_text("utf-8")


def _git(folder: Path, *arguments: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True
    )


def test_twins_are_the_same() -> None:
    """The two forms of a spec do not differ; nor does its plan."""
    for other in ("district_wages.dpql", "district_wages.plan.json"):
        assert fine(dpql("diff", WAGES, SPECS / other)).startswith("SAME ")


def test_a_larger_budget_is_weaker_and_a_smaller_one_stronger(tmp_path: Path) -> None:
    """The verdict is the first word; the exit code follows --fail-on."""
    larger = tmp_path / "larger.yaml"
    larger.write_text(TEXT.replace("epsilon: 1.0", "epsilon: 2.0"), "utf-8")
    assert fine(dpql("diff", WAGES, larger)).startswith("WEAKER ")
    assert fine(dpql("diff", larger, WAGES)).startswith("STRONGER ")
    for wanted, back, status in (
        ("weaker", False, 1),
        ("weaker", True, 0),
        ("review", True, 0),
        ("any", True, 1),
    ):
        pair = (larger, WAGES) if back else (WAGES, larger)
        assert status == dpql("diff", *pair, "--fail-on", wanted).returncode


def test_the_old_spec_is_read_from_git(repository: Path) -> None:
    """With --base, the spec is compared with itself at the commit."""
    run = dpql("diff", "--base", "main", "wages.yaml", folder=repository)
    assert fine(run).startswith("WEAKER   wages.yaml")
    markdown = fine(
        dpql("diff", "--base", "main", ".", "--format", "markdown", folder=repository)
    )
    assert markdown.startswith("**WEAKER** wages.yaml")


def test_a_spec_that_was_not_there_is_new(repository: Path) -> None:
    """A new spec is shown whole and fails whatever guards against weaker ones."""
    (repository / "new.yaml").write_text(TEXT, "utf-8")
    arguments = ("diff", "--base", "HEAD", "new.yaml")
    text = fine(dpql(*arguments, folder=repository))
    assert text.startswith("NEW      new.yaml")
    computed = "headcount: number of rows, by district"
    assert f"\n + {computed}\n" in text
    marked = fine(dpql(*arguments, "--format", "markdown", folder=repository))
    assert f"\n- computes {computed}\n" in marked.replace("\\", "")
    for guard in ("weaker", "review", "any"):
        run = dpql(*arguments, "--fail-on", guard, folder=repository)
        assert run.returncode == 1
    (document,) = json.loads(
        fine(dpql(*arguments, "--format", "json", folder=repository))
    )
    assert document["verdict"] == "NEW"
    assert computed in document["computes"]


def test_a_renamed_spec_is_held_to_what_it_was(repository: Path) -> None:
    """A rename hides nothing, whether the folder or the file alone is named."""
    (repository / "wages.yaml").rename(repository / "income.yaml")
    for path in (".", "income.yaml"):
        guard = ("diff", "--base", "main", path, "--fail-on", "weaker")
        run = dpql(*guard, folder=repository)
        assert run.returncode == 1
        assert run.stdout.startswith("WEAKER   income.yaml (was wages.yaml)")
        assert "REMOVED" not in run.stdout
    asked = ("diff", "--base", "main", ".", "--format", "json")
    (document,) = json.loads(fine(dpql(*asked, folder=repository)))
    assert (document["path"], document["was"]) == ("income.yaml", "wages.yaml")


def test_each_form_of_a_renamed_spec_follows_its_own(repository: Path) -> None:
    """Twins share their release name; each old one stands for one new one only."""
    twin = (SPECS / "district_wages.dpql").read_text("utf-8")
    (repository / "wages.dpql").write_text(twin, "utf-8")
    _git(repository, "add", ".")
    _git(repository, "commit", "-q", "-m", "twin")
    for suffix in (".yaml", ".dpql"):
        (repository / f"wages{suffix}").rename(repository / f"moved{suffix}")
    (repository / "copy.yaml").write_bytes((repository / "moved.yaml").read_bytes())
    asked = ("diff", "--base", "main", ".", "--format", "json")
    found = json.loads(fine(dpql(*asked, folder=repository)))
    assert [(each["path"], each["was"], each["verdict"]) for each in found] == [
        ("copy.yaml", "wages.yaml", "SAME"),
        ("moved.dpql", "wages.dpql", "SAME"),
        ("moved.yaml", None, "NEW"),
    ]


def test_a_spec_that_is_gone_is_named(repository: Path) -> None:
    """It is no reason to fail unless any change is; nor is it passed over."""
    (repository / "wages.yaml").unlink()
    for guard, status in (("weaker", 0), ("review", 0), ("any", 1)):
        run = dpql("diff", "--base", "main", ".", "--fail-on", guard, folder=repository)
        assert (status, "REMOVED  wages.yaml\n") == (run.returncode, run.stdout)
    # A file that has become something else is gone too.
    (repository / "wages.yaml").write_text("a: b\n", "utf-8")
    for form, words in (
        ("markdown", "**REMOVED** wages.yaml\n"),
        ("json", '"verdict": "REMOVED"'),
    ):
        asked = ("diff", "--base", "main", ".", "--format", form)
        assert words in fine(dpql(*asked, folder=repository))


def test_json_lists_the_changes() -> None:
    """The document has the verdict and every change."""
    (document,) = json.loads(
        fine(dpql("diff", WAGES, SPECS / "income.yaml", "--format", "json"))
    )
    assert document["verdict"] == "REVIEW"
    assert {"verdict", "subject", "text"} <= set(document["changes"][0])


def test_two_files_or_a_base_are_needed() -> None:
    """One file alone is wrong usage."""
    refused(dpql("diff", WAGES), 2, "--base")


def test_keys_are_read_from_the_file_of_that_commit(repository: Path) -> None:
    """The old spec has the keys that its file had then; new ones are named."""
    spec, keys = repository / "keyed.yaml", repository / "keys"
    spec.write_text(
        TEXT.replace("[north, east, south, west]", "{file: keys/districts.txt}"),
        "utf-8",
    )
    keys.mkdir()
    (keys / "districts.txt").write_text("north\neast\n", "utf-8")
    _git(repository, "add", ".")
    _git(repository, "commit", "-q", "-m", "keys")
    (keys / "districts.txt").write_text("north\neast\nsouth\n", "utf-8")
    run = fine(dpql("diff", "--base", "HEAD", "keyed.yaml", folder=repository))
    assert run.startswith("REVIEW   keyed.yaml")
    assert "district, 2 keys → 3" in run
    assert '+ "south"' in run
