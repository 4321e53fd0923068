"""From epsilon to noise: equal parts, levels, the better mechanism."""

from __future__ import annotations

from fractions import Fraction

import pytest
from spec_text import ID, integer, make_spec

from dpql.mechanisms import MECHANISMS, PURE
from dpql.model.plan import Step
from dpql.planner import plan
from dpql.planner.calibrate import part_level, query_of

KEYS = "{type: category, keys: [a, b, c]}"


def step_of(statistic: dict[str, str], **options: str) -> Step:
    """Return the only step of a spec over an integer column and a category."""
    columns = {"p": ID, "x": integer(0, 10), "g": KEYS}
    (step,) = plan(
        make_spec(columns, {"it": statistic | {"spend": "{share: 1}"}}, **options)
    ).steps
    return step


UNIT = {"unit": "p", "contributes": "{rows: 2, groups: 2}"}


@pytest.mark.parametrize(
    ("mechanism", "parts"),
    [("geometric", 1), ("snapping", 1), ("snapping", 2), ("snapping", 3)],
)
def test_parts_share_alike_and_cells_pay_for_what_they_touch(
    mechanism: str, parts: int
) -> None:
    """Each part has its share; its noise has that divided by l0; losses add up."""
    kind = {1: "sum", 2: "mean", 3: "variance"}[parts]
    step = step_of({kind: "x", "by": "[g]"}, mechanism=mechanism, **UNIT)
    assert len(step.parts) == parts
    for part in step.parts:
        assert part.epsilon == Fraction(1, parts)
        assert part.measure.l0 == 2
        noise = MECHANISMS[mechanism].restore(dict(part.noise.parameters))
        assert MECHANISMS[mechanism].loss(noise) * 2 == part.loss <= part.epsilon
        assert noise.sensitivity == part.measure.sensitivity
    assert step.loss == sum(part.loss for part in step.parts) <= step.epsilon == 1


@pytest.mark.parametrize(
    ("kind", "parts", "per_row"), [("mean", 2, 10), ("variance", 3, 100)]
)
def test_parts_of_one_have_the_whole_epsilon_each(
    kind: str, parts: int, per_row: int
) -> None:
    """They change by so much together, over all cells, and their loss counts once."""
    step = step_of({kind: "x", "by": "[g]"}, mechanism="geometric", **UNIT)
    assert step.joint
    assert len(step.parts) == parts
    for part in step.parts:
        scale, change = part.measure.scale, part.measure.sensitivity
        assert 2 * 2 * per_row * scale == change
        noise = MECHANISMS["geometric"].restore(dict(part.noise.parameters))
        assert (change, 1) == (noise.sensitivity, part.epsilon)
        assert MECHANISMS["geometric"].loss(noise) == part.loss == 1
    assert 1 == step.loss == step.epsilon


def test_parts_of_different_l0_pay_the_same() -> None:
    """Under replace_one a filtered count moves once, a centred sum twice."""
    step = step_of(
        {"mean": "x", "where": "x > 1"},
        mechanism="snapping",
        rows="{exactly: 100}",
        neighbours="replace_one",
    )
    assert [part.measure.l0 for part in step.parts] == [1, 2]
    assert [part.epsilon for part in step.parts] == [Fraction(1, 2)] * 2
    assert all(part.loss <= part.epsilon for part in step.parts)
    assert step.l0 == 2


@pytest.mark.parametrize("parts", [1, 2, 3, 1000])
def test_levels_are_those_of_sidak_rounded_down(parts: int) -> None:
    """(1 - level)**parts is at least 1 - alpha, and not by much more."""
    alpha = Fraction(1, 20)
    level = part_level(alpha, parts)
    assert (1 - level) ** parts >= 1 - alpha
    assert (1 - level * (1 + Fraction(1, 2**50))) ** parts < 1 - alpha


def test_only_snapping_states_a_clamp() -> None:
    """The chance that the outer clamp acts is at most gamma."""
    snapped = step_of({"sum": "x"}, mechanism="snapping").parts[0]
    assert snapped.clamp_probability is not None
    assert 0 < snapped.clamp_probability <= Fraction(1, 10**9)
    assert step_of({"sum": "x"}).parts[0].clamp_probability is None


def test_auto_is_settled_by_the_smaller_error() -> None:
    """The plan names the mechanism it chose, and it is no worse than either."""
    statistics = {
        name: step_of({"sum": "x"}, mechanism=name) for name in (*PURE, "auto")
    }
    errors = {name: step.accuracy for name, step in statistics.items()}
    assert statistics["auto"].mechanism in PURE
    assert errors["auto"] == min(e for e in errors.values() if e is not None)
    ratio = step_of({"mean": "x"}, mechanism="auto")
    assert ratio.mechanism == "geometric"


def test_a_query_is_in_units_of_its_measure() -> None:
    """Whole numbers: the lattice is 1."""
    measure = step_of({"sum": "x"}).parts[0].measure
    query = query_of(measure)
    assert (query.sensitivity, query.lower, query.upper, query.lattice) == (
        10,
        0,
        10_000,
        1,
    )


@pytest.mark.parametrize(("kind", "parts"), [("sum", 1), ("mean", 2), ("variance", 3)])
def test_parts_keep_their_widths_together(kind: str, parts: int) -> None:
    """Each part's level is such that all hold but with probability alpha."""
    step = step_of({kind: "x", "by": "[g]"})
    levels = {part.level for part in step.parts}
    assert levels == {part_level(step.alpha, parts)}
    (level,) = levels
    assert 1 - (1 - level) ** parts <= step.alpha
    assert parts == 1 or level < step.alpha
