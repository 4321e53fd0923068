"""`dpql plan` shows, writes, checks and supposes."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.started import ROOT, SPECS, WAGES, dpql, fine, refused, surroundings

from dpql.cli.ui.table_width import fitted

pytestmark = pytest.mark.cli


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


@pytest.mark.parametrize(
    "setting",
    ["epsilon", "epsilon=0", "epsilon=1e9", "epsilon=x", "delta=1", "alpha=-1"],
)
def test_wrong_settings_are_wrong_usage(setting: str) -> None:
    """A setting that means nothing is refused with what would."""
    refused(dpql("plan", WAGES, "--set", setting), 2, "--set")


def test_a_terminal_without_greek_gets_words() -> None:
    """An encoding without ε gets eps, and bars of #."""
    run = dpql("plan", WAGES, PYTHONIOENCODING="ascii")
    assert run.returncode == 0
    assert "spends     eps = 1, pure DP" in run.stdout
    assert "+/- 60" in run.stdout
    assert run.stdout.isascii()


@pytest.mark.parametrize("width", [200, 100, 84, 70, 50, 40])
def test_narrow_terminals_get_narrow_tables(width: int) -> None:
    """No line is wider than the terminal, and no word is lost but the bars."""
    text = fine(dpql("plan", "specs/district_wages.yaml"))
    narrow = fitted(text, width)
    assert max(map(len, narrow.splitlines())) <= width
    words = {word for word in text.split() if not set(word) & set("█░─")}
    assert words - {"statistic"} <= {*narrow.split()}


@pytest.mark.parametrize(
    ("width", "bars", "rule"),
    [(200, True, True), (80, False, True), (60, False, False)],
)
def test_a_table_gives_up_as_little_as_it_must(
    *, width: int, bars: bool, rule: bool
) -> None:
    """A usual terminal gets a table, without bars; a narrow one gets lists."""
    narrow = fitted(fine(dpql("plan", "specs/district_wages.yaml")), width)
    assert (bars, rule) == ("█" in narrow, "─" in narrow)
    if rule:
        heading, _, *rows = narrow.splitlines()[2:7]
        place = heading.index("within")
        assert ["± 60", "known after the run", "± 32"] == [row[place:] for row in rows]


def _on_a_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """Return what the command shows on a terminal of that width."""
    leader, follower = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "dpql", *arguments],
        cwd=ROOT,
        env=surroundings(COLUMNS=str(columns), TERM="xterm", **environment),
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.STDOUT,
        timeout=900,
        check=True,
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    return shown.decode("utf-8").replace("\r\n", "\n")


def test_terminals_get_colours_unless_declined() -> None:
    """Only a terminal gets escapes, and NO_COLOR is obeyed."""
    spec = "specs/income.yaml"
    assert "\x1b[32m" in _on_a_terminal(80, "check", spec)
    assert "\x1b" not in _on_a_terminal(80, "check", spec, NO_COLOR="1")
    assert "\x1b" not in fine(dpql("check", spec))


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "specs/district_wages.yaml"),
        ("plan", "specs/district_wages.yaml", "--set", "epsilon=1/2"),
        ("show", "specs/income.plan.json"),
        ("diff", "specs/income.yaml", "specs/district_wages.yaml"),
        ("explain", "epsilon"),
    ],
    ids=" ".join,
)
def test_a_terminal_is_measured(columns: int, arguments: tuple[str, ...]) -> None:
    """Whatever is shown fits the columns that the terminal has."""
    text = _on_a_terminal(columns, *arguments)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(len, plain.splitlines())) <= columns


def test_tables_have_colours_that_change_no_word() -> None:
    """On a terminal the same words have colours; NO_COLOR takes them."""
    spec = "specs/district_wages.yaml"
    for arguments in (("plan", spec), ("diff", "specs/income.yaml", spec)):
        plain = _on_a_terminal(120, *arguments, NO_COLOR="1")
        painted = _on_a_terminal(120, *arguments)
        assert "\x1b" not in plain
        assert plain != painted
        assert plain == re.sub(r"\x1b\[[0-9;]*m", "", painted)
