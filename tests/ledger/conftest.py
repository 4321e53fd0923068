"""Ledgers to test: a file always, a private PostgreSQL server where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger.ledger_stores import Stores


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    """Give fresh stores for ledgers, of each kind in turn."""
    if request.param == "sqlite":
        return Stores(folder=tmp_path)
    return Stores(folder=tmp_path, server=request.getfixturevalue("postgres_server"))
