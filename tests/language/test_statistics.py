"""The meaning of statistics: what cannot be asked for is refused."""

from __future__ import annotations

import pytest
from language.diagnostics import cases, diagnose
from language.flights import faults, flights
from language.samples import KNOWN_N, REFERENCE

from dpql.language import format_text, load_text, print_spec


@pytest.mark.parametrize(("right", "wrong", "expected"), cases("meaning"))
def test_impossible_specs_are_refused(right: str, wrong: str, expected: str) -> None:
    """Each impossible statement has its own answer."""
    assert right in REFERENCE
    assert expected in diagnose(REFERENCE.replace(right, wrong, 1))


@pytest.mark.parametrize(("right", "wrong", "expected"), cases("known_rows"))
def test_known_rows_have_rules_of_their_own(
    right: str, wrong: str, expected: str
) -> None:
    """What replace_one demands and forbids."""
    assert expected in diagnose(KNOWN_N.replace(right, wrong, 1))


def test_units_of_several_rows_have_no_public_count() -> None:
    """Of their rows some are dropped, so `at_least` says something."""
    units = KNOWN_N.replace(
        "unit: row", "unit: p\n  contributes: {rows: 2, groups: 1}"
    ).replace("columns:\n", "columns:\n    p: {type: id}\n")
    promised = units.replace("covariance: [age, income]", "mean: income").replace(
        "variance: age\n", "variance: age\n    at_least: 9\n"
    )
    spec = load_text(promised, form="yaml")
    assert [None, 9] == [statistic.at_least for statistic in spec.statistics]


def test_a_width_makes_equal_bins_over_the_bounds() -> None:
    """It means the same edges written out, in both forms, and is kept by fmt."""
    wide = REFERENCE.replace("bins: [16, 25, 65, 100]", "width: 10.5")
    edges = REFERENCE.replace(
        "bins: [16, 25, 65, 100]",
        "bins: [16, 26.5, 37, 47.5, 58, 68.5, 79, 89.5, 100]",
    )
    text = format_text(wide, form="yaml", to="dpql")
    assert "ages      = histogram age width 10.5 using geometric" in text
    spec = load_text(edges, form="yaml")
    for form, source in (("yaml", wide), ("dpql", text)):
        assert spec == load_text(source, form=form)
        assert source == format_text(source, form=form)
        assert spec == load_text(print_spec(spec, form), form=form)


@pytest.mark.parametrize(
    ("statistic", "hint"),
    [
        ("mean: when", "derive a number from it: `when - 2013-01-01`"),
        ("sum: left", "derive a number from it: `left - 2013-01-01 00:00`"),
        ("count: rows, by: [when]", "derive a part of it: `month(when)`"),
        (
            "count: rows, by: [distance]",
            "derive bands: `bands(distance, [0, 10, 100])`",
        ),
        ("histogram: when", "derive a part of it: `month(when)`"),
    ],
)
def test_a_column_of_the_wrong_type_can_become_another(
    statistic: str, hint: str
) -> None:
    """Beside columns that would do, the hint says what to derive."""
    text = flights()
    text = text[: text.index("  n: {")] + f"  n: {{{statistic}, spend: {{share: 1}}}}\n"
    (fault,) = faults(text)
    assert fault.code == "DPQL302"
    assert str(fault.hint).endswith(f", or {hint}")
