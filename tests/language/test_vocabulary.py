"""Words of other languages lead to words of this one."""

from __future__ import annotations

import pytest

from dpql.language import keys
from dpql.language.vocabulary import SYNONYMS
from dpql.model.shape import Either, Field, ListOf, Record, Shape, Table, Variants


def _words(shape: Shape) -> set[str]:
    """Return every key and every word below a shape."""
    match shape:
        case Record(fields=fields):
            return {field.name for field in fields}.union(*map(_below, fields))
        case Variants(records=records):
            return set(records).union(*map(_words, records.values()))
        case Table(value=value):
            return _words(value)
        case Either(word=word, record=record):
            return _words(word) | _words(record)
        case ListOf(item=item):
            return _words(item)
    return set(getattr(shape, "words", ()))


def _below(field: Field) -> set[str]:
    return _words(field.shape)


WORDS = _words(keys.SPEC)


@pytest.mark.parametrize("word", SYNONYMS)
def test_a_synonym_leads_to_a_word(word: str) -> None:
    """It is no word of the language itself, and what it leads to is one."""
    assert word not in WORDS
    assert SYNONYMS[word] in WORDS
