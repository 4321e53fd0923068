"""Tidy tables: a row a value, a column a key, numbers as they were released."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction

import pytest
from reports.sample_releases import make_outcome
from spec_text import make_spec

from dpql.model.release import Outcome
from dpql.model.release_tables import (
    NUMBERS,
    all_key_columns,
    inert,
    key_columns,
    noisy_value,
)
from dpql.planner import plan

COLUMNS = {
    "region": "{type: category, keys: [north, '=1+1', '-5', 'a;@b', 'say \"x\"']}",
    "value": "{type: category, keys: [a, b]}",
    "by_value": "{type: category, keys: ['+c', d]}",
    "wage": "{type: integer, bounds: [0, 100], nulls: drop}",
}
SHARE = {"spend": "{share: 1}"}


def _outcome() -> Outcome:
    return make_outcome(
        plan(
            make_spec(
                COLUMNS,
                {
                    "rows": {"count": "rows", "by": "[region]", **SHARE},
                    "both": {"count": "rows", "by": "[value, by_value]", **SHARE},
                    "mean": {"mean": "wage", **SHARE},
                    "ages": {
                        "histogram": "wage",
                        "bins": "[0, 50, 100]",
                        "by": "[region]",
                        **SHARE,
                    },
                    "rank": {
                        "quantile": "wage",
                        "at": "[1/4, 1/2]",
                        "by": "[region]",
                        **SHARE,
                    },
                },
            )
        )
    )


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_of_all_statistics_has_a_column_for_every_key() -> None:
    """In the order of the plan; a key of another statistic is empty."""
    made = _outcome()
    rows = _rows(made.to_csv())
    keys = ["region", "by_by_value", "by_value", "wage", "at"]
    assert ["statistic", *keys, *NUMBERS] == list(rows[0])
    assert tuple(keys) == all_key_columns(made.plan.steps)
    assert sum(len(result.values) for result in made.results) == len(rows)
    both = [row for row in rows if row["statistic"] == "both"]
    assert [("a", "'+c"), ("a", "d"), ("b", "'+c"), ("b", "d")] == [
        (row["by_by_value"], row["by_value"]) for row in both
    ]
    assert {""} == {row["region"] for row in both}


def test_the_table_of_a_statistic_has_its_own_keys() -> None:
    """The same numbers as in the table of all."""
    made = _outcome()
    rows = _rows(made.to_csv())
    for result in made.results:
        own = _rows(result.to_csv())
        assert [*key_columns(result.step), *NUMBERS] == list(own[0])
        same = [row for row in rows if row["statistic"] == result.name]
        assert own == [{name: row[name] for name in own[0]} for row in same]
        assert result.to_polars().columns == list(own[0])


def test_noisy_is_the_value_before_it_was_clamped() -> None:
    """Of counts and sums; empty where several noisy numbers make the value."""
    made = _outcome()
    count = made.results[0]
    below = replace(count.values[0], noisy=(Fraction(-7),), value=Fraction(0))
    changed = replace(count, values=(below, *count.values[1:]))
    assert ("0", "-7") == tuple(
        _rows(changed.to_csv())[0][name] for name in ("value", "noisy")
    )
    empty = [bool(row["noisy"]) for row in _rows(made.to_csv())]
    wanted = [result.name in ("rows", "both", "ages") for result in made.results]
    assert empty == [
        known
        for result, known in zip(made.results, wanted, strict=True)
        for _ in result.values
    ]
    assert None is noisy_value(made.results[2], made.results[2].values[0])


def test_ranks_are_not_intervals() -> None:
    """Quantiles have values and quantiles, but neither accuracy nor interval."""
    rows = [row for row in _rows(_outcome().to_csv()) if row["statistic"] == "rank"]
    assert {"1/4", "1/2"} == {row["at"] for row in rows}
    for name in ("noisy", "lower", "upper", "accuracy"):
        assert {""} == {row[name] for row in rows}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("north", "north"),
        ("-5", "-5"),
        ("-5.25", "-5.25"),
        ("12", "12"),
        ("=1+1", "'=1+1"),
        ("+x", "'+x"),
        ("-x", "'-x"),
        ("@a", "'@a"),
        ("\t=1", "'\t=1"),
        (" =1", "' =1"),
        ("\uff1d1", "'\uff1d1"),
        ("a;=1", "a;'=1"),
        ("a; @b", "a;' @b"),
        ('a;"=1', "a;'\"=1"),
        ('"=1', "'\"=1"),
        ("a-b=c", "a-b=c"),
        ("[0, 50)", "[0, 50)"),
        ("", ""),
    ],
)
def test_no_text_is_a_formula(text: str, expected: str) -> None:
    """Numbers stay numbers; an apostrophe comes before anything else that might be."""
    assert expected == inert(text)


def test_every_line_reads_back_whatever_the_keys_are() -> None:
    """Quotes and separators of keys stay in their cells."""
    rows = [row for row in _rows(_outcome().to_csv()) if row["statistic"] == "rows"]
    assert ["north", "'=1+1", "-5", "a;'@b", 'say "x"'] == [r["region"] for r in rows]
