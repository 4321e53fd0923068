"""What an author is told."""

from __future__ import annotations

import pytest
from language.samples import KNOWN_N, REFERENCE

from dpql.diagnostics import render_concise
from dpql.errors import SpecError
from dpql.language import format_text, load_text


def told(text: str, form: str = "yaml") -> str:
    """Return the faults of a text, one to a line."""
    with pytest.raises(SpecError) as caught:
        load_text(text, source="f", form=form)
    return render_concise(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        (
            "bounds: [16, 100]",
            "bounds: [100, 0]",
            (
                "f:10:40: DPQL303 the lower bound 100 is not below the upper bound 0 "
                "(write `bounds: [0, 100]`)"
            ),
        ),
        (
            "epsilon: 1.0",
            "epsilon: -1",
            (
                "f:16:12: DPQL310 `epsilon` is -1, and must be above 0 and at most "
                "1000 (write a total such as `epsilon: 1.0`; smaller is more private)"
            ),
        ),
        (
            "epsilon: 1.0",
            "epsilon: 0",
            (
                "f:16:12: DPQL310 `epsilon` is 0, and must be above 0 and at most 1000 "
                "(write a total such as `epsilon: 1.0`; smaller is more private)"
            ),
        ),
        (
            "mean: wage",
            "mean: wgae",
            "f:25:11: DPQL301 no column `wgae` in data `wages` (did you mean `wage`?)",
        ),
        (
            "bounds: [0, 20_000], ",
            "",
            "f:11:5: DPQL201 `wage` has no `bounds` (add `bounds: [16, 100]`)",
        ),
        (
            "bounds: [0, 20_000]",
            "bounds: [0, .nan]",
            (
                "f:11:44: DPQL205 an item of `bounds` is `.nan`, which is not a number "
                "(write it like `250`, `0.05`, `1e-9`, `2_000_000` or `1/3`)"
            ),
        ),
        (
            "epsilon: 1.0",
            "epsilon: 1.0\n  epsilon: 10.0",
            (
                "f:17:3: DPQL103 `epsilon` is given twice "
                "(first given on line 16; keep one)"
            ),
        ),
    ],
)
def test_common_mistakes_are_answered(right: str, wrong: str, expected: str) -> None:
    """Each has its place, its code, and what to write instead."""
    assert expected == told(REFERENCE.replace(right, wrong, 1))


def test_all_faults_come_at_once_and_in_order() -> None:
    """Faults of shape and meaning in different parts are reported together."""
    text = (
        REFERENCE.replace("type: id", "type: di")
        .replace("epsilon: 1.0", "epsilon: 0")
        .replace("mean: wage", "mean: wages")
        .replace("age between", "agee between")
    )
    codes = [line.split()[1] for line in told(text).split("\n")]
    assert codes == ["DPQL209", "DPQL302", "DPQL310", "DPQL301", "DPQL301"]


def test_one_mistake_is_reported_once() -> None:
    """A column whose declaration is at fault is still a column."""
    lines = told(REFERENCE.replace("bounds: [16, 100]", "bounds: [16]")).split("\n")
    assert len(lines) == 1


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
    assert expected in told(REFERENCE.replace(right, wrong, 1))


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
    assert expected in told(KNOWN_N.replace(right, wrong, 1))


def test_units_of_several_rows_have_no_public_count() -> None:
    """Of their rows some are dropped: no covariance, and `at_least` says something."""
    units = KNOWN_N.replace(
        "unit: row", "unit: p\n  contributes: {rows: 2, groups: 1}"
    ).replace("columns:\n", "columns:\n    p: {type: id}\n")
    found = told(units)
    assert "DPQL318 covariance needs a public number of rows" in found
    assert "`unit: row`" in found
    promised = units.replace("covariance: [age, income]", "mean: income").replace(
        "variance: age\n", "variance: age\n    at_least: 9\n"
    )
    spec = load_text(promised, form="yaml")
    assert [None, 9] == [statistic.at_least for statistic in spec.statistics]


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("age >= 18", "age = 18", "write `==`"),
        ("age >= 18", "age <> 18", "write `!=`"),
        ("age >= 18", "18 <= age", "put the column first"),
        ("age >= 18 and", "age >= 18 AND", "write it in small letters"),
        ("age >= 18", "age not in [18]", "write `not` before the column"),
        ("age >= 18", "age in (18, 19)", "write the list in brackets"),
        ("mean wage", "AVG(wage)", "write `mean wage`, without parentheses"),
        ("mean wage", "avg wage", "did you mean `mean`?"),
        ("count rows", "count(*)", "write `count rows`"),
        ("rows by district", "rows GROUP BY district", "write `by district`"),
        ("headcount =", "SELECT count(", "write `name = mean wage"),
        ("spend share 2", "spend share 2;", "delete it"),
        ("default alpha", "default: alpha", "without colons"),
    ],
)
def test_known_mistakes_get_a_hint(right: str, wrong: str, expected: str) -> None:
    """SQL, Python and YAML are recognised where the parser stops."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    assert right in text
    assert expected in told(text.replace(right, wrong, 1), "dpql")


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("{type: id}", "{}", "`person_id` has no `type`"),
        ("{type: id}", "5", "DPQL203 `person_id` is not a block of keys"),
        ("{alpha: 0.05, gamma: 1e-9}", "{}", "DPQL210 `defaults` has no entries"),
        ("by: [district]", "by: [a, b, c, d, e, f, g, h, i]", "at most 8 belong"),
        ("by: [district]", "by: []", "at least 1 belong"),
        ("mean: wage", "mean: [wage]", "`mean` is a list, where a column name belongs"),
        ("spend: {share: 2}", "spend: {}", "has none of `share`, `epsilon` or"),
        ("spend: {share: 2}", "spend: all", "`spend` is not a block of keys"),
        ("nulls: {as: 0}", "nulls: {as: [0]}", "`as` is a list, where a number"),
        ("nulls: {as: 0}", "nulls: keep", "`keep` is not a rule for nulls"),
        ("[north,", "[nor\tth,", "DPQL208 `nor th` is not a key (a key has no tabs"),
        ("step: 0.01", "step: 50_000", "for example `bounds: [0, ...]`"),
    ],
)
def test_poor_shapes_are_told_in_plain_words(
    right: str, wrong: str, expected: str
) -> None:
    """Each poor shape is named, never by a schema's own message."""
    assert right in REFERENCE
    assert expected in told(REFERENCE.replace(right, wrong, 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "DPQL108 the file is empty"),
        ("# only a comment\n", "DPQL108 the file is empty"),
        ("just words", "DPQL203 the spec is not a block of keys"),
        ("- a\n- b\n", "DPQL203 the spec is not a block of keys"),
        (
            REFERENCE.split("statistics:", maxsplit=1)[0] + "statistics: {}\n",
            "DPQL210 `statistics` has no entries",
        ),
    ],
)
def test_texts_that_are_no_spec_are_refused(text: str, expected: str) -> None:
    """An empty file and a list are answered too."""
    assert expected in told(text)


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        (' "Monthly wage tables by district."', "", "the spec has no `purpose`"),
        (" with at most 2_000_000 rows", "", "`data` has no `rows`"),
        ("default alpha", "default alpha 1/2, alpha", "DPQL103 `alpha` is given twice"),
        (" spend share 2", "", "DPQL201 `wage_mean` has no `spend`"),
        ("spend share 2", "spend share 2 spend share 1", "`spend` is given twice"),
        ("age >= 18", "\n or ".join(["not " * 40 + "age >= 18"] * 2), "DPQL125"),
    ],
)
def test_poor_query_texts_are_told_in_plain_words(
    right: str, wrong: str, expected: str
) -> None:
    """The text form shares the checks of YAML."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    assert right in text
    assert expected in told(text.replace(right, wrong, 1), "dpql")


def test_faults_of_the_text_form_have_places_too() -> None:
    """The caret is as good in query text as in YAML."""
    text = format_text(REFERENCE, form="yaml", to="dpql").replace("== north", "== nort")
    expected = (
        "f:12:55: DPQL319 `nort` is not a key of `district` (did you mean `north`?)"
    )
    assert expected == told(text, "dpql")


def test_later_stages_can_point_at_the_text() -> None:
    """The spec knows where its parts were written, without being another value."""
    spec = load_text(REFERENCE, source="f", form="yaml")
    place = spec.spans.span("statistics", "wage_mean", "spend", "share")
    assert place is not None
    assert (place.line, place.column) == (28, 20)
    above = spec.spans.span("statistics", "wage_mean", "nothing")
    assert above is not None
    assert above.line == 24
    assert spec.spans.span("nothing") is None
