"""`dpql plan`: cost and accuracy before any data."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from cli.started import SPECS, WAGES, dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_plan_that_changed_alone_is_noticed(tmp_path: Path) -> None:
    """The hook is given the plan only, and holds it to the specs beside it."""
    for name in ("income.yaml", "income.dpql"):
        shutil.copy(SPECS / name, tmp_path)
    shutil.copy(SPECS / "energy_use.plan.json", tmp_path / "income.plan.json")
    run = dpql("plan", "--check", "income.plan.json", folder=tmp_path)
    assert (run.returncode, run.stderr.count("DPQL405")) == (1, 2)
    shutil.copy(SPECS / "income.plan.json", tmp_path)
    both = ("income.plan.json", "income.yaml")
    assert (
        fine(dpql("plan", "--check", *both, folder=tmp_path)) == "2 plans are fresh\n"
    )
    (tmp_path / "lone.plan.json").write_bytes(b"{}")
    refused(dpql("plan", "--check", "lone.plan.json", folder=tmp_path), 1, "DPQL804")


def test_the_review_table_is_shown() -> None:
    """The table names every statistic, the promise and the cost."""
    text = fine(dpql("plan", "specs/district_wages.yaml"))
    assert text.startswith("specs/district_wages.yaml   plan ")
    for word in ("headcount by district", "± 60", "protects", "spends     ε = 1,"):
        assert word in text


def test_json_is_exact_and_readable() -> None:
    """Numbers come as exact text beside decimals."""
    document = json.loads(fine(dpql("plan", WAGES, "--format", "json")))
    assert document["epsilon"] == {"exact": "1", "decimal": "1"}
    assert len(document["statistics"]) == 3
    several = json.loads(fine(dpql("plan", SPECS, "--format", "json")))
    assert len(several) > 10


def test_json_has_the_numbers_of_the_noise() -> None:
    """`plan` and `show` give what the plan's file has of every noisy number."""
    for command in ("plan", "show"):
        document = json.loads(fine(dpql(command, WAGES, "--format", "json")))
        steps = json.loads(Path(WAGES).with_suffix(".plan.json").read_text())["steps"]
        for step, entry in zip(steps, document["statistics"], strict=True):
            assert [part["noise"]["parameters"] for part in step["parts"]] == [
                part["parameters"] for part in entry["parts"]
            ]
            assert [part["measure"]["sensitivity"] for part in step["parts"]] == [
                part["sensitivity"] for part in entry["parts"]
            ]


def test_a_supposition_says_on_what_it_rests() -> None:
    """What rests on a promised number of rows has a mark and its sentence."""
    spec = "specs/waiting_times.yaml"
    words = "only if every group has at least 5 000 rows"
    for form in ("text", "markdown"):
        text = fine(dpql("plan", spec, "--set", "epsilon=1", "--format", form))
        assert f"† mean_wait: {words}." in text.replace("\\", "")
        assert 2 == text.count("minute †")
    document = json.loads(
        fine(dpql("plan", spec, "--set", "epsilon=1", "--format", "json"))
    )
    assert [words.removeprefix("only "), None] == [
        entry["only"] for entry in document["statistics"]
    ]


def test_markdown_is_a_table() -> None:
    """Markdown is for pull requests."""
    text = fine(dpql("plan", WAGES, "--format", "markdown"))
    assert text.startswith("### district\\_wages\\_2025: plan `")


def test_the_plan_is_written_and_named_by_its_digest(tmp_path: Path) -> None:
    """The file is the plan in the gallery; its sha256 is the plan's name."""
    target = tmp_path / "wages.plan.json"
    run = dpql("plan", WAGES, "--out", target)
    assert run.returncode == 0
    assert "wrote" in run.stderr
    content = target.read_bytes()
    assert (SPECS / "district_wages.plan.json").read_bytes() == content
    assert f"plan {hashlib.sha256(content).hexdigest()[:8]} " in run.stdout
    assert fine(dpql("plan", target)).count("headcount") >= 1


def test_a_link_is_replaced_never_followed(tmp_path: Path) -> None:
    """A file that a link points to is left alone."""
    precious = tmp_path / "precious"
    precious.write_text("keep", "utf-8")
    link = tmp_path / "plan.json"
    link.symlink_to(precious)
    assert dpql("plan", WAGES, "--out", link).returncode == 0
    assert precious.read_text("utf-8") == "keep"
    assert not link.is_symlink()


def test_fresh_and_stale_plans_are_told_apart(tmp_path: Path) -> None:
    """The gallery is fresh; a changed spec is stale; a missing plan is missing."""
    assert "plans are fresh" in fine(dpql("plan", "--check", SPECS))
    spec = tmp_path / "wages.yaml"
    shutil.copy(WAGES, spec)
    refused(dpql("plan", "--check", spec), 1, "DPQL405", "missing")
    assert dpql("plan", spec, "--out", tmp_path / "wages.plan.json").returncode == 0
    assert fine(dpql("plan", "--check", spec)) == "1 plan is fresh\n"
    spec.write_text(spec.read_text("utf-8").replace("1.0", "2.0"), "utf-8")
    refused(dpql("plan", "--check", spec), 1, "DPQL405", "stale")


def test_a_supposition_is_shown_and_cannot_be_saved(tmp_path: Path) -> None:
    """Half the budget makes the shares less exact; nothing can be written of it."""
    text = fine(dpql("plan", WAGES, "--set", "epsilon=1/2"))
    assert "what if epsilon = 1/2" in text
    assert "± 77" in text
    assert "EUR/month *" in text
    assert "* for 1 000 rows" in text
    assert "instead of 1" in text
    target = tmp_path / "no.json"
    refused(dpql("plan", WAGES, "--set", "epsilon=2", "--out", target), 2, "what-if")
    assert not target.exists()
    document = json.loads(
        fine(dpql("plan", WAGES, "--set", "mechanism=geometric", "--format", "json"))
    )
    assert {"geometric"} == {s["mechanism"] for s in document["statistics"]}
    refused(dpql("plan", WAGES, "--set", "epsilon=0.01"), 1, "DPQL430")
