"""A statistic gives the key of a spec that asks for it."""

from __future__ import annotations

import pytest

from dpql.model.shape import Choice, ListOf
from dpql.statistics import STATISTICS
from dpql.statistics.statistic import COLUMN, CONDITION, Statistic


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
def test_its_key_has_the_shape_of_its_columns(statistic: Statistic) -> None:
    """No column is `rows` or `units`, one is a name, and more are a list of so many."""
    field = statistic.field
    count = statistic.columns
    assert (statistic.keyword, statistic.summary) == (field.name, field.summary)
    match count:
        case 0 if statistic.takes_condition:
            assert CONDITION == field.shape
            assert (statistic.example,) == field.examples
        case 0:
            words = (statistic.subject,)
            assert Choice(what="what is counted", words=words) == field.shape
            assert words == field.examples
        case 1:
            assert COLUMN == field.shape
            assert (statistic.example,) == field.examples
        case _:
            assert ListOf(item=COLUMN, shortest=count, longest=count) == field.shape
            assert ([*statistic.example],) == field.examples


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
def test_its_phrase_names_its_columns(statistic: Statistic) -> None:
    """Each column once, in order."""
    for phrase in filter(None, (statistic.phrase, statistic.public_phrase)):
        for column in range(statistic.columns):
            assert f"{{{column}}}" in phrase
        assert statistic.takes_condition == ("({condition})" in phrase)
