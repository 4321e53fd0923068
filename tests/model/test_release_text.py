"""Releases as text, CSV and HTML."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from spec_text import make_spec

from dpql.model.plan import Plan
from dpql.model.release import (
    Rehearsal,
    Release,
    Result,
    Value,
    cells,
)
from dpql.planner import plan

HOSTILE = "<script>alert(1)</script>"


def _plan() -> Plan:
    return plan(
        make_spec(
            {
                "key": f'{{type: category, keys: ["=1+1", "{HOSTILE}"]}}',
                "kind": "{type: category, keys: [a, b]}",
                "x": "{type: decimal, bounds: [0, 1], step: 0.1, nulls: {as: 0}, "
                "unit: kg}",
            },
            {
                "by_key": {"count": "rows", "by": "[key]", "spend": "{share: 1}"},
                "bars": {
                    "histogram": "x",
                    "bins": "[0, 0.5, 1]",
                    "by": "[kind]",
                    "spend": "{share: 1}",
                },
                "kinds": {"histogram": "kind", "spend": "{share: 1}"},
                "mean": {"mean": "x", "spend": "{share: 1}"},
            },
        )
    )


PLAN = _plan()


def _values(index: int) -> tuple[Value, ...]:
    step = PLAN.steps[index]
    return tuple(
        Value(
            cell=cell,
            noisy=tuple(Fraction(index) for _ in step.parts),
            value=Fraction(index, 3),
            lower=Fraction(-1),
            upper=Fraction(10**20 + 1, 3),
        )
        for index, cell in enumerate(cells(step, PLAN.spec.data))
    )


def _release(kind: type[Release | Rehearsal] = Release) -> Release | Rehearsal:
    results = tuple(
        Result(step=step, values=_values(index))
        for index, step in enumerate(PLAN.steps)
    )
    return kind(plan=PLAN, results=results, coins="os.urandom", engine="polars")


def test_text_holds_every_number() -> None:
    """The terminal table has a line per cell and says how exact it is."""
    text = str(_release())
    assert "0.3333333" in text
    assert "by_key ±" in text
    assert "intervals at 95%" in text
    assert "mean in kg" in text


def test_long_tables_are_cut_for_people_only() -> None:
    """A notebook shows the first cells, the files hold them all."""
    value = _values(3)[0]
    many = Result(step=PLAN.step("mean"), values=(value,) * 100)
    made = replace(PLAN, steps=(PLAN.step("mean"),))
    release = Release(plan=made, results=(many,), coins="os.urandom", engine="polars")
    assert "and 80 more" in str(release)
    assert "and 80 more" in release._repr_html_()
    assert 101 == len(release.to_csv().splitlines())
    assert 100 == release.to_polars().height


def test_html_is_inert() -> None:
    """Hostile keys are escaped."""
    html = _release()._repr_html_()
    assert HOSTILE not in html
    assert "&lt;script&gt;" in html


def test_what_is_dropped_is_said_above_the_numbers() -> None:
    """Text and HTML say which rows of a unit count; csv has numbers only."""
    made = plan(
        make_spec(
            {"person": "{type: id}", "kind": "{type: category, keys: [a, b]}"},
            {
                "rows": {"count": "rows", "by": "[kind]", "spend": "{share: 1}"},
                "units": {"count": "units", "by": "[kind]", "spend": "{share: 1}"},
            },
            unit="person",
            contributes="{rows: 3, groups: 1}",
        )
    )
    one = Fraction(1)
    results = tuple(
        Result(
            step=step,
            values=tuple(
                Value(cell=cell, noisy=(one,), value=one, lower=one, upper=one)
                for cell in cells(step, made.spec.data)
            ),
        )
        for step in made.steps
    )
    released = Release(plan=made, results=results, coins="system", engine="polars")
    for text in (str(released), released._repr_html_()):
        words = "counts at most 3 rows of a person in 1 of 2 groups"
        assert f"{words}: totals are of those rows" in text
        assert "counts each person once in 1 of 2 groups" in text


def test_one_statistic_is_a_table_of_its_own() -> None:
    """Printed or in a notebook it looks like the release, and shows no internals."""
    release = _release()
    result = release["bars"]
    assert "<bars, 4 values>" == repr(result)
    assert str(result).split("\n")[0] in str(release)
    assert "Fraction" not in str(result) + result._repr_html_() + repr(result.values[0])
    assert "<a, [0, 0.5): 0, from -1 to 33333340000000000000>" == repr(result.values[0])
    assert ["by_key", "bars", "kinds", "mean"] == list(release)
    assert (4, True) == (len(release), "bars" in release)
    with pytest.raises(KeyError, match="has 'by_key', 'bars', 'kinds', 'mean'"):
        release["other"]
