"""What tests of the curator share."""

from __future__ import annotations

import pytest

from dpql.curator.sources import parquet


@pytest.fixture(autouse=True)
def _small_files_are_read_as_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let polars read the numbers of all files, as it does those of large ones."""
    monkeypatch.setattr(parquet, "_SHORT", 0)
