"""Plans are read and shown."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpql
import dpql.api

ROOT = Path(__file__).parents[2]


def test_a_plan_shows_itself() -> None:
    """`print` gives the review table, a notebook gets it escaped."""
    plan = dpql.plan(ROOT / "specs" / "district_wages.yaml")
    assert str(plan).startswith(f"plan {plan.digest[:8]}   (no data was read)")
    html = plan._repr_html_()
    assert "headcount by district</td>" in html
    assert str(dpql.diff(plan, plan)).startswith("SAME ")
    assert "&gt;= 18" in html


def test_a_missing_plan_is_a_fault(tmp_path: Path) -> None:
    """Reading raises nothing but DpqlError."""
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "nul\0"):
        with pytest.raises(dpql.DpqlError, match="DPQL400"):
            dpql.read(path)
