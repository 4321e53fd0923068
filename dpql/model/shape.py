"""The algebra of shapes: what kinds of node may stand where.

`dpql.language.keys.SPEC` describes a whole spec in these terms, and each statistic its
own keys. From that one value come the shape check, the JSON Schema, the canonical
order of keys and the manual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpql.model.limits import TextFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A scalar: some words, at most ``longest`` characters, matching ``pattern``.

    With ``numbers`` whole numbers, and ranges of them, mean something else in quotes.
    What is ``plain`` stands in YAML without quotes.
    """

    what: str
    longest: int
    pattern: str
    rule: str = "no tabs in it, no space at either end"
    numbers: bool = False
    plain: bool = False

    @classmethod
    def of(cls, what: str, text_format: TextFormat, **others: Any) -> Text:
        """Return the shape of a text of that format."""
        longest, pattern = text_format.longest, text_format.pattern
        return cls(what=what, longest=longest, pattern=pattern, **others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A scalar that is an exact number; whether it is in range is a matter of meaning.

    ``above`` only tells an editor what resolve will say.
    """

    whole: bool = False
    above: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A scalar that is one of a few words; ``otherwise`` is a hint for other ones."""

    what: str
    words: tuple[str, ...]
    otherwise: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf:
    """A sequence of ``shortest`` to ``longest`` items."""

    item: Shape
    shortest: int = 1
    longest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A key of a record, as the manual describes it."""

    name: str
    shape: Shape
    summary: str
    examples: tuple[object, ...]
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A mapping whose keys are known; ``fields`` are in canonical order.

    At least ``fewest`` keys are given, and exactly one of each group in ``one_of``. A
    key in ``needs`` may be given only beside one of the keys it names.
    """

    what: str
    fields: tuple[Field, ...]
    fewest: int = 0
    one_of: tuple[tuple[str, ...], ...] = ()
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def field(self, name: str) -> Field | None:
        """Return the field of that name."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """A record whose other keys depend on the word that ``tag`` has."""

    what: str
    tag: str
    records: Mapping[str, Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A mapping whose keys are names that the author chooses; at least one."""

    what: str
    key: Text
    value: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """A word, or a record, or a list where ``items`` says of what."""

    word: Choice | Text
    record: Record
    items: ListOf | None = None


Shape = Text | Number | Choice | ListOf | Record | Variants | Table | Either
