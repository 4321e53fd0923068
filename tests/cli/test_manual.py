"""`dpql explain`, `schema`, `completion` and the help texts."""

from __future__ import annotations

import json

import pytest
from cli.started import ROOT, dpql, fine, refused

from dpql.cli.main import COMMANDS, LazyGroup
from dpql.cli.main import dpql as group
from dpql.cli.manual import page, titles
from dpql.cli.terms import TERMS
from dpql.manual import CODES

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


@pytest.mark.parametrize("kind", ["spec", "plan"])
def test_schemas_are_those_checked_in(kind: str) -> None:
    """The schema printed is the file under schemas/."""
    path = ROOT / "schemas" / f"{kind}.v1.schema.json"
    assert path.read_text("utf-8") == fine(dpql("schema", kind))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    """Each script asks dpql itself for the words."""
    assert "_DPQL_COMPLETE" in fine(dpql("completion", shell))


def test_completion_answers() -> None:
    """The shell is told the commands that begin so."""
    run = dpql(_DPQL_COMPLETE="bash_complete", COMP_WORDS="dpql pl", COMP_CWORD="1")
    assert run.stdout == "plain,plan\n"


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
    assert fine(dpql("--version")) == "dpql 0.1.0\n"
