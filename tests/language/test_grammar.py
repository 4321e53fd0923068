"""The grammar, its words and its continued lines."""

from __future__ import annotations

import pytest
from language.samples import REFERENCE

from dpql.language import format_text, grammar, load_text, text_reader
from dpql.language.grammar import terminals
from dpql.language.source import examine
from dpql.language.text_reader import TextBuilder
from dpql.language.tree import plain
from dpql.model.notation import RESERVED
from dpql.model.shape import Field, Number
from dpql.statistics import ASKING, OPTIONS, Option


def test_every_rule_of_the_grammar_has_a_method() -> None:
    """No parse tree reaches the tree of a spec unread."""
    rules = {str(rule.origin.name) for rule in grammar._parser("spec").rules}
    aliases = {rule.alias for rule in grammar._parser("spec").rules if rule.alias}
    inlined = {"condition", "negation", "sum", "product", "sign"} | {
        option.name for option in OPTIONS
    }
    wanted = {name for name in rules | aliases if not name.startswith("_")} - inlined
    assert not [name for name in wanted - {"rows"} if not hasattr(TextBuilder, name)]


def test_reserved_words_are_those_of_the_grammar() -> None:
    """The reserved words are the keywords; words of statistics and options are none."""
    keywords = {word for word in terminals().values() if word.isalpha()}
    optional = {word for option in OPTIONS for word in option.clause.split()}
    assert set() == RESERVED - keywords
    assert set() == keywords - RESERVED - optional - set(ASKING)


def test_statements_may_continue_before_a_keyword() -> None:
    """A long statement is broken before its clauses, with comments between."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    broken = text.replace(" where ", "\n  -- only some\n\n  where ").replace(
        " and ", "\n    and "
    )
    assert load_text(text, form="dpql") == load_text(broken, form="dpql")


PACE = Option(
    field=Field(name="pace", shape=Number(), summary="A pace.", examples=(15,)),
    member="pace",
    clause="pace {number}",
    check=lambda _value, _usage: iter(()),
)
WITH_PACE = """\
dpql 1
release r "A pace."
from wages with at most 10 rows
  pace  integer [0, 9], drop nulls
protect row
  under add_remove spending epsilon 1, delta 0
  -- A column and a statistic may have the name of an option.
total = sum pace
  -- the next line goes on
  pace 15 spend share 1
pace = sum pace spend share 1
"""


def test_an_option_brings_its_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grammar reads the clause of a new option, whose word is not reserved."""
    for module in (grammar, text_reader):
        monkeypatch.setattr(module, "OPTIONS", (*OPTIONS, PACE))
    grammar._parser.cache_clear()
    try:
        root = plain(text_reader.read(examine(WITH_PACE, "t")))
    finally:
        grammar._parser.cache_clear()
    assert isinstance(root, dict)
    assert root["statistics"] == {
        "total": {"sum": "pace", "pace": "15", "spend": {"share": "1"}},
        "pace": {"sum": "pace", "spend": {"share": "1"}},
    }
