"""The page of the text form has every rule and word of the grammar."""

from __future__ import annotations

import re

from language.samples import ROOT

from dpql.language.grammar import grammar_text, terminals
from dpql.language.text_page import page
from dpql.model.notation import RESERVED
from dpql.statistics import OPTIONS, STATISTICS

TEXT = page()


def test_every_word_of_the_language_is_there() -> None:
    """Keywords stand in quotes in some statement, reserved ones in the list."""
    for word in terminals().values():
        assert f'"{word}"' in TEXT
    for word in RESERVED:
        assert f"`{word}`" in TEXT


def test_every_rule_is_shown_once() -> None:
    """Each name that a rule mentions is a rule of the page or a kind of words."""
    blocks = "\n".join(re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL)[1:])
    rules = re.findall(r"^([a-z][a-z-]*):", blocks, re.MULTILINE)
    assert len(rules) == len(set(rules))
    bare = re.sub(r'"[^"]*"', "", blocks)
    mentioned = set(re.findall(r"(?<![\w-])[a-z][a-z-]*", bare))
    assert mentioned <= set(rules)
    kinds = set(re.findall(r"(?<![\w-])[A-Z]+", bare))
    assert kinds == set(re.findall(r"^- `([A-Z]+)`:", TEXT, re.MULTILINE))


def test_options_and_statistics_come_from_the_tables() -> None:
    """What the tables know, the page knows."""
    for option in OPTIONS:
        for word in option.clause.split():
            assert not word.isalpha() or f'"{word}"' in TEXT
    for statistic in STATISTICS.values():
        assert f"| `{statistic.keyword} " in TEXT


def test_nothing_of_the_parser_shows() -> None:
    """Aliases, line breaks and priorities are no matter of a reader."""
    assert "_NEWLINE" in grammar_text()
    for inner in ("_NEWLINE", "->", "%ignore", "_line", "CONTINUED"):
        assert inner not in TEXT


def test_the_page_is_fresh() -> None:
    """What is checked in is what the grammar says."""
    path = ROOT / "docs" / "reference" / "query-text.md"
    assert TEXT == path.read_text(encoding="utf-8")
