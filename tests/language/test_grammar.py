"""The grammar, its words and its continued lines."""

from __future__ import annotations

from language.samples import REFERENCE

from dpql.language import format_text, load_text
from dpql.language.grammar import terminals
from dpql.language.text_reader import TextBuilder
from dpql.model.notation import RESERVED
from dpql.statistics import OPTIONS


def test_every_rule_of_the_grammar_has_a_method() -> None:
    """No parse tree reaches the tree of a spec unread."""
    from dpql.language import grammar

    rules = {str(rule.origin.name) for rule in grammar._parser("spec").rules}
    aliases = {rule.alias for rule in grammar._parser("spec").rules if rule.alias}
    inlined = {"condition", "negation"} | {option.name for option in OPTIONS}
    wanted = {name for name in rules | aliases if not name.startswith("_")} - inlined
    assert not [name for name in wanted - {"rows"} if not hasattr(TextBuilder, name)]


def test_reserved_words_are_those_of_the_grammar() -> None:
    """The reserved words are the keywords; an option's word is none by itself."""
    keywords = {word for word in terminals().values() if word.isalpha()}
    optional = {word for option in OPTIONS for word in option.clause.split()}
    assert set() == RESERVED - keywords
    assert set() == keywords - RESERVED - optional


def test_statements_may_continue_before_a_keyword() -> None:
    """A long statement is broken before its clauses, with comments between."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    broken = text.replace(" where ", "\n  -- only some\n\n  where ").replace(
        " and ", "\n    and "
    )
    assert load_text(text, form="dpql") == load_text(broken, form="dpql")
