"""What README, guide and reference show is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from docs.blocks import (
    ROOT,
    Block,
    Command,
    Folder,
    agrees,
    blocks,
    commands,
    masked,
    play,
)

import dpql.api
from dpql.cli.reference import PAGES

GUIDE = ROOT / "docs" / "guide"
ELSEWHERE = {"testing.md", "verify-without-dpql.md", "warehouse.md"}
"""Pages that other tests run, with what they need beside them."""

RUN = [
    ROOT / "README.md",
    *sorted(page for page in GUIDE.glob("*.md") if page.name not in ELSEWHERE),
    *(ROOT / "docs" / "maths" / name for name in ("count.md", "histogram.md")),
]

PAGES_READ = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

_RULE = re.compile(r"\|(?: *:?-+:? *\|)+")
_BAR = re.compile(r"(?<!\\)\|")


@pytest.mark.cli
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_every_example_runs_as_shown(page: Path, tmp_path: Path) -> None:
    """Commands print what the page says, noise masked, and end with its exit code."""
    assert [] == list(play(page, tmp_path))


@pytest.mark.parametrize("name", PAGES)
def test_reference_pages_are_fresh(name: str) -> None:
    """The checked-in pages are what the tables and the help say."""
    path = ROOT / "docs" / "reference" / name
    assert PAGES[name]() == path.read_text("utf-8")


def test_links_lead_somewhere() -> None:
    """Every relative link of a page names a file that is there."""
    dead = [
        f"{page.name}: {target}"
        for page in PAGES_READ
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", _without_blocks(page))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert [] == dead


def _without_blocks(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)


def test_contributors_are_sent_to_files_that_are_there() -> None:
    """Every file and folder that CONTRIBUTING names exists, but for NAME."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:dpql|tests|docs)/[\w./]+)`", text)
    assert len(named) > 20
    assert [] == [x for x in named if "NAME" not in x and not (ROOT / x).exists()]


def ragged(text: str) -> list[str]:
    """Return the rows of tables that have not as many cells as their header."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    width, above, found = 0, "", []
    for line in text.split("\n"):
        bars = len(_BAR.findall(line)) if line.startswith("|") else 0
        if _RULE.fullmatch(line):
            width = len(_BAR.findall(above))
        if bars == 0:
            width = 0
        elif width not in (0, bars):
            found.append(line)
        above = line
    return found


def test_rows_of_tables_fit_their_headers() -> None:
    """A bar within a cell is escaped, or the row falls apart."""
    found = {page.name: ragged(page.read_text("utf-8")) for page in PAGES_READ}
    assert {} == {name: rows for name, rows in found.items() if rows}


def test_a_row_that_falls_apart_is_noticed() -> None:
    """Bars count unless they are escaped or in a fenced block."""
    head = "| a | b |\n| :-- | --- |\n"
    assert [] == ragged(f"{head}| 1 | \\|x\\| |\n\n| no table\n")
    assert ["| 1 | |x| |"] == ragged(f"{head}| 1 | 2 |\n| 1 | |x| |\n")
    assert ["| --- |"] == ragged("| a | b |\n| --- |\n")
    assert [] == ragged(f"```\n{head}| 1 |\n```\n")


@pytest.mark.parametrize("verb", dpql.api.__all__)
def test_every_verb_shows_an_example(verb: str) -> None:
    """Whoever asks Python for help sees the verb in use; another test runs it."""
    examples = doctest.DocTestParser().get_examples(getattr(dpql.api, verb).__doc__)
    assert any(re.search(rf"\b{verb}\(", example.source) for example in examples)


def test_examples_are_compared_line_by_line() -> None:
    """The comparison notices a wrong line, and masks only what is marked noisy."""
    assert agrees("a\nb 12\n", "a\nb 12\n", "")
    assert not agrees("a\nb 12\n", "a\nb 13\n", "")
    assert agrees("a\nb 12\n", "a\nb   13\n", "noisy")
    assert not agrees("a\nb 12\n", "a\nc 13\n", "noisy")
    all_four = "   ! all 4 values say nothing: why\n   north   20   0   20   !\n"
    assert agrees(all_four, "   north   17   6   20\n", "noisy")
    assert not agrees(all_four, "   north   17   6   20\n", "")
    assert agrees("a\n…\nz\n", "a\nb\nc\nz\n", "")
    assert not agrees("a\n…\nz\n", "a\nb\nc\n", "")
    assert masked("head 0123456789abcdef\n", "noisy") == "head DIGEST"


def test_blocks_are_found_with_their_notes() -> None:
    """A note belongs to the block below it; commands may go over several lines."""
    text = "<!-- exit: 1 -->\n```console\n$ a \\\n  b\nout\n$ c\n```\n"
    (block,) = blocks(text)
    assert ("console", "exit: 1") == (block.kind, block.note)
    assert [("a \\\n  b", "out\n"), ("c", "")] == [
        (command.line, command.expected) for command in commands(block.body)
    ]


def test_the_next_command_starts_where_the_last_one_went(tmp_path: Path) -> None:
    """Folders change as in a shell, and the exit code is that of the command."""
    folder = Folder(tmp_path / "work")
    assert ("", 0) == folder.run(Command("mkdir ../other && cd ../other", ""))
    assert (f"{tmp_path / 'other'}\n", 0) == folder.run(Command("pwd", ""))
    assert ("", 1) == folder.run(Command("false", ""))


def test_a_session_that_goes_wrong_is_noticed(tmp_path: Path) -> None:
    """Names last from block to block; a wrong answer is a failure."""
    folder = Folder(tmp_path / "work")
    folder.session(Block("python", "", ">>> x = 2\n", 0, 0), "page")
    folder.session(Block("python", "", ">>> x + 2\n4\n", 0, 0), "page")
    with pytest.raises(AssertionError, match="Expected"):
        folder.session(Block("python", "", ">>> x + 2\n5\n", 0, 0), "page")
    folder.close()
