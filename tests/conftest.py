"""What every test needs: its own memory of ledgers, and no clock that fails it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault: neither an example nor the making of one has a deadline.
settings.register_profile(
    "dpql", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("dpql")


@pytest.fixture(scope="session", autouse=True)
def _own_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what ledgers remember in a folder of this session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
