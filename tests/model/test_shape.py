"""Shapes find their fields, and take the limits of a format of text."""

from __future__ import annotations

from dpql.model.limits import TextFormat
from dpql.model.shape import Field, Number, Record, Text


def test_a_text_has_the_limits_of_its_format() -> None:
    """Pattern and length are those of the format, the rule its own."""
    made = Text.of("a word", TextFormat(pattern="[a-z]+", longest=9), rule="letters")
    expected = Text(what="a word", longest=9, pattern="[a-z]+", rule="letters")
    assert expected == made


def test_a_record_finds_its_fields() -> None:
    """A name that is not there gives nothing."""
    field = Field(name="rows", shape=Number(), summary="Rows.", examples=(1,))
    record = Record(what="a bound", fields=(field,))
    assert (field, None) == (record.field("rows"), record.field("row"))
