"""Means, variances and covariances by parts of one, from rows to released values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from spec_text import integer, make_spec

from dpql.curator import run
from dpql.curator.noise import totals
from dpql.errors import PlanFault
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Plan, Step
from dpql.planner import plan
from dpql.statistics.reading import reader_of
from dpql.testing import SeededBits

COLUMNS = {
    "g": "{type: category, keys: [a, b]}",
    "x": integer(0, 20, "drop"),
    "y": "{type: float, bounds: [-1, 3], nulls: drop}",
    "z": integer(1, 5, "drop"),
}
STATISTICS = {
    "mean": {"mean": "x", "by": "[g]"},
    "variance": {"variance": "x", "by": "[g]"},
    "covariance": {"covariance": "[x, y]", "by": "[g]"},
    "fine_mean": {"mean": "y", "by": "[g]"},
    "fine_variance": {"variance": "y", "by": "[g]"},
    "deviation": {"deviation": "x", "by": "[g]"},
    "ratio": {"ratio": "[y, z]", "by": "[g]"},
    "proportion": {"proportion": "x > 12 or not (y < 1 and z in [1, 2])", "by": "[g]"},
}
ROWS = 300


def planned(epsilon: str, **options: str) -> Plan:
    """Return a plan of every statistic that parts of one make."""
    shares = {name: kind | {"spend": "{share: 1}"} for name, kind in STATISTICS.items()}
    return plan(make_spec(COLUMNS, shares, epsilon=epsilon, **options))


def table(seed: int = 0) -> pl.DataFrame:
    """Return rows with nulls in either number, and quarters that no grid moves."""
    rows = range(seed, seed + ROWS)
    return pl.DataFrame(
        {
            "g": ["a" if i % 3 else "b" for i in rows],
            "x": [None if i % 11 == 0 else i * i % 21 for i in rows],
            "y": [None if i % 13 == 0 else (i * 7 % 17) / 4 - 1 for i in rows],
            "z": [None if i % 7 == 0 else i % 5 + 1 for i in rows],
        }
    )


def truth(frame: pl.DataFrame, name: str) -> list[Fraction]:
    """Return the exact statistic of each group, of the rows that hold a number."""
    columns = {
        "mean": "x",
        "variance": "x",
        "deviation": "x",
        "covariance": "xy",
        "ratio": "yz",
    }.get(name, "y")
    found = []
    if name == "proportion":
        return [_share(frame.filter(pl.col("g") == key)) for key in ("a", "b")]
    for key in ("a", "b"):
        rows = frame.filter(pl.col("g") == key).select(*columns).drop_nulls().rows()
        pairs = [(Fraction(row[0]), Fraction(row[-1])) for row in rows]
        n = len(pairs)
        first, second = (sum(column) / n for column in zip(*pairs, strict=True))
        if name.endswith("mean"):
            found.append(first)
        elif name == "ratio":
            found.append(first / second)
        else:
            found.append(sum((x - first) * (y - second) for x, y in pairs) / n)
        if name == "deviation":
            found[-1] = Fraction(float(found[-1]) ** 0.5)
    return found


def _share(rows: pl.DataFrame) -> Fraction:
    """Return the share of rows that are true of those that are not null, by Kleene."""
    answers = []
    for x, y, z in rows.select("x", "y", "z").rows():
        one = None if x is None else x > 12
        tests = (None if y is None else y < 1, None if z is None else z in (1, 2))
        both = False if False in tests else None if None in tests else True
        other = None if both is None else not both
        both_ways = (one, other)
        found = True if True in both_ways else None if None in both_ways else False
        answers += [] if found is None else [found]
    assert len(answers) < rows.height
    return Fraction(sum(answers), len(answers))


@pytest.mark.parametrize("name", STATISTICS)
def test_much_epsilon_gives_the_exact_statistic(name: str) -> None:
    """Value and interval close in on the truth, nulls dropped, floats on their grid."""
    frame = table()
    made = planned("900", alpha="1e-9")
    result = run(made, {"rows": frame})[name]
    for value, expected in zip(result.values, truth(frame, name), strict=True):
        assert value.lower <= expected <= value.upper
        assert value.lower <= value.value <= value.upper
        assert value.upper - value.lower < 1


@pytest.mark.stats
def test_intervals_hold_the_truth_as_often_as_stated() -> None:
    """At alpha 1/20, 300 cells of each statistic; a false alarm once in 10^5."""
    made, frame = planned("20"), table()
    misses = dict.fromkeys(STATISTICS, 0)
    for seed in range(150):
        drawn: Any = run(made, {"rows": frame}, bits=SeededBits(seed))
        for name in STATISTICS:
            misses[name] += sum(
                not value.lower <= expected <= value.upper
                for value, expected in zip(
                    drawn[name].values, truth(frame, name), strict=True
                )
            )
    # P(Binomial(300, 1/20) > 36) < 2e-6.
    assert [] == [name for name, missed in misses.items() if missed > 36]


def moments(step: Step, rows: list[tuple[int, int]]) -> dict[str, list[int]]:
    """Return the engine's sums of rows of whole numbers u and v, in one cell."""
    sums = {
        "n": len(rows),
        "u": sum(u for u, _ in rows),
        "v": sum(v for _, v in rows),
        "uu": sum(u * u for u, _ in rows),
        "uv": sum(u * v for u, v in rows),
    }
    return {moment.name: [sums[moment.name]] for moment in step.moments}


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("name", STATISTICS)
def test_a_row_moves_all_parts_together_by_no_more_than_stated(
    name: str, neighbours: str
) -> None:
    """The l1 change of all numbers that take noise, roundings included."""
    replaced = neighbours == "replace_one"
    rows = "{exactly: 3}" if replaced else "{at_most: 3}"
    # Under replace_one nulls cannot be dropped.
    columns = {
        key: text.replace("nulls: drop", "nulls: {as: 1}") if replaced else text
        for key, text in COLUMNS.items()
    }
    kind = STATISTICS[name] | {"spend": "{share: 1}"}
    (step,) = plan(
        make_spec(columns, {name: kind}, rows=rows, neighbours=neighbours)
    ).steps
    stated = {part.measure.sensitivity for part in step.parts}
    assert 1 == len(stated)
    tops = [grid.steps for grid in step.grids] or [1]
    ends = sorted({0, 1, tops[0] // 3, tops[0]})
    others = sorted({0, 1, tops[-1] // 7, tops[-1]})
    choices = [(u, v) for u in ends for v in others]

    def numbers(data: list[tuple[int, int]]) -> list[int]:
        sums = moments(step, data)
        return [totals(part.measure, sums, 1)[0] for part in step.parts]

    # Beyond the ceiling of 3 rows too: clamping each part keeps the change.
    bases = [[], choices[:1], choices[-2:], choices[3:5] * 2]
    worst = 0
    for base in bases:
        for row in choices:
            pairs = [(base, [*base, row])]
            if replaced:
                pairs = [([*base, other], [*base, row]) for other in choices]
            for one, two in pairs:
                change = sum(
                    abs(a - b) for a, b in zip(numbers(one), numbers(two), strict=True)
                )
                worst = max(worst, change)
    (sensitivity,) = stated
    # Replacing moves two groups' cells; here both rows are in one.
    assert worst <= sensitivity
    assert 2 * worst >= sensitivity - len(step.parts) * 4


def test_noise_is_that_of_the_shared_sensitivity() -> None:
    """Every part has the whole epsilon; snapping has the older form."""
    for step in planned("5").steps:
        for part in step.parts:
            noise = MECHANISMS["geometric"].restore(dict(part.noise.parameters))
            assert step.epsilon == noise.theta * part.measure.sensitivity
            assert not noise.rounded
    (old,) = plan(
        make_spec(
            COLUMNS,
            {"it": {"mean": "x", "mechanism": "snapping", "spend": "{share: 1}"}},
        )
    ).steps
    assert (False, ["count", "sum"]) == (
        old.joint,
        [part.measure.name for part in old.parts],
    )


def test_reading_follows_from_the_plan_and_the_noisy_numbers() -> None:
    """A wrong scale or theta would be seen: the interval moves with either."""
    step = planned("1").step("mean")
    noisy = tuple(
        (part.measure.lower + part.measure.upper) // 4 * Fraction(1)
        for part in step.parts
    )
    read = reader_of(step)(noisy)
    assert Fraction(10) == read.value
    (first, *others) = step.parts
    louder = replace(first, epsilon=first.epsilon / 2)
    wider = reader_of(replace(step, parts=(louder, *others)))(noisy)
    assert wider.lower < read.lower < read.upper < wider.upper


def test_a_proportion_of_public_rows_is_one_count() -> None:
    """All rows are asked; one where the condition is null is not true."""
    made = plan(
        make_spec(
            {"x": integer(0, 20, "{as: 0}")},
            {"it": {"proportion": "x > 3", "spend": "{share: 1}"}},
            rows="{exactly: 4}",
            neighbours="replace_one",
            epsilon="900",
        )
    )
    (step,) = made.steps
    (part,) = step.parts
    assert (1, False) == (part.measure.sensitivity, step.joint)
    assert "of all rows" in str(made)
    frame = pl.DataFrame({"x": [None, 1, 7, 8]})
    assert [Fraction(1, 2)] == [
        x.value for x in run(made, {"rows": frame})["it"].values
    ]


def test_a_proportion_needs_noise_that_parts_share() -> None:
    """Snapping has a proportion of public rows alone."""
    asked = {"proportion": "x > 3", "mechanism": "snapping", "spend": "{share: 1}"}
    with pytest.raises(PlanFault, match="DPQL422"):
        plan(make_spec({"x": integer(0, 20, "drop")}, {"it": asked}))
