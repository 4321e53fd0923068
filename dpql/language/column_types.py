"""The keys of a column, by its type."""

from __future__ import annotations

from dpql.language.key_lists import KEY_LIST
from dpql.model import limits
from dpql.model.calendar import STEPS
from dpql.model.shape import Choice, Either, Field, ListOf, Number, Record, Shape, Text
from dpql.model.spec import NumberType

DAY = Text.of("a date", limits.DAY, plain=True, rule="the form `2013-12-31`")
CLOCK = Text.of("a time", limits.CLOCK, plain=True, rule="the form `2013-12-31 23:59`")
ZONE = Text.of("a zone", limits.ZONE, rule="the form `+01:00`, its distance from UTC")
UNIT = Text.of("a unit", limits.UNIT)
NUMBER = Number()
POSITIVE = Number(above=0)


def field(name: str, shape: Shape, summary: str, *examples: object) -> Field:
    """Return a key that may be left out."""
    return Field(name=name, shape=shape, summary=summary, examples=examples)


def required(name: str, shape: Shape, summary: str, *examples: object) -> Field:
    """Return a key that must be given."""
    return Field(
        name=name, shape=shape, summary=summary, examples=examples, required=True
    )


def _nulls(fill: Shape, what: str, example: object) -> Field:
    """Return the rule for cells that are missing or not ``what``."""
    public = required("as", fill, "The public value a missing cell counts as.", example)
    return required(
        "nulls",
        Either(
            word=Choice(what="a rule for nulls", words=("drop",)),
            record=Record(what="a fill", fields=(public,)),
        ),
        f"What a cell that is missing or {what} does: drop the row, or count as a "
        "value. `drop` is refused where the number of rows is public.",
        "drop",
        {"as": example},
    )


def _bounds(end: Shape, *example: object) -> Field:
    return required(
        "bounds",
        ListOf(item=end, shortest=2, longest=2),
        "The public interval to which every cell is clamped, lower before upper. "
        "Chosen from knowledge of the field, never from the data.",
        list(example),
    )


_NULLS = _nulls(NUMBER, "no number", 0)
_BOUNDS = _bounds(NUMBER, 16, 100)
_MEASURE = field(
    "unit", UNIT, "The unit of measure, shown beside every number.", "EUR/month"
)


def _type(word: str) -> Field:
    return required(
        "type", Choice(what="a type", words=(word,)), "The type of the column.", word
    )


def _number_column(kind: NumberType, *step: Field) -> Record:
    fields = (_type(kind), _BOUNDS, *step, _MEASURE, _NULLS)
    return Record(what=f"{'an' if kind == 'integer' else 'a'} {kind}", fields=fields)


COLUMN_TYPES: dict[str, Record] = {
    "id": Record(what="an id", fields=(_type("id"),)),
    "category": Record(
        what="a category",
        fields=(
            _type("category"),
            required(
                "keys",
                KEY_LIST,
                "The public keys. Each appears in the release, also when empty; cells "
                "that are none of them are dropped. Whole numbers are compared as "
                "such, however they are stored; a key in quotes makes all texts. Keys "
                "that are `private` are found in the data; that needs a delta, and "
                "how many units a key must have to be found is known before.",
                ["north", "east", "south", "west"],
                "1..12",
                {"file": "keys/carriers.txt"},
                "private",
            ),
            field(
                "others",
                Choice(
                    what="a way to count what is no key",
                    words=("true",),
                    otherwise=", or delete the line",
                ),
                "One more key, `others`, of all cells that are none of the keys and "
                "not null. Of private keys it stands beside those that were found, "
                "in every statistic but the one that finds them.",
                True,
            ),
        ),
    ),
    "integer": _number_column(
        NumberType.INTEGER,
        field("step", POSITIVE, "Cells are rounded to whole steps; 1 if absent.", 1),
    ),
    "decimal": _number_column(
        NumberType.DECIMAL,
        required("step", POSITIVE, "Cells are rounded to whole steps.", 0.01),
    ),
    "float": _number_column(NumberType.FLOAT),
    "boolean": Record(
        what="a boolean",
        fields=(
            _type("boolean"),
            _nulls(
                Choice(what="a truth", words=("true", "false")),
                "neither true nor false",
                False,
            ),
        ),
    ),
    "date": Record(
        what="a date",
        fields=(
            _type("date"),
            _bounds(DAY, "2013-01-01", "2013-12-31"),
            _nulls(DAY, "no date", "2013-01-01"),
        ),
    ),
    "time": Record(
        what="a time",
        fields=(
            _type("time"),
            _bounds(CLOCK, "2013-01-01 00:00", "2013-12-31 23:59"),
            required(
                "step",
                Choice(what="a step", words=tuple(STEPS)),
                "Times are counted in full steps from the first one.",
                "minute",
            ),
            field(
                "zone",
                ZONE,
                "The zone of the bounds and of times that are stored without one, as "
                "its distance from UTC; others are converted. +00:00 if absent.",
                "+01:00",
            ),
            _nulls(CLOCK, "no time", "2013-01-01 00:00"),
        ),
    ),
}
