"""A promised number of rows: where it is said, and where it is contradicted."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction

import pytest
import spec_text
from reports.sample_releases import make_outcome

from dpql.model.plan import PartsOfOne, Plan
from dpql.model.promised_rows import (
    condition_words,
    contradiction,
    contradictions_words,
)
from dpql.model.release import Outcome, Result
from dpql.planner import plan
from dpql.statistics.reading import reader_of


def promising(at_least: str | None = "100", **options: str) -> Plan:
    """Return a plan of a mean by two districts, whose error rests on a promise."""
    mean = {"mean": "age", "by": "[district]", "spend": "{share: 1}"}
    return plan(
        spec_text.make_spec(
            {
                "district": "{type: category, keys: [north, 'so, uth']}",
                "age": spec_text.integer(0, 100, "drop"),
            },
            {"middle": mean | ({} if at_least is None else {"at_least": at_least})},
            **options,
        )
    )


def counting(made: Plan, *counts: int) -> Outcome:
    """Return a release of the plan with these noisy counts, one for each group."""
    outcome = make_outcome(made)
    (result,) = outcome.results
    step = result.step
    values = []
    for value, count in zip(result.values, counts, strict=True):
        noisy = (Fraction(count), *value.noisy[1:])
        if isinstance(step.readout, PartsOfOne):
            noisy = (count * step.readout.per_row, Fraction(0))
        reading = reader_of(step)(noisy)
        values.append(
            replace(
                value,
                noisy=noisy,
                value=reading.value,
                lower=reading.lower,
                upper=reading.upper,
            )
        )
    return replace(outcome, results=(Result(step=step, values=tuple(values)),))


def test_the_condition_is_said_where_accuracy_rests_on_it() -> None:
    """With the promise the accuracy has a condition; without, there is none."""
    (step,) = promising().steps
    assert "if every group has at least 100 rows" == condition_words(step)
    (step,) = promising("1").steps
    assert "if every group has at least 1 row" == condition_words(step)
    (step,) = promising(None).steps
    assert condition_words(step) is None


@pytest.mark.parametrize(
    ("noisy", "marked"), [(0, True), (87, True), (88, False), (100, False)]
)
def test_a_count_contradicts_only_beyond_its_noise(noisy: int, *, marked: bool) -> None:
    """At exactly the half-width below the promise the count may still keep it."""
    mark = contradiction(100, Fraction(noisy), Fraction(12))
    assert marked == (mark is not None)
    assert contradiction(None, Fraction(noisy), Fraction(12)) is None


def test_a_mark_says_what_does_not_hold() -> None:
    """It gives the promise, the noisy count and its width, and what still holds."""
    assert (
        "fewer than the promised 5 000 rows here (noisy count 37 ± 12): the stated ± "
        "does not hold, the interval does"
    ) == contradiction(5_000, Fraction(37), Fraction(12))
    assert contradictions_words(2, 40, 5_000).startswith("2 of 40 groups: ")


def test_a_true_promise_is_rarely_marked() -> None:
    """The rule misses with the level of the count: its noise must reach so far."""
    (step,) = promising().steps
    count = step.parts[0]
    lowest = Fraction(100) - count.half_width
    assert contradiction(100, lowest, count.half_width) is None
    assert contradiction(100, lowest - 1, count.half_width) is not None
    assert count.level < step.alpha


def test_a_printed_release_says_and_marks_it() -> None:
    """`print(release)` and the notebook show the condition and the group."""
    outcome = counting(promising(), 500, 3)
    for text in (str(outcome), outcome._repr_html_()):
        assert "if every group has at least 100 rows" in text
        assert 1 == text.count("fewer than the promised 100 rows here (noisy count 3 ±")
        assert "middle" in text
    assert 'district="so, uth": fewer' in str(outcome)


def test_the_table_notes_the_groups() -> None:
    """A row of the csv says so, and no other row says anything."""
    outcome = counting(promising(), 500, 3)
    rows = list(csv.DictReader(io.StringIO(outcome.to_csv())))
    notes = {row["district"]: row["note"] for row in rows}
    assert notes["so, uth"].startswith("fewer than the promised")
    assert [""] == sorted({note for key, note in notes.items() if key != "so, uth"})
