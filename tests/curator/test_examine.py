"""Data are opened for a plan without a look at their rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.started import WAGES

import dpql
from dpql.curator.examine import examine
from dpql.errors import RunFault

PLAN = dpql.plan(WAGES)


def test_a_header_that_fits_is_enough(tmp_path: Path) -> None:
    """Not one row has to be there, and what is in rows does not matter."""
    path = tmp_path / "w.csv"
    for rows in ("", "a,b,c,d,e,f\n\xff\n"):
        path.write_text(f"person_id,district,age,wage\n{rows}", "latin-1")
        examine(PLAN, {"wages": path}, engine="polars")


@pytest.mark.parametrize(
    ("header", "code"), [(None, "DPQL501"), ("person_id,age,wage\n", "DPQL503")]
)
def test_what_a_header_tells_is_refused(
    tmp_path: Path, header: str | None, code: str
) -> None:
    """Files that are missing, and columns that are."""
    path = tmp_path / "w.csv"
    if header is not None:
        path.write_text(header, "utf-8")
    with pytest.raises(RunFault, match=code):
        examine(PLAN, {"wages": str(path)}, engine="polars")


def test_what_an_engine_says_is_left_to_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may follow from a row, so whoever learns it pays."""
    from dpql.curator.engines import polars

    def failing(*_: object) -> None:
        raise ValueError("a cell")

    monkeypatch.setattr(polars, "open_source", failing)
    examine(PLAN, {"wages": tmp_path / "w.csv"}, engine="polars")
