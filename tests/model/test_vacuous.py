"""Values whose interval is the whole range are said to say nothing."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from fractions import Fraction

import pytest
from reports.sample_releases import make_outcome, small_plan

from dpql.model.plan import Step
from dpql.model.release import Release, Value
from dpql.model.vacuous import NOTE, is_vacuous, promises_nothing, vacuous_words

PLAN = small_plan()
(STEP,) = PLAN.steps


def value(lower: Fraction, upper: Fraction) -> Value:
    """Return a value with that interval."""
    return Value(cell=("a",), noisy=(lower,), value=lower, lower=lower, upper=upper)


@pytest.mark.parametrize(
    ("step", "lower", "upper", "expected"),
    [
        (STEP, STEP.lower, STEP.upper, True),
        (STEP, STEP.lower - 1, STEP.upper + 1, True),
        (STEP, STEP.lower + 1, STEP.upper, False),
        (STEP, STEP.lower, STEP.upper - 1, False),
        (replace(STEP, upper=STEP.lower), STEP.lower, STEP.lower, False),
    ],
)
def test_an_interval_that_holds_everything_says_nothing(
    step: Step, lower: Fraction, upper: Fraction, *, expected: bool
) -> None:
    """Both ends reach the range; a range of one value is known anyway."""
    assert expected is is_vacuous(step, value(lower, upper))


def test_how_many_say_nothing_is_said_in_words() -> None:
    """None, one of many, some, all, and a single number."""
    assert vacuous_words(0, 5) is None
    assert NOTE == vacuous_words(1, 1)
    assert (vacuous_words(1, 9) or "").startswith("1 of 9 values says nothing")
    assert (vacuous_words(3, 9) or "").startswith("3 of 9 values say nothing")
    assert (vacuous_words(9, 9) or "").startswith("all 9 values say nothing")


def test_it_is_said_wherever_the_numbers_stand() -> None:
    """Text, notebook, csv and frame say which value it is; the others are clean."""
    outcome = make_outcome(PLAN)
    first, second = outcome["total"].values
    empty = replace(first, lower=STEP.lower, upper=STEP.upper)
    result = replace(outcome["total"], values=(empty, second))
    made = Release(plan=PLAN, results=(result,), coins="os.urandom", engine="polars")
    for text in (str(made), made._repr_html_(), str(result), result._repr_html_()):
        assert "1 of 2 values says nothing" in text
    rows = list(csv.DictReader(io.StringIO(made.to_csv())))
    assert [NOTE, ""] == [row["note"] for row in rows]
    assert [NOTE, None] == made.to_polars()["note"].to_list()


@pytest.mark.parametrize(("share", "expected"), [("1/3", False), ("1/2", True)])
def test_a_promise_may_be_worth_nothing(share: str, *, expected: bool) -> None:
    """An error of half the range is that of naming its middle."""
    wide = Fraction(share) * (STEP.upper - STEP.lower)
    assert expected is promises_nothing(replace(STEP, accuracy=wide))
    assert not promises_nothing(replace(STEP, accuracy=None))
