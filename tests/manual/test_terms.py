"""The glossary."""

from __future__ import annotations

from dpql.manual.terms import TERMS


def test_every_term_has_a_definition_of_one_line_and_a_text() -> None:
    """The list of pages shows the first, the page of the term the second."""
    for name, term in TERMS.items():
        assert name == name.lower()
        assert "\n" not in term.title
        assert not term.title.endswith(".")
        assert term.text.endswith(".")


def test_the_parameters_of_a_promise_are_explained() -> None:
    """Whoever reads a plan meets these words."""
    assert {"epsilon", "delta", "alpha", "gamma", "unit", "neighbours"} <= set(TERMS)
