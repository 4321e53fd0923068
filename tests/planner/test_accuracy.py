"""What a step promises, per cell and for all cells."""

from __future__ import annotations

from fractions import Fraction

import pytest
from spec_text import ID, integer, make_spec

from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.planner.accuracy import needed
from dpql.planner.calibrate import part_level

COLUMNS = {
    "p": ID,
    "x": integer(0, 10),
    "y": "{type: float, bounds: [0, 1], nulls: {as: 0}}",
    "g": "{type: category, keys: [a, b, c, d]}",
}


def planned(statistic: dict[str, str], **options: str) -> Plan:
    """Return the plan of one statistic."""
    return plan(
        make_spec(COLUMNS, {"it": statistic | {"spend": "{share: 1}"}}, **options)
    )


@pytest.mark.parametrize("mechanism", list(MECHANISMS))
def test_all_cells_together_are_less_accurate_than_one(mechanism: str) -> None:
    """Simultaneous accuracy is that of a stricter level."""
    (step,) = planned(
        {"count": "rows", "by": "[g]"}, mechanism=mechanism, delta="1e-6"
    ).steps
    (part,) = step.parts
    module = MECHANISMS[mechanism]
    noise = module.restore(dict(part.noise.parameters))
    assert step.accuracy == module.accuracy(noise, Fraction(1, 20))
    assert step.accuracy_all == module.accuracy(noise, part_level(Fraction(1, 20), 4))
    assert step.accuracy < step.accuracy_all


def test_one_cell_has_one_accuracy() -> None:
    """Alone is together."""
    (step,) = planned({"count": "rows"}).steps
    assert step.accuracy == step.accuracy_all == 3


def test_a_ratio_promises_only_with_a_count() -> None:
    """Its parts have widths either way."""
    snapped = {"mean": "x", "mechanism": "snapping"}
    (open_ended,) = planned(snapped).steps
    assert (open_ended.accuracy, open_ended.accuracy_all) == (None, None)
    (promised,) = planned(snapped | {"at_least": "500"}).steps
    widths = [part.half_width for part in open_ended.parts]
    assert widths == [part.half_width for part in promised.parts]
    # scale (a_sum + Q a_count) / rows, with half a step of 1 and Q = 10
    assert promised.accuracy == Fraction(1, 2) * (widths[1] + 10 * widths[0]) / 500


def test_the_grid_is_part_of_the_error() -> None:
    """A float's quantisation is added to what noise does."""
    snapped = {"mean": "y", "at_least": "500", "mechanism": "snapping"}
    (step,) = planned(snapped).steps
    grid = step.grids[0]
    assert step.quantisation == grid.error * grid.step > 0
    count, total = (part.half_width for part in step.parts)
    noise = step.readout.scale * (total + grid.steps * count) / 500  # type: ignore[union-attr]
    assert step.accuracy == noise + step.quantisation


@pytest.mark.parametrize(
    ("statistic", "names"),
    [
        ({"count": "rows"}, ("n",)),
        ({"sum": "x"}, ("n", "u")),
        ({"mean": "x"}, ("n", "u")),
        ({"variance": "x"}, ("n", "u", "uu")),
        ({"histogram": "g"}, ("n",)),
    ],
)
def test_the_engine_is_asked_for_what_the_parts_need(
    statistic: dict[str, str], names: tuple[str, ...]
) -> None:
    """No moment more, in one order."""
    (step,) = planned(statistic).steps
    assert needed(step.parts) == names
    assert tuple(moment.name for moment in step.moments) == names


def test_a_covariance_needs_both_columns() -> None:
    """u, v and uv."""
    (step,) = planned(
        {"covariance": "[x, y]"}, rows="{exactly: 50}", neighbours="replace_one"
    ).steps
    assert tuple(moment.name for moment in step.moments) == ("u", "v", "uv")
