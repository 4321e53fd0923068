"""The meaning of statistics: what cannot be asked for is refused."""

from __future__ import annotations

import pytest
from language.samples import KNOWN_N, REFERENCE

from dpql.diagnostics import render_concise
from dpql.errors import SpecError
from dpql.language import load_text


def diagnose(text: str, form: str = "yaml") -> str:
    """Return the faults of a text, one to a line."""
    with pytest.raises(SpecError) as caught:
        load_text(text, source="f", form=form)
    return render_concise(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("unit: person_id", "unit: row", "DPQL315 `contributes` says nothing here"),
        ("  contributes: {rows: 3, groups: 1}\n", "", "DPQL315 nothing says how much"),
        ("unit: person_id", "unit: wage", "DPQL302 `wage` is of type decimal"),
        ("spend: {share: 2}", "spend: {epsilon: 2}", "more than the total of 1"),
        ("    bins: [16, 25, 65, 100]\n", "", "DPQL306 the histogram of the integer"),
        ("histogram: age", "histogram: district", "its keys are the bins"),
        ("bins: [16, 25", "bins: [15, 25", "outside the bounds of `age`"),
        ("bounds: [16, 100]", "bounds: [16, 100.5]", "an integer column has whole"),
        ("step: 0.01", "step: -1", "`step` must be above 0"),
        ("age >= 18", "person_id == 18", "`person_id` is of type id"),
        ("district == north", "district > north", "its keys have no order"),
        ("age >= 18", "age >= old", "`old` is not a number"),
        ("age >= 18", "age in [18, 18.0]", "`18.0` is twice in the list"),
        ("age >= 18", "age == null", "DPQL124 `null` is a word"),
        ("at_least: 500", "at_least: 3_000_000", "not from 1 to the declared rows"),
        ("count: rows", "avg: wage", "did you mean `mean`?"),
        ("type: integer", "type: date", "keep a number such as the year"),
        ("type: integer", "type: bool", "`keys: [true, false]`"),
        ("count: rows", "median: wage", "`histogram` with `bins` shows"),
        ("gamma: 1e-9", "gamma: 2", "DPQL312 `gamma` is 2"),
        ("mean: wage", "mean: person_id", "so it has no mean"),
    ],
)
def test_impossible_specs_are_refused(right: str, wrong: str, expected: str) -> None:
    """Each impossible statement has its own answer."""
    assert right in REFERENCE
    assert expected in diagnose(REFERENCE.replace(right, wrong, 1))


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("exactly: 100", "at_most: 100", "DPQL309 `replace_one` needs"),
        ("exactly: 100", "exactly: 1", "variance needs at least 2 rows"),
        ("{as: 50}", "drop", "such as `nulls: {as: 58}`"),
        (
            "covariance: [age, income]",
            "covariance: [age, age]",
            "twice in `covariance`",
        ),
        (
            "covariance: [age, income]\n",
            "covariance: [age, income]\n    where: age > 3\n",
            "DPQL318 covariance needs a public number of rows",
        ),
        (
            "variance: age\n",
            "variance: age\n    at_least: 9\n",
            "the number of rows is public",
        ),
    ],
)
def test_known_rows_have_rules_of_their_own(
    right: str, wrong: str, expected: str
) -> None:
    """What replace_one demands and forbids."""
    assert expected in diagnose(KNOWN_N.replace(right, wrong, 1))


def test_units_of_several_rows_have_no_public_count() -> None:
    """Of their rows some are dropped: no covariance, and `at_least` says something."""
    units = KNOWN_N.replace(
        "unit: row", "unit: p\n  contributes: {rows: 2, groups: 1}"
    ).replace("columns:\n", "columns:\n    p: {type: id}\n")
    found = diagnose(units)
    assert "DPQL318 covariance needs a public number of rows" in found
    assert "`unit: row`" in found
    promised = units.replace("covariance: [age, income]", "mean: income").replace(
        "variance: age\n", "variance: age\n    at_least: 9\n"
    )
    spec = load_text(promised, form="yaml")
    assert [None, 9] == [statistic.at_least for statistic in spec.statistics]
