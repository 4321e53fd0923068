"""What a spec may ask of an owner's data; each rule is tried in test_dataset."""

from __future__ import annotations

import pytest
from language.test_dataset import AGE, ASKING, NARROW, loaded

from dpql.errors import SpecError
from dpql.language import format_text, load_text
from dpql.language.source import examine
from dpql.model.spec import CategoryColumn, PrivateColumn, Spec


def test_what_narrows_is_taken() -> None:
    """Fewer rows, bounds on the grid, some keys, a smaller budget."""
    keys = "district: {type: category, keys: [west, north]}"
    columns = f"{AGE}\n    {keys}"
    text = ASKING.replace("data: wages\nprivacy:", NARROW.format(column=columns))
    text = text.replace(
        "epsilon: 1",
        "epsilon: 1/2\n  contributes: {rows: 1, groups: 2}\n  unit: person_id",
    )
    spec = loaded(text)
    age, district = spec.data.number("age"), spec.data.column("district")
    assert (18, 66) == (age.lower, age.upper)
    assert isinstance(district, CategoryColumn)
    assert ("west", "north") == district.keys
    assert (1, 2, None) == (
        spec.privacy.contributes.rows,
        spec.privacy.contributes.groups,
        spec.privacy.contributes.total,
    )


OWNER = """\
dpql: 1
dataset: flights
rows: {at_most: 500_000}
columns:
  carrier: {type: category, keys: [UA, AA]}
  plane: {type: category, keys: [1, 2], others: true}
  dest: {type: category, keys: private}
  city: {type: category, keys: private, others: true}
  when: {type: date, bounds: [2013-01-01, 2013-12-31], nulls: drop}
  left: {type: time, bounds: [2013-01-01, 2013-12-31], step: hour, nulls: drop}
  delay: {type: integer, bounds: [-60, 240], nulls: drop}
derived:
  late: delay > 15
  month: month(when)
privacy: {unit: row}
"""
ASKED = """\
dpql: 1
release: delays
purpose: Late flights.
data:
  dataset: flights
  columns:
    COLUMN
  derived:
    DERIVED
privacy: {epsilon: 1}
statistics:
  late: {count: rows, where: late and very, by: [month], spend: {share: 1}}
"""


def within(column: str, derived: str = "very: late and delay > 60") -> Spec:
    """Return the meaning of a spec within the owner's flights."""
    text = ASKED.replace("COLUMN", column).replace("DERIVED", derived)
    return load_text(
        text, form="yaml", find=lambda name: examine(OWNER, f"{name}.yaml")
    )


def test_derived_columns_of_the_owner_may_be_used_and_added_to() -> None:
    """Those of the owner come first; narrower bounds narrow what follows from them."""
    spec = within("when: {type: date, bounds: [2013-02-01, 2013-03-01], nulls: drop}")
    assert ["late", "month", "very"] == [one.name for one in spec.data.derived]
    assert ("2013-02", "2013-03") == spec.data.category("month").keys


@pytest.mark.parametrize(
    "column",
    [
        "plane: {type: category, keys: [1, 2], others: true}",
        "plane: {type: category, keys: [2], others: true}",
        "plane: {type: category, keys: [2]}",
        "dest: {type: category, keys: private}",
        "dest: {type: category, keys: [JFK, BOS]}",
        "dest: {type: category, keys: 1..3}",
        "city: {type: category, keys: private}",
        "city: {type: category, keys: private, others: true}",
        "city: {type: category, keys: [New York], others: true}",
    ],
)
def test_keys_that_are_private_may_be_any(column: str) -> None:
    """And everything else need not be counted."""
    name, _, declared = column.partition(": ")
    found = within(column).data.column(name)
    assert isinstance(found, CategoryColumn | PrivateColumn)
    assert ("others" in declared) == found.others
    assert ("private" in declared) == isinstance(found, PrivateColumn)


TIME = "left: {type: time, bounds: [FIRST, 2013-03-01], step: hour, nulls: drop}"


@pytest.mark.parametrize(
    ("column", "derived", "expected"),
    [
        (
            "when: {type: date, bounds: [2012-02-01, 2013-03-01], nulls: drop}",
            "",
            "its bounds are [2013-01-01, 2013-12-31]",
        ),
        (
            TIME.replace("FIRST", "2012-12-31"),
            "",
            "its bounds are [2013-01-01 00:00, 2013-12-31 00:00]",
        ),
        (TIME.replace("FIRST", "2013-02-01 00:30"), "", "steps of 3600"),
        (
            TIME.replace("FIRST", "2013-02-01").replace("hour", "minute"),
            "",
            "more than bounds",
        ),
        ("late: {type: boolean, nulls: drop}", "", "declares no column `late`"),
        ("carrier: {type: category, keys: private}", "", "its keys are declared"),
        (
            "carrier: {type: category, keys: [UA], others: true}",
            "",
            "it counts what is none of its keys",
        ),
        (
            "dest: {type: category, keys: private, others: true}",
            "",
            "it counts what is none of its keys",
        ),
        ("plane: {type: category, keys: [1, 3]}", "", "`3` is no key of it"),
        ('plane: {type: category, keys: ["1"]}', "", "its keys are numbers"),
        ("dest: {type: id}", "", "its type is another"),
        ("city: {type: boolean, nulls: drop}", "", "its type is another"),
        (
            TIME.replace("FIRST", "2013-02-01"),
            "late: delay > 60",
            "derives `late` already",
        ),
    ],
)
def test_what_widens_is_refused(column: str, derived: str, expected: str) -> None:
    """Beyond the bounds, off the grid, or in place of the owner's column."""
    with pytest.raises(SpecError, match="DPQL345") as caught:
        within(column, derived or "very: delay > 60")
    assert expected in str(caught.value)


def test_both_forms_of_a_spec_within_a_dataset_mean_the_same() -> None:
    """Narrowed and derived columns stand below the name of the data."""
    when = "when: {type: date, bounds: [2013-02-01, 2013-03-01], nulls: drop}"
    text = ASKED.replace("COLUMN", when).replace("DERIVED", "very: delay > 60")
    there = format_text(text, form="yaml", to="dpql")
    assert (
        "from flights\n  when  date [2013-02-01, 2013-03-01], drop nulls\n"
        "  very  := delay > 60\n"
    ) in there
    find = lambda name: examine(OWNER, f"{name}.yaml")  # noqa: E731  as in `within`
    assert within(when, "very: delay > 60") == load_text(there, form="dpql", find=find)
