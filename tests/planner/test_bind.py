"""The first passes: grids, bounds, cells, integers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from language.flights import flights
from language.samples import KNOWN_N
from spec_text import ID, decimal_column, integer, make_spec

from dpql.errors import PlanFault
from dpql.language import load_text
from dpql.model.plan import Bound, Plan
from dpql.model.spec import DropNulls, NumberColumn, Spec
from dpql.planner import plan
from dpql.planner.bind import count_cells, is_known

KEYS = "{type: category, keys: [a, b, c]}"
SNAPPED = {"mechanism": "snapping"}
SHARE = {"spend": "{share: 1}"}


def spec_of(statistic: dict[str, str], **options: str) -> Spec:
    """Return a spec of one statistic over an integer column and two categories."""
    columns = {"p": ID, "x": integer(0, 10), "g": KEYS, "h": KEYS}
    return make_spec(columns, {"it": statistic | SHARE}, **options)


REPLACE = {"rows": "{exactly: 100}", "neighbours": "replace_one"}
UNIT = {"unit": "p", "contributes": "{rows: 3, groups: 5}"}
MANY = "{rows: 9, groups: 2}"
TOTAL = {"unit": "p", "contributes": "{rows: 3, groups: 5, total: 8}"}


@pytest.mark.parametrize(
    ("statistic", "cells"),
    [
        ({"mean": "x"}, 1),
        ({"mean": "x", "by": "[g]"}, 3),
        ({"mean": "x", "by": "[g, h]"}, 9),
        ({"histogram": "x", "bins": "[0, 5, 10]"}, 2),
        ({"histogram": "x", "bins": "[0, 5, 10]", "by": "[g]"}, 6),
        ({"histogram": "h"}, 3),
        ({"histogram": "h", "by": "[g]"}, 9),
    ],
)
def test_cells_are_the_product_of_keys_and_bins(
    statistic: dict[str, str], cells: int
) -> None:
    """Groups and bins multiply."""
    spec = spec_of(statistic)
    assert count_cells(spec, spec.statistics[0]) == cells
    assert plan(spec).steps[0].cells == cells


@pytest.mark.parametrize(
    ("statistic", "options", "known"),
    [
        ({"mean": "x"}, REPLACE, True),
        ({"mean": "x"}, REPLACE | UNIT, False),
        ({"sum": "x"}, REPLACE | UNIT | {"contributes": "{rows: 1, groups: 1}"}, False),
        ({"mean": "x"}, {}, False),
        ({"mean": "x", "where": "x > 2"}, REPLACE, False),
        ({"mean": "x", "by": "[g]"}, REPLACE, False),
        ({"histogram": "g"}, REPLACE, False),
    ],
)
def test_a_count_is_public_only_for_the_whole_set(
    statistic: dict[str, str],
    options: dict[str, str],
    known: bool,  # noqa: FBT001  expected
) -> None:
    """Filter, groups, bins, add_remove and units make the number of rows private."""
    spec = spec_of(statistic, **options)
    assert is_known(spec, spec.statistics[0]) is known


@pytest.mark.parametrize(
    ("statistic", "options", "bound"),
    [
        ({"mean": "x"}, {}, None),
        ({"mean": "x"}, UNIT, Bound(rows=3, cells=1)),
        ({"mean": "x"}, UNIT | REPLACE, Bound(rows=3, cells=1)),
        ({"mean": "x", "by": "[g]"}, UNIT, Bound(rows=3, cells=3)),
        ({"mean": "x", "by": "[g, h]"}, UNIT | REPLACE, Bound(rows=3, cells=5)),
        ({"mean": "x", "by": "[g]"}, TOTAL, Bound(rows=3, cells=3, total=8)),
        ({"mean": "x"}, TOTAL, Bound(rows=3, cells=1)),
        ({"count": "units", "by": "[g, h]"}, TOTAL, Bound(rows=1, cells=5)),
        (
            {"count": "rows", "by": "[g]", "contributes": "{rows: 1, groups: 2}"},
            UNIT,
            Bound(rows=1, cells=2),
        ),
    ],
)
def test_a_unit_is_bounded_by_cell(
    statistic: dict[str, str], options: dict[str, str], bound: Bound | None
) -> None:
    """So many rows in so many cells."""
    assert plan(spec_of(statistic, **options)).steps[0].bound == bound


@pytest.mark.parametrize(
    ("statistic", "parts"),
    [
        ({"count": "rows"}, {"count": (3, 1)}),
        ({"sum": "x"}, {"sum": (30, 1)}),
        ({"mean": "x"} | SNAPPED, {"count": (3, 1), "sum": (30, 2)}),
        (
            {"variance": "x"} | SNAPPED,
            {"count": (3, 1), "sum": (30, 2), "squares": (300, 1)},
        ),
        ({"mean": "x"}, {"upper": (2 * 30 * 2, 1), "lower": (2 * 30 * 2, 1)}),
    ],
)
def test_units_of_several_rows_leave_a_private_number_of_rows(
    statistic: dict[str, str], parts: dict[str, tuple[int, int]]
) -> None:
    """Under replace_one too: sensitivity and l0 are those of adding and removing."""
    (step,) = plan(spec_of(statistic, **(UNIT | REPLACE))).steps
    measures = {part.measure.name: part.measure for part in step.parts}
    found = {name: (m.sensitivity, m.l0) for name, m in measures.items()}
    assert parts == found


def test_a_covariance_that_snapping_cannot_hide_is_refused() -> None:
    """DPQL422, with its place and a way out: its n is private, beside units."""
    spec = make_spec(
        {"p": ID, "x": integer(0, 10), "y": integer(0, 10)},
        {"it": {"covariance": "[x, y]", "mechanism": "snapping"} | SHARE},
        **REPLACE,
    )
    plan(spec)
    privacy = replace(spec.privacy, unit="p")
    with pytest.raises(PlanFault, match="DPQL422") as caught:
        plan(replace(spec, privacy=privacy))
    (fault,) = caught.value.diagnostics
    assert fault.span is not None
    assert "`mechanism: geometric`" in str(fault.hint)


def test_all_refusals_come_at_once_with_their_places() -> None:
    """DPQL420 twice, each at its own statistic."""
    spec = make_spec(
        {"x": integer(0, 10)},
        {"one": {"count": "rows"} | SHARE, "two": {"count": "rows"} | SHARE},
        **REPLACE,
    )
    with pytest.raises(PlanFault) as caught:
        plan(spec)
    assert [d.code for d in caught.value.diagnostics] == ["DPQL420", "DPQL420"]
    lines = [d.span.line for d in caught.value.diagnostics if d.span]
    assert lines == sorted(set(lines))
    assert len(lines) == 2


def test_nulls_cannot_be_dropped_from_a_public_count() -> None:
    """DPQL424, also when no resolve has looked."""
    spec = spec_of({"mean": "x"}, **REPLACE)
    columns = tuple(
        replace(column, nulls=DropNulls())
        if isinstance(column, NumberColumn)
        else column
        for column in spec.data.columns
    )
    dropping = replace(spec, data=replace(spec.data, columns=columns))
    with pytest.raises(PlanFault, match="DPQL424"):
        plan(dropping)


@pytest.mark.parametrize(
    ("statistic", "options", "expected"),
    [
        ({"count": "rows", "by": "[g]"}, TOTAL, (1, 8)),
        ({"count": "rows", "by": "[g]"}, UNIT, (3, 3)),
        ({"count": "rows", "by": "[g]"}, TOTAL | REPLACE, (3, 3)),
        ({"count": "units", "by": "[g, h]"}, UNIT, (1, 5)),
        ({"count": "units", "by": "[g, h]"}, UNIT | REPLACE, (1, 9)),
        ({"distinct": "x", "by": "[g, h]"}, UNIT, (3, 5)),
        ({"distinct": "x", "by": "[g, h]"}, TOTAL, (1, 8)),
        ({"distinct": "g", "by": "[h]"}, {"unit": "p", "contributes": MANY}, (3, 2)),
        ({"distinct": "p"}, {}, (1, 1)),
    ],
)
def test_units_totals_and_values_have_their_own_changes(
    statistic: dict[str, str], options: dict[str, str], expected: tuple[int, int]
) -> None:
    """A total counts rows, a unit counts once, and values are no more than declared."""
    (step,) = plan(spec_of(statistic, **options)).steps
    (part,) = step.parts
    assert expected == (part.measure.sensitivity, part.measure.l0)
    assert step.loss <= step.epsilon


@pytest.mark.parametrize(
    ("statistic", "upper"),
    [
        ({"distinct": "x"}, 11),
        ({"distinct": "g"}, 3),
        ({"distinct": "p"}, 1000),
        ({"distinct": "x", "where": "x > 2"}, 11),
    ],
)
def test_there_are_no_more_values_than_declared(
    statistic: dict[str, str], upper: int
) -> None:
    """Ids have as many values as rows, others as many as are declared."""
    (step,) = plan(spec_of(statistic)).steps
    assert (0, upper) == (step.lower, step.upper)


def test_replacing_a_unit_leaves_the_number_of_units() -> None:
    """Without filter and groups that number is refused; with one it is private."""
    with pytest.raises(PlanFault) as caught:
        plan(spec_of({"count": "units"}, **(UNIT | REPLACE)))
    assert ["DPQL420"] == [fault.code for fault in caught.value.diagnostics]
    assert plan(spec_of({"count": "units", "where": "x > 2"}, **(UNIT | REPLACE)))


def test_values_of_too_fine_a_grid_are_refused() -> None:
    """What is counted on a coarser grid would not be the values of the column."""
    columns = {"x": decimal_column("0", "1000000000", Fraction(1, 10**9))}
    with pytest.raises(PlanFault) as caught:
        plan(make_spec(columns, {"it": {"distinct": "x"} | SHARE}))
    assert ["DPQL433"] == [fault.code for fault in caught.value.diagnostics]


def derived(expression: str, statistic: str, *, known: bool = False) -> Plan:
    """Return the plan of a statistic of a derived column."""
    text = flights(derived=expression, where="big")
    asked = f"n: {{{statistic}, spend: {{share: 1}}}}"
    text = text[: text.index("  n: {")] + f"  {asked}\n"
    if known:
        text = KNOWN_N.replace("privacy:", f"  derived:\n    d: {expression}\nprivacy:")
        text = text[: text.index("  both:")] + f"  {asked}\n"
    return plan(load_text(text, form="yaml"))


@pytest.mark.parametrize(
    ("expression", "statistic", "lower", "upper", "steps"),
    [
        ("distance - air_time", "mean: d", -699, 4_999, 5_698),
        ("distance // 100", "sum: d", 0, 50, 50),
        ("arr_delay > 15", "mean: d", 0, 1, 1),
        ("arr_delay", "mean: d", -60, 240, 5 << 20),
        ("round(arr_delay, 0.5)", "variance: d", -60, 240, 600),
        ("air_time", "quantile: d, at: [1/2]", 1, 700, 699),
        ("big", "mean: big", 0, 1, 1),
        ("big", "distinct: when", 15_706, 16_070, 364),
        ("hour(left) * 60", "ratio: [d, distance]", 0, 1_380, 23),
    ],
)
def test_derived_columns_are_counted_in_their_own_steps(
    expression: str, statistic: str, lower: int, upper: int, steps: int
) -> None:
    """Their values are whole numbers of steps, so their grid has no error."""
    (grid, *_) = derived(expression, statistic).steps[0].grids
    assert (lower, upper, steps, 0) == (grid.lower, grid.upper, grid.steps, grid.error)


@pytest.mark.parametrize(
    ("expression", "statistic", "cells"),
    [
        ("arr_delay > 15", "count: rows, by: [d]", 2),
        ("month(when)", "count: rows, by: [d, carrier]", 36),
        ("bands(distance, [1, 500, 5_000])", "mean: arr_delay, by: [d]", 2),
        ("map(carrier, {UA: big}, else: small)", "histogram: d", 2),
        ("arr_delay > 15", "histogram: d", 2),
        ("weekday(when)", "distinct: carrier, by: [d]", 7),
        ("distance + 1", "histogram: d, bins: [2, 10, 5_001]", 2),
    ],
)
def test_derived_columns_form_groups(
    expression: str, statistic: str, cells: int
) -> None:
    """By the keys that follow from the expression."""
    assert cells == derived(expression, statistic).steps[0].cells


@pytest.mark.parametrize(
    ("expression", "statistic", "most"),
    [
        ("arr_delay * arr_delay * distance", "mean: d", 1 << 46),
        ("distance * distance * distance * 0.1", "variance: d", 1 << 31),
        ("min(distance, 1) * 0", "mean: d", 0),
    ],
)
def test_what_has_too_many_steps_or_none_is_refused(
    expression: str, statistic: str, most: int
) -> None:
    """A derived column cannot be counted on a coarser grid than its own."""
    with pytest.raises(PlanFault, match="DPQL434") as caught:
        derived(expression, statistic)
    (fault,) = caught.value.diagnostics
    assert fault.span is not None
    expected = f"is {most}" if most else "always has the same value"
    assert expected in fault.message


def test_nulls_of_a_derived_column_would_change_a_public_number() -> None:
    """A quotient may be null, and a coalesced one is not."""
    quotient = "div(income, age - 20, 0, 100, 1)"
    with pytest.raises(PlanFault, match="DPQL424") as caught:
        derived(quotient, "mean: d", known=True)
    assert caught.value.diagnostics[0].hint == "write `coalesce(d, 0)`"
    found = derived(f"coalesce({quotient}, 0)", "mean: d", known=True)
    assert 100 == found.steps[0].grids[0].steps
