"""Every key of a spec: where it stands, what it holds, and what the manual says."""

from __future__ import annotations

from dataclasses import replace

from dpql.language.column_types import COLUMN_TYPES, NUMBER, POSITIVE, field, required
from dpql.language.left_out import LEFT_OUT
from dpql.model import limits
from dpql.model.shape import (
    Choice,
    Either,
    Field,
    ListOf,
    Number,
    Record,
    Table,
    Text,
    Variants,
)
from dpql.model.spec import MechanismName, Neighbours
from dpql.statistics import KEYS, OPTIONS, field_of, statistics_with
from dpql.statistics.statistic import COLUMN, CONDITION

EXPRESSION = Text.of("an expression", limits.CONDITION, rule="on one line")
NAME = Text.of(
    "a name",
    limits.NAME,
    rule="letters, digits, `_`, `-` and `.`, starting with a letter",
)
WORDS = Text.of("a text", limits.PURPOSE)
SIGNER = Text.of("a signer", limits.SIGNER)
WHOLE = Number(whole=True, above=0)
MECHANISM = Choice(what="a mechanism", words=tuple(MechanismName))


_ROWS = Record(
    what="a number of rows",
    fields=(
        field("exactly", WHOLE, "The number of rows, when it is public.", 1000),
        field("at_most", WHOLE, "A public ceiling on the number of rows.", 2_000_000),
    ),
    one_of=(("exactly", "at_most"),),
)
_DATA = Record(
    what="the data",
    fields=(
        required(
            "source",
            NAME,
            "The name of the data; the owner's command line binds a file to it.",
            "wages",
        ),
        required(
            "rows",
            _ROWS,
            "What is public about the number of rows.",
            {"at_most": 2_000_000},
        ),
        required(
            "columns",
            Table(
                what="columns",
                key=COLUMN,
                value=Variants(what="a column", tag="type", records=COLUMN_TYPES),
            ),
            "The columns the release reads; others in the data are ignored.",
            {"person_id": {"type": "id"}},
        ),
        field(
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
        required("rows", WHOLE, "At most so many rows of a unit in a group.", 3),
        required("groups", WHOLE, "At most so many groups with rows of a unit.", 1),
        field(
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
        required(
            "unit",
            COLUMN,
            "Who is protected: an id column, or `row` when each row is a person.",
            "person_id",
            "row",
        ),
        field(
            "contributes",
            _CONTRIBUTES,
            "What one unit can add at most to every statistic that does not say its "
            "own; the rest is left out. Needed with an id.",
            {"rows": 3, "groups": 1},
        ),
        field(
            "neighbours",
            Choice(what="a relation", words=tuple(Neighbours)),
            "Which data sets must look alike: one unit added or removed, or one "
            f"replaced (the number of rows is then public). {LEFT_OUT['neighbours']} "
            "if absent.",
            "add_remove",
        ),
        required("epsilon", POSITIVE, "The total budget of this release.", 1.0),
        field("delta", NUMBER, "How likely epsilon may fail. 0 if absent.", 0, 1e-9),
    ),
)
_ALPHA = field(
    "alpha",
    POSITIVE,
    "Accuracy is stated with probability 1 - alpha. That of the defaults if absent, "
    f"and {LEFT_OUT['alpha']} if they have none.",
    0.05,
)
_GAMMA = field(
    "gamma",
    POSITIVE,
    "The chance that snapping's outer clamp may bind. That of the defaults if absent, "
    f"and {LEFT_OUT['gamma']} if they have none.",
    1e-9,
)
_MECHANISM = field(
    "mechanism",
    MECHANISM,
    "The noise. `auto` takes whichever promises the smaller error. That of the "
    f"defaults if absent, and `{LEFT_OUT['mechanism']}` if they have none.",
    "snapping",
)
_SPEND = Record(
    what="a spend",
    fields=(
        field("share", POSITIVE, "A weight among those sharing what is left.", 2),
        field("epsilon", POSITIVE, "Exactly this much of the budget.", 0.1),
        field("rho", POSITIVE, "Exactly this much ρ; needs a `delta`.", 0.001),
        field("accuracy", POSITIVE, "As little as keeps the error within this.", 60),
    ),
    one_of=(("share", "epsilon", "rho", "accuracy"),),
)

_BEFORE_GROUPS = tuple(option for option in OPTIONS if not option.after_groups)
_AFTER_GROUPS = tuple(option for option in OPTIONS if option.after_groups)

STATISTIC = Record(
    what="a statistic",
    fields=(
        *map(field_of, KEYS),
        *(option.field for option in _BEFORE_GROUPS),
        field(
            "where",
            CONDITION,
            "Only rows that pass. A comparison with a null is neither true nor false, "
            "`not` of it neither; a key that is not declared counts as null. Keys may "
            "stand in quotes, columns in backquotes; a quote in quotes needs a "
            "backslash. A word that is both a column and a key needs either.",
            "age >= 18 and age < 65",
        ),
        field(
            "by",
            ListOf(item=COLUMN, longest=limits.MOST_GROUPINGS),
            "One answer for each combination of the keys of these columns.",
            ["district"],
        ),
        *(option.field for option in _AFTER_GROUPS),
        field(
            "contributes",
            _CONTRIBUTES,
            "What one unit can add at most to this statistic, instead of what "
            "`privacy` says; the rest is left out.",
            {"rows": 2, "groups": 4, "total": 5},
        ),
        _MECHANISM,
        _ALPHA,
        _GAMMA,
        required(
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
        required(
            "dpql", Choice(what="a version", words=("1",)), "The language version.", 1
        ),
        required("release", NAME, "The name of the release.", "district_wages_2025"),
        required(
            "purpose",
            WORDS,
            "Who asks and why, in a sentence; it is printed on the report.",
            "Monthly wage tables by district for the 2025 bulletin.",
        ),
        required("data", _DATA, "The source and what is public about it.", {}),
        required("privacy", _PRIVACY, "Who is protected, and the budget.", {}),
        field(
            "defaults",
            Record(what="the defaults", fields=(_ALPHA, _GAMMA, _MECHANISM), fewest=1),
            "What holds for every statistic that does not say otherwise.",
            {"alpha": 0.05, "gamma": 1e-9, "mechanism": "snapping"},
        ),
        required(
            "statistics",
            Table(what="statistics", key=NAME, value=STATISTIC),
            "What is released, by name.",
            {"headcount": {"count": "rows", "spend": {"share": 1}}},
        ),
        field(
            "report",
            Record(
                what="the report",
                fields=(
                    required("signer", SIGNER, "Who signs the report.", "bulletin"),
                ),
            ),
            "How the report is signed.",
            {"signer": "bulletin-2025"},
        ),
    ),
)


def _optional(one: Field) -> Field:
    return replace(one, required=False)


def _without(record: Record, *names: str) -> tuple[Field, ...]:
    return tuple(one for one in record.fields if one.name not in names)


_ASKED_DATA = Record(
    what="the data",
    fields=(
        required(
            "dataset",
            NAME,
            "The name of the owner's dataset file, which declares the data.",
            "wages",
        ),
        *(
            replace(_optional(one), summary=f"Narrower than the owner's: {lowered}")
            for one in _without(_DATA, "source", "rows")
            for lowered in (one.summary[:1].lower() + one.summary[1:],)
        ),
    ),
)

ASKING = replace(
    SPEC,
    what="a spec",
    fields=tuple(
        replace(
            one,
            shape=Either(word=NAME, record=_ASKED_DATA),
            summary="The name of the owner's dataset file, and what is narrowed.",
            examples=("wages",),
        )
        if one.name == "data"
        else replace(
            one,
            shape=replace(
                _PRIVACY,
                fields=tuple(
                    _optional(part) if part.name == "unit" else part
                    for part in _PRIVACY.fields
                ),
            ),
        )
        if one.name == "privacy"
        else one
        for one in SPEC.fields
    ),
)
"""A spec of data that a dataset file declares."""

DATASET = Record(
    what="a dataset file",
    fields=(
        SPEC.fields[0],
        required(
            "dataset",
            NAME,
            "The name of the data: of this file, of the source, and in the ledger.",
            "wages",
        ),
        *_without(_DATA, "source"),
        required(
            "privacy",
            Record(
                what="the privacy promise",
                fields=_without(_PRIVACY, "epsilon", "delta"),
            ),
            "Who is protected, and what one unit may contribute at most.",
            {"unit": "person_id", "contributes": {"rows": 3, "groups": 1}},
        ),
        field(
            "cap",
            Record(
                what="the cap",
                fields=(
                    required(
                        "epsilon", POSITIVE, "The most that is ever spent on them.", 4
                    ),
                    field("delta", NUMBER, "The same of delta. 0 if absent.", 0),
                ),
            ),
            "The budget of the data; `dpql ledger open --dataset-file` takes it.",
            {"epsilon": 4},
        ),
    ),
)
"""What the owner of data declares once, for all specs."""
