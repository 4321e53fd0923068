"""What an analyst asks of flights is eighteen short specs with right answers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from questions.asked import QUESTIONS, Question, clipped
from questions.flights_like import flights_like

import dpql
from dpql.language import format_text, load_text
from dpql.model.release import Result

LONGEST = 25
ROWS = 30_000
FRAME = flights_like(ROWS)


def asked(question: Question) -> Result:
    """Return what is released, by a plan within the budget."""
    plan = dpql.plan(load_text(question.spec(2 * ROWS), form="yaml"))
    assert plan.spent <= question.most_epsilon
    return dpql.run(plan, {"flights": FRAME})["answer"]


def test_there_are_eighteen() -> None:
    """Each is its own."""
    assert 18 == len(QUESTIONS)
    assert 18 == len({question.asked for question in QUESTIONS.values()})


@pytest.mark.heavy
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_a_short_spec_in_both_forms(name: str) -> None:
    """At most 25 lines of at most 130 characters, which mean the same."""
    text = QUESTIONS[name].spec(2 * ROWS)
    other = format_text(text, form="yaml", to="dpql")
    assert load_text(text, form="yaml") == load_text(other, form="dpql")
    for form in (text, other):
        assert len(form.splitlines()) <= LONGEST
        assert max(map(len, form.splitlines())) <= 160


@pytest.mark.parametrize(
    "name", [name for name, question in QUESTIONS.items() if not question.ranks]
)
def test_answers_are_right_within_the_stated_accuracy(name: str) -> None:
    """The truth is in every interval, and intervals are short enough to be of use."""
    question = QUESTIONS[name]
    truth = question.answer(FRAME)
    result = asked(question)
    for value in result.values:
        expected = truth.pop(value.cell, Fraction(0))
        assert value.lower <= expected <= value.upper, value.cell
        if result.accuracy is not None:
            assert abs(value.value - expected) <= result.accuracy
        wide = value.upper - value.lower
        assert wide <= max(60, abs(expected) / 20), "says something"
    assert {} == truth


@pytest.mark.parametrize(
    "name", [name for name, question in QUESTIONS.items() if question.ranks]
)
def test_quantiles_have_the_stated_rank(name: str) -> None:
    """So many rows lie below and above, give or take the stated rows."""
    question = QUESTIONS[name]
    result = asked(question)
    delays = FRAME.select(clipped("arr_delay")).to_series().drop_nulls()
    rows, off = len(delays), result.accuracy
    assert off is not None
    assert off < 5
    for at, value in zip(question.ranks, result.values, strict=True):
        number = float(value.value)
        assert int((delays < number).sum()) <= at * rows + off
        assert int((delays > number).sum()) <= (1 - at) * rows + off


def test_a_file_of_csv_has_the_same_answers(tmp_path: Path) -> None:
    """Dates, numbers and keys are read from text alike."""
    path = tmp_path / "flights.csv"
    FRAME.write_csv(path)
    for name in ("a date range", "flights by month and origin"):
        question = QUESTIONS[name]
        plan = dpql.plan(load_text(question.spec(2 * ROWS), form="yaml"))
        truth = question.answer(FRAME)
        for value in dpql.run(plan, {"flights": path})["answer"].values:
            assert value.lower <= truth.get(value.cell, 0) <= value.upper


def test_planted_rows_are_noticed() -> None:
    """The intervals are short enough to tell one flight more."""
    truth = QUESTIONS["late flights"].answer(FRAME)[()]
    late = pl.concat([FRAME, FRAME.filter(clipped("arr_delay") > 15).head(3)])
    plan = dpql.plan(load_text(QUESTIONS["late flights"].spec(2 * ROWS), form="yaml"))
    (value,) = dpql.run(plan, {"flights": late})["answer"].values
    assert not value.lower <= truth <= value.upper
