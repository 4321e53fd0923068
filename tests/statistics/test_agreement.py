"""Totals and groups of a release add up, err as stated, and verify."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import polars as pl
import pytest
from exact_sums import exact_sums
from reports.sample_releases import DAY, VERSIONS
from spec_text import ID, integer, make_spec

from dpql.curator import run
from dpql.curator.noise import totals
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Plan
from dpql.model.release import Rehearsal, Release
from dpql.planner import plan
from dpql.reports.predicate_builder import build
from dpql.reports.recompute import recompute
from dpql.testing import SeededBits

KEYS = "abcde"


def planned(epsilon: str = "1", **options: str) -> Plan:
    """Return a plan of counts and sums with their totals."""
    columns = {
        "p": ID,
        "g": f"{{type: category, keys: [{', '.join(KEYS)}]}}",
        "x": integer(-3, 9, "drop"),
    }
    share = {"spend": "{share: 1}"}
    statistics = {
        "all": {"total": "heads", **share},
        "heads": {"count": "rows", "by": "[g]", **share},
        "sums": {"sum": "x", "by": "[g]", "where": "x != 5", **share},
        "sum": {"total": "sums", **share},
    }
    return plan(make_spec(columns, statistics, epsilon=epsilon, **options))


UNITS = {"unit": "p", "contributes": "{rows: 2, groups: 2, total: 3}"}
BOUNDS: list[dict[str, str]] = [{}, UNITS]


def table(rows: int = 300) -> pl.DataFrame:
    """Return rows with undeclared keys, nulls, and units of too many rows."""
    return pl.DataFrame(
        {
            "p": [f"u{i * i % 40}" for i in range(rows)],
            "g": ["abcdefg"[i * 5 % 7] if i % 11 else None for i in range(rows)],
            "x": [None if i % 13 == 0 else i * 7 % 13 - 3 for i in range(rows)],
        }
    )


def drawn(made: Plan, seed: int | str) -> Release | Rehearsal:
    """Return a run with seeded coins."""
    return run(made, {"rows": table()}, bits=SeededBits(seed))


@pytest.mark.parametrize("options", BOUNDS, ids=str)
def test_groups_add_up_to_their_total_exactly(options: dict[str, str]) -> None:
    """As they are released; the noisy numbers are as they were drawn."""
    release = drawn(planned(**options), 4)
    for whole, parts in (("all", "heads"), ("sum", "sums")):
        (total,) = release[whole].values
        groups = release[parts].values
        assert total.value == sum(value.value for value in groups)
        apart = total.noisy[0] - sum(value.noisy[0] for value in groups)
        assert apart != 0
        moved = {value.value - value.noisy[0] for value in groups}
        assert {apart / 6} == moved
        assert -apart / 6 == total.value - total.noisy[0]
        assert all(value.noisy[0].denominator == 1 for value in groups)


@pytest.mark.parametrize("options", BOUNDS, ids=str)
def test_a_total_counts_the_rows_that_its_groups_keep(options: dict[str, str]) -> None:
    """With next to no noise it is what the lottery left in declared keys."""
    made = planned("900", **options)
    release = drawn(made, 2)
    for whole, parts in (("all", "heads"), ("sum", "sums")):
        (total,) = release[whole].values
        groups = [value.noisy[0] for value in release[parts].values]
        assert abs(total.noisy[0] - sum(groups)) <= 1
    if not options:
        keyed = table().filter(pl.col("g").is_in(list(KEYS)))
        assert abs(release["all"].values[0].noisy[0] - keyed.height) <= 1


@pytest.mark.contract
@pytest.mark.parametrize("options", BOUNDS, ids=str)
def test_a_unit_moves_a_total_by_no_more_than_stated(options: dict[str, str]) -> None:
    """All units of up to four rows: the stated change is attained by counts."""
    made = planned(**options)
    rows = [(g, x) for g in ("a", "b", "z") for x in (-3, 9)]
    base = [("v", "a", 1)] if options else []
    worst = {"all": 0, "sum": 0}
    stated = {}
    empty = _exact(made, base)
    for size in range(1, 5 if options else 2):
        for unit in combinations_with_replacement(rows, size):
            data = [*base, *(("u", g, x) for g, x in unit)]
            found = _exact(made, data)
            for name, most in worst.items():
                worst[name] = max(most, abs(found[name] - empty[name]))
    for name in worst:
        (part,) = made.step(name).parts
        assert 1 == part.measure.l0
        stated[name] = part.measure.sensitivity
    assert stated == worst


def _exact(made: Plan, rows: list[tuple[str, str, int]]) -> dict[str, int]:
    schema = {"p": pl.String, "g": pl.String, "x": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    heads, sums = exact_sums(made, frame).moments
    found = {}
    for name, moments in (("all", heads), ("sum", sums)):
        (part,) = made.step(name).parts
        added = {key: [sum(map(int, cells))] for key, cells in moments.items()}
        (found[name],) = totals(part.measure, added, 1)
    return found


def test_noise_of_a_total_is_that_of_its_groups() -> None:
    """One theta, so that equal shares of the difference are the best."""
    for options in BOUNDS:
        made = planned(**options)
        for whole, parts in (("all", "heads"), ("sum", "sums")):
            thetas = {
                MECHANISMS["geometric"].restore(dict(part.noise.parameters)).theta
                for name in (whole, parts)
                for part in made.step(name).parts
            }
            assert 1 == len(thetas)


@pytest.mark.stats
@pytest.mark.heavy
def test_intervals_and_accuracies_hold_as_often_as_stated() -> None:
    """At alpha 1/20, 400 runs; a false alarm once in 10^5."""
    made = planned("4")
    frame = table(900)
    keyed = frame.filter(pl.col("g").is_in(list(KEYS)))
    counts = dict(keyed.group_by("g").len().rows())
    truth = [Fraction(counts[key]) for key in KEYS]
    missed = {"all": 0, "first": 0, "far": 0, "any": 0}
    for seed in range(400):
        release = run(made, {"rows": frame}, bits=SeededBits(seed))
        (total,) = release["all"].values
        values = release["heads"].values
        missed["all"] += not total.lower <= sum(truth) <= total.upper
        missed["first"] += not values[0].lower <= truth[0] <= values[0].upper
        errors = [abs(v.value - t) for v, t in zip(values, truth, strict=True)]
        step = made.step("heads")
        assert step.accuracy is not None
        assert step.accuracy_all is not None
        missed["far"] += errors[1] > step.accuracy
        missed["any"] += max(errors) > step.accuracy_all
    # P(Binomial(400, 1/20) > 41) < 1e-5.
    assert max(missed.values()) <= 41
    assert missed["all"] >= 5


def test_values_are_not_clamped_and_intervals_are() -> None:
    """Groups without rows may be below 0, or they would not add up."""
    made = planned()
    empty = table().clear()
    seen = False
    for seed in range(30):
        release = run(made, {"rows": empty}, bits=SeededBits(seed))
        values = release["heads"].values
        assert release["all"].values[0].value == sum(value.value for value in values)
        for value in values:
            assert 0 <= value.lower <= value.upper <= 1000
            seen |= value.value < 0
    assert seen


def test_a_report_is_recomputed_and_says_what_was_done() -> None:
    """Altered values are found: they follow from the noisy ones of both."""
    release = drawn(planned(), 5)
    given = build(release, day=DAY, ledger=None, approvals=(), versions=VERSIONS)
    assert release.results == recompute(given).results
    whole, groups, *_ = given.statistics
    assert "add up" in whole.post_processing
    assert "add up" in groups.post_processing
    assert "added up over the groups of heads" in whole.definition
    louder = replace(whole.values[0], noisy=(whole.values[0].noisy[0] + 6,))
    altered = replace(
        given, statistics=(replace(whole, values=(louder,)), *given.statistics[1:])
    )
    again = recompute(altered)
    before, after = release["heads"].values, again["heads"].values
    assert [value.value + 1 for value in before] == [value.value for value in after]
