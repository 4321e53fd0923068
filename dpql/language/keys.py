"""Every key of a spec: where it stands, what it holds, and what the manual says."""

from __future__ import annotations

from dataclasses import replace

from dpql.language.key_lists import KEY_LIST
from dpql.language.left_out import LEFT_OUT
from dpql.model import limits
from dpql.model.calendar import STEPS
from dpql.model.shape import (
    Choice,
    Either,
    Field,
    ListOf,
    Number,
    Record,
    Shape,
    Table,
    Text,
    Variants,
)
from dpql.model.spec import MechanismName, Neighbours, NumberType
from dpql.statistics import KEYS, OPTIONS, field_of, statistics_with
from dpql.statistics.statistic import COLUMN, CONDITION

EXPRESSION = Text.of("an expression", limits.CONDITION, rule="on one line")
DAY = Text.of("a date", limits.DAY, plain=True, rule="the form `2013-12-31`")
CLOCK = Text.of("a time", limits.CLOCK, plain=True, rule="the form `2013-12-31 23:59`")
ZONE = Text.of("a zone", limits.ZONE, rule="the form `+01:00`, its distance from UTC")

NAME = Text.of(
    "a name",
    limits.NAME,
    rule="letters, digits, `_`, `-` and `.`, starting with a letter",
)
WORDS = Text.of("a text", limits.PURPOSE)
SIGNER = Text.of("a signer", limits.SIGNER)
UNIT = Text.of("a unit", limits.UNIT)
NUMBER = Number()
POSITIVE = Number(above=0)
WHOLE = Number(whole=True, above=0)
MECHANISM = Choice(what="a mechanism", words=tuple(MechanismName))


def _field(name: str, shape: Shape, summary: str, *examples: object) -> Field:
    return Field(name=name, shape=shape, summary=summary, examples=examples)


def _required(name: str, shape: Shape, summary: str, *examples: object) -> Field:
    return Field(
        name=name, shape=shape, summary=summary, examples=examples, required=True
    )


def _nulls(fill: Shape, what: str, example: object) -> Field:
    """Return the rule for cells that are missing or not ``what``."""
    public = _required(
        "as", fill, "The public value a missing cell counts as.", example
    )
    return _required(
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
    return _required(
        "bounds",
        ListOf(item=end, shortest=2, longest=2),
        "The public interval to which every cell is clamped, lower before upper. "
        "Chosen from knowledge of the field, never from the data.",
        list(example),
    )


_NULLS = _nulls(NUMBER, "no number", 0)
_BOUNDS = _bounds(NUMBER, 16, 100)
_MEASURE = _field(
    "unit", UNIT, "The unit of measure, shown beside every number.", "EUR/month"
)


def _type(word: str) -> Field:
    return _required(
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
            _required(
                "keys",
                KEY_LIST,
                "The public keys. Each appears in the release, also when empty; cells "
                "that are none of them are dropped. Whole numbers are compared "
                "as such, however they are stored; a key in quotes makes all texts.",
                ["north", "east", "south", "west"],
                "1..12",
                {"file": "keys/carriers.txt"},
            ),
        ),
    ),
    "integer": _number_column(
        NumberType.INTEGER,
        _field("step", POSITIVE, "Cells are rounded to whole steps; 1 if absent.", 1),
    ),
    "decimal": _number_column(
        NumberType.DECIMAL,
        _required("step", POSITIVE, "Cells are rounded to whole steps.", 0.01),
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
            _required(
                "step",
                Choice(what="a step", words=tuple(STEPS)),
                "Times are counted in full steps from the first one.",
                "minute",
            ),
            _field(
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

_ROWS = Record(
    what="a number of rows",
    fields=(
        _field("exactly", WHOLE, "The number of rows, when it is public.", 1000),
        _field("at_most", WHOLE, "A public ceiling on the number of rows.", 2_000_000),
    ),
    one_of=(("exactly", "at_most"),),
)
_DATA = Record(
    what="the data",
    fields=(
        _required(
            "source",
            NAME,
            "The name of the data; the owner's command line binds a file to it.",
            "wages",
        ),
        _required(
            "rows",
            _ROWS,
            "What is public about the number of rows.",
            {"at_most": 2_000_000},
        ),
        _required(
            "columns",
            Table(
                what="columns",
                key=COLUMN,
                value=Variants(what="a column", tag="type", records=COLUMN_TYPES),
            ),
            "The columns the release reads; others in the data are ignored.",
            {"person_id": {"type": "id"}},
        ),
        _field(
            "derived",
            Table(what="derived columns", key=COLUMN, value=EXPRESSION),
            "Columns that follow from the ones above: a sum, a comparison, a choice, a "
            "band, a part of a date, a name for a key. Bounds, step and nulls follow "
            "by rule.",
            {"late": "arr_delay > 15", "month": "month(day)"},
        ),
    ),
)
_CONTRIBUTES = Record(
    what="a contribution",
    fields=(
        _required("rows", WHOLE, "At most so many rows of a unit in a group.", 3),
        _required("groups", WHOLE, "At most so many groups with rows of a unit.", 1),
        _field(
            "total",
            WHOLE,
            "At most so many rows of a unit in all groups together: less than `rows` "
            "times `groups`, which then costs less noise. Which of them are kept is "
            "one more fair lottery.",
            5,
        ),
    ),
)
_PRIVACY = Record(
    what="the privacy promise",
    fields=(
        _required(
            "unit",
            COLUMN,
            "Who is protected: an id column, or `row` when each row is a person.",
            "person_id",
            "row",
        ),
        _field(
            "contributes",
            _CONTRIBUTES,
            "What one unit can add at most to every statistic that does not say its "
            "own; the rest is left out. Needed with an id.",
            {"rows": 3, "groups": 1},
        ),
        _field(
            "neighbours",
            Choice(what="a relation", words=tuple(Neighbours)),
            "Which data sets must look alike: one unit added or removed, or one "
            f"replaced (the number of rows is then public). {LEFT_OUT['neighbours']} "
            "if absent.",
            "add_remove",
        ),
        _required("epsilon", POSITIVE, "The total budget of this release.", 1.0),
        _field("delta", NUMBER, "Always 0: every release is pure. 0 if absent.", 0),
    ),
)
_ALPHA = _field(
    "alpha",
    POSITIVE,
    "Accuracy is stated with probability 1 - alpha. That of the defaults if absent, "
    f"and {LEFT_OUT['alpha']} if they have none.",
    0.05,
)
_GAMMA = _field(
    "gamma",
    POSITIVE,
    "The chance that snapping's outer clamp may bind. That of the defaults if absent, "
    f"and {LEFT_OUT['gamma']} if they have none.",
    1e-9,
)
_MECHANISM = _field(
    "mechanism",
    MECHANISM,
    "The noise. `auto` takes whichever promises the smaller error. That of the "
    f"defaults if absent, and `{LEFT_OUT['mechanism']}` if they have none.",
    "snapping",
)
_SPEND = Record(
    what="a spend",
    fields=(
        _field("share", POSITIVE, "A weight among those sharing what is left.", 2),
        _field("epsilon", POSITIVE, "Exactly this much of the budget.", 0.1),
        _field("accuracy", POSITIVE, "As little as keeps the error within this.", 60),
    ),
    one_of=(("share", "epsilon", "accuracy"),),
)


_BEFORE_GROUPS = tuple(option for option in OPTIONS if not option.after_groups)
_AFTER_GROUPS = tuple(option for option in OPTIONS if option.after_groups)

STATISTIC = Record(
    what="a statistic",
    fields=(
        *map(field_of, KEYS),
        *(option.field for option in _BEFORE_GROUPS),
        _field(
            "where",
            CONDITION,
            "Only rows that pass. A comparison with a null is neither true nor false, "
            "`not` of it neither; a key that is not declared counts as null. Keys may "
            "stand in quotes, columns in backquotes; a quote in quotes needs a "
            "backslash. A word that is both a column and a key needs either.",
            "age >= 18 and age < 65",
        ),
        _field(
            "by",
            ListOf(item=COLUMN, longest=limits.MOST_GROUPINGS),
            "One answer for each combination of the keys of these columns.",
            ["district"],
        ),
        *(option.field for option in _AFTER_GROUPS),
        _field(
            "contributes",
            _CONTRIBUTES,
            "What one unit can add at most to this statistic, instead of what "
            "`privacy` says; the rest is left out.",
            {"rows": 2, "groups": 4, "total": 5},
        ),
        _MECHANISM,
        _ALPHA,
        _GAMMA,
        _required(
            "spend", _SPEND, "How the statistic is paid: exactly one way.", {"share": 1}
        ),
    ),
    one_of=(KEYS,),
    needs=tuple(
        (option.name, statistics_with(option))
        for option in (*_BEFORE_GROUPS, *_AFTER_GROUPS)
    ),
)

SPEC = Record(
    what="a spec",
    fields=(
        _required(
            "dpql", Choice(what="a version", words=("1",)), "The language version.", 1
        ),
        _required("release", NAME, "The name of the release.", "district_wages_2025"),
        _required(
            "purpose",
            WORDS,
            "Who asks and why, in a sentence; it is printed on the report.",
            "Monthly wage tables by district for the 2025 bulletin.",
        ),
        _required("data", _DATA, "The source and what is public about it.", {}),
        _required("privacy", _PRIVACY, "Who is protected, and the budget.", {}),
        _field(
            "defaults",
            Record(what="the defaults", fields=(_ALPHA, _GAMMA, _MECHANISM), fewest=1),
            "What holds for every statistic that does not say otherwise.",
            {"alpha": 0.05, "gamma": 1e-9, "mechanism": "snapping"},
        ),
        _required(
            "statistics",
            Table(what="statistics", key=NAME, value=STATISTIC),
            "What is released, by name.",
            {"headcount": {"count": "rows", "spend": {"share": 1}}},
        ),
        _field(
            "report",
            Record(
                what="the report",
                fields=(
                    _required("signer", SIGNER, "Who signs the report.", "bulletin"),
                ),
            ),
            "How the report is signed.",
            {"signer": "bulletin-2025"},
        ),
    ),
)


def _optional(field: Field) -> Field:
    return replace(field, required=False)


def _without(record: Record, *names: str) -> tuple[Field, ...]:
    return tuple(field for field in record.fields if field.name not in names)


_ASKED_DATA = Record(
    what="the data",
    fields=(
        _required(
            "dataset",
            NAME,
            "The name of the owner's dataset file, which declares the data.",
            "wages",
        ),
        *(
            replace(_optional(field), summary=f"Narrower than the owner's: {lowered}")
            for field in _without(_DATA, "source", "rows")
            for lowered in (field.summary[:1].lower() + field.summary[1:],)
        ),
    ),
)

ASKING = replace(
    SPEC,
    what="a spec",
    fields=tuple(
        replace(
            field,
            shape=Either(word=NAME, record=_ASKED_DATA),
            summary="The name of the owner's dataset file, and what is narrowed.",
            examples=("wages",),
        )
        if field.name == "data"
        else replace(
            field,
            shape=replace(
                _PRIVACY,
                fields=tuple(
                    _optional(part) if part.name == "unit" else part
                    for part in _PRIVACY.fields
                ),
            ),
        )
        if field.name == "privacy"
        else field
        for field in SPEC.fields
    ),
)
"""A spec of data that a dataset file declares."""

DATASET = Record(
    what="a dataset file",
    fields=(
        SPEC.fields[0],
        _required(
            "dataset",
            NAME,
            "The name of the data: of this file, of the source, and in the ledger.",
            "wages",
        ),
        *_without(_DATA, "source"),
        _required(
            "privacy",
            Record(
                what="the privacy promise",
                fields=_without(_PRIVACY, "epsilon", "delta"),
            ),
            "Who is protected, and what one unit may contribute at most.",
            {"unit": "person_id", "contributes": {"rows": 3, "groups": 1}},
        ),
        _field(
            "cap",
            Record(
                what="the cap",
                fields=(
                    _required(
                        "epsilon", POSITIVE, "The most that is ever spent on them.", 4
                    ),
                    _field("delta", NUMBER, "The same of delta. 0 if absent.", 0),
                ),
            ),
            "The budget of the data; `dpql ledger open --dataset-file` takes it.",
            {"epsilon": 4},
        ),
    ),
)
"""What the owner of data declares once, for all specs."""
