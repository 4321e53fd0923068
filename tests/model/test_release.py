"""What a release shows, writes and compares as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from spec_text import make_spec

from dpql.model.many_values import Deferred
from dpql.model.notation import bin_keys
from dpql.model.plan import Plan
from dpql.model.release import (
    Rehearsal,
    Release,
    Result,
    Value,
    cells,
    headings,
)
from dpql.model.release_text import cell_labels
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


def test_cells_are_products_in_the_order_of_the_plan() -> None:
    """Keys vary slower than bins, bins are half open but for the last."""
    step = PLAN.step("bars")
    assert ("kind", "x") == headings(step)
    assert [
        ("a", "[0, 0.5)"),
        ("a", "[0.5, 1]"),
        ("b", "[0, 0.5)"),
        ("b", "[0.5, 1]"),
    ] == list(cells(step, PLAN.spec.data))
    assert [("a",), ("b",)] == list(cells(PLAN.step("kinds"), PLAN.spec.data))
    assert [()] == list(cells(PLAN.step("mean"), PLAN.spec.data))
    assert () == bin_keys(())


def test_bins_have_exact_edges() -> None:
    """Edges that agree in fifteen digits are different texts; 1/3 is a fraction."""
    third, near = Fraction(1, 3), Fraction(10**15 + 1, 10**16)
    assert ("[0, 0.1000000000000001)", "[0.1000000000000001, 1/3]") == bin_keys(
        (Fraction(0), near, third)
    )


def test_releases_of_the_first_format_keep_their_texts() -> None:
    """What was signed is derived again as it was written: rounded, without quotes."""
    step = replace(PLAN.step("bars"), edges=(Fraction(0), Fraction(1, 3)))
    old = list(cells(step, PLAN.spec.data, version=1))
    assert ("a", "[0, 0.333333333333333]") == old[0]
    assert ("a", "[0, 1/3]") == next(iter(cells(step, PLAN.spec.data)))
    result = Result(
        step=step,
        values=(replace(_values(0)[0], cell=('a", x="b', "[0, 1]")),),
    )
    older = replace(PLAN, version=1)
    assert 'kind=a", x="b, x=[0, 1]' == next(cell_labels(older, result))
    assert r'kind="a\", x=\"b", x=[0, 1]' == next(cell_labels(PLAN, result))


def test_values_can_be_worked_out_late() -> None:
    """Deferred values are made once, and equal the tuple they stand for."""
    made: list[int] = []

    def make() -> Sequence[Value]:
        made.append(1)
        return _values(0)

    deferred = Deferred(2, make)
    assert "<2 values>" == repr(deferred)
    assert 2 == len(deferred)
    assert [] == made
    assert deferred == _values(0)
    assert _values(0) == tuple(deferred)
    assert hash(deferred) == hash(_values(0))
    assert _values(0)[1:] == deferred[1:]
    assert _values(0)[1] == deferred[1]
    assert deferred != object()
    assert [1] == made
    late = Result(step=PLAN.steps[0], values=deferred)
    assert Result(step=PLAN.steps[0], values=_values(0)) == late
    assert hash(late) == hash(Result(step=PLAN.steps[0], values=_values(0)))


def test_a_rehearsal_is_no_release() -> None:
    """Equal contents of the two types are not equal, and no subtype of one another."""
    release, rehearsal = _release(), _release(Rehearsal)
    assert release != rehearsal
    assert not isinstance(rehearsal, Release)
    assert "<release of test" in repr(release)
    assert "<rehearsal of test" in repr(rehearsal)


def test_frames_have_fixed_types() -> None:
    """One frame of everything, or one per statistic with its keys as columns."""
    release = _release()
    frame = release.to_polars()
    assert 2 + 4 + 2 + 1 == frame.height
    assert pl.Float64 == frame.schema["value"]
    assert pl.String == frame.schema["unit"]
    bars = release["bars"].to_polars()
    assert ["kind", "x", "value"] == bars.columns[:3]
    assert ["a", "a", "b", "b"] == bars["kind"].to_list()
    assert release["bars"].unit is None
    assert Fraction(1, 20) == release["bars"].alpha


def test_files_are_new_files(tmp_path: Path) -> None:
    """Csv and parquet hold the same values; no file is overwritten."""
    release = _release()
    release.write_csv(tmp_path / "a.csv")
    release.write_parquet(tmp_path / "a.parquet")
    assert release.to_csv() == (tmp_path / "a.csv").read_text("utf-8")
    assert release.to_polars().equals(pl.read_parquet(tmp_path / "a.parquet"))
    with pytest.raises(FileExistsError):
        release.write_csv(tmp_path / "a.csv")
    with pytest.raises(FileExistsError):
        release.write_parquet(tmp_path / "a.parquet")
