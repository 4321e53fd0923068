"""`dpql explain`, `schema`, `completion` and the help texts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.started import ROOT, SPECS, dpql, fine, refused, surroundings

from dpql.cli.commands.explain.pages import page, titles
from dpql.cli.inputs.files import plan_at
from dpql.cli.main import COMMANDS, LazyGroup
from dpql.cli.main import dpql as group
from dpql.curator.program import compile_program
from dpql.manual import CODES
from dpql.manual.terms import TERMS

pytestmark = pytest.mark.cli


def test_codes_words_and_keys_are_explained() -> None:
    """A code by either spelling, a term, a key of a spec."""
    assert fine(dpql("explain", "DPQL301")) == fine(dpql("explain", "301"))
    assert fine(dpql("explain", "epsilon")).startswith("epsilon: how much")
    assert "bins: [" in fine(dpql("explain", "bins"))
    assert json.loads(fine(dpql("explain", "DPQL430", "--format", "json")))["title"]


def test_unknown_words_are_guessed_at() -> None:
    """A word that is nearly right gets the right one."""
    refused(dpql("explain", "epsilom"), 1, "DPQL806", "did you mean `epsilon`?")
    refused(dpql("explain", "\x1b[31mzzz"), 1, "\\u{1b}")


def test_every_page_can_be_shown() -> None:
    """Each title leads to a page with text."""
    assert set(CODES) | set(TERMS) <= set(titles())
    for name in titles():
        found = page(name)
        assert found is not None
        assert found.text.strip()
    assert len(fine(dpql("explain")).splitlines()) == len(titles())


def test_every_code_shows_what_is_wrong_and_what_is_right() -> None:
    """No code of the manual is without its two examples."""
    assert [] == [name for name, code in CODES.items() if not code.wrong]
    assert [] == [name for name, code in CODES.items() if not code.right]


@pytest.mark.parametrize("name", ["clinic_filters.yaml", "clinic_filters.plan.json"])
def test_the_program_of_a_plan_is_shown(name: str) -> None:
    """A spec and its plan have one program: the one that engines are given."""
    path = SPECS / name
    program = str(compile_program(plan_at(path)))
    assert program == fine(dpql("explain", "--program", path))
    shown = json.loads(fine(dpql("explain", "--program", path, "--format", "json")))
    assert shown == {"plan": plan_at(path).digest, "program": program}


def test_a_program_is_no_page() -> None:
    """A page and a program are not asked for at once; what is no plan has none."""
    refused(
        dpql("explain", "epsilon", "--program", SPECS / "income.yaml"), 2, "DPQL814"
    )
    refused(dpql("explain", "--program", "none.plan.json"), 1, "DPQL400")


@pytest.mark.parametrize("kind", ["spec", "plan", "report"])
def test_schemas_are_those_checked_in(kind: str) -> None:
    """The schema printed is the newest file under schemas/."""
    path = max((ROOT / "schemas").glob(f"{kind}.v*.schema.json"))
    assert path.read_text("utf-8") == fine(dpql("schema", kind))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    """Each script asks dpql itself for the words."""
    assert "_DPQL_COMPLETE" in fine(dpql("completion", shell))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pl",), {"plan"}),
        (("ledger", "r"), {"raise-cap", "recover"}),
        (("check", "--format", "s"), {"sarif"}),
        (("plan", "--ht"), {"--html"}),
        (("completion", ""), {"bash", "zsh", "fish"}),
    ],
    ids=range(5),
)
def test_completion_works_in_bash(
    tmp_path: Path, words: tuple[str, ...], expected: set[str]
) -> None:
    """The script is sourced, and completes commands, options and values."""
    script = tmp_path / "dpql.bash"
    script.write_text(fine(dpql("completion", "bash")), "utf-8")
    program = tmp_path / "dpql"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dpql "$@"\n', "utf-8")
    program.chmod(0o755)
    typed = " ".join(f"'{word}'" for word in ("dpql", *words))
    line = (
        f'source "$0"; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; '
        "complete -p dpql > /dev/null && _dpql_completion dpql && "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    run = subprocess.run(
        ["bash", "-c", line, script],
        cwd=ROOT,
        env={**surroundings(), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (0, "") == (run.returncode, run.stderr)
    assert expected == set(run.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str) -> None:
    """The line in the overview fits, and the help ends with commands to try."""
    text = fine(dpql(name, "--help"))
    assert "Examples:" in text
    assert f"dpql {name}" in text


def test_overview_is_in_the_order_of_the_story() -> None:
    """Help lists the table of commands; each loads the module of its name."""
    text = fine(dpql("--help"))
    positions = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert positions == sorted(positions)
    assert isinstance(group, LazyGroup)
    assert fine(dpql("--version")) == "dpql 0.2.0\n"
