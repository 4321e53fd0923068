"""The first passes: grids, bounds, cells, integers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from spec_text import ID, integer, make_spec

from dpql.errors import PlanFault
from dpql.model.plan import Bound
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
