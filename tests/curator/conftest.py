"""What tests of the curator share."""

from __future__ import annotations

import pytest

from dpql.curator.engines import arrow_files


@pytest.fixture(params=["polars", "arrow"])
def lane(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who reads Parquet files: polars by excerpts where it can, or Arrow alone."""
    if request.param == "arrow":
        monkeypatch.setattr(arrow_files, "_excerpts", lambda *_: None)
    return str(request.param)
