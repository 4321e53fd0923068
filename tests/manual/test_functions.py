"""Every function has a page, and its example is an expression."""

from __future__ import annotations

import pytest

from dpql.language import load_text
from dpql.language.functions import FUNCTIONS as KNOWN
from dpql.manual.functions import FUNCTIONS

SPEC = """\
dpql: 1
release: flights
purpose: The examples of the manual.
data:
  source: flights
  rows: {at_most: 500_000}
  columns:
    carrier:   {type: category, keys: [UA, AA, DL]}
    diverted:  {type: boolean, nulls: {as: false}}
    flown:     {type: date, bounds: [2013-01-01, 2013-12-31], nulls: drop}
    scheduled: {type: time, bounds: [2013-01-01, 2013-12-31], step: hour, nulls: drop}
    arr_delay: {type: float, bounds: [-60, 240], unit: min, nulls: drop}
    dep_delay: {type: float, bounds: [-60, 240], unit: min, nulls: drop}
    air_time:  {type: integer, bounds: [1, 700], unit: min, nulls: drop}
    distance:  {type: integer, bounds: [1, 5_000], unit: mile, nulls: {as: 1_000}}
  derived:
    x: "EXAMPLE"
privacy: {unit: row, epsilon: 1}
statistics:
  rows: {count: rows, where: is_null(x), spend: {share: 1}}
"""


def test_every_function_has_a_page() -> None:
    """What the language reads is explained, and written alike."""
    assert set() == KNOWN.keys() - FUNCTIONS.keys()
    assert {name: one.form for name, one in KNOWN.items()} == {
        name: FUNCTIONS[name].form for name in KNOWN
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_are_expressions_of_the_function(name: str) -> None:
    """An example has a type, and its function in it."""
    example = FUNCTIONS[name].example
    spec = load_text(SPEC.replace("EXAMPLE", example), form="yaml")
    assert ["x"] == [column.name for column in spec.data.derived]
    assert name in example or name == "=="
