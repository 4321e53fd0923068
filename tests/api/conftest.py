"""An office to run plans in."""

from __future__ import annotations

from pathlib import Path

import pytest
from api.office import Office
from reports.sample_releases import small_plan


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Give an office with an open dataset."""
    return Office(tmp_path, small_plan())
