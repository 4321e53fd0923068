"""What every test needs: marks, its own memory of ledgers, no clock that fails it."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from marks import functions, starts_a_process
from postgres_servers import postgres_server
from spark_sessions import connect_session, spark_session, spark_url

__all__ = ["connect_session", "postgres_server", "spark_session", "spark_url"]

_SERVERS = {"postgres_server", "spark_url"}
"""Fixtures that start a server."""

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


@pytest.fixture(autouse=True)
def _same_precision() -> None:
    """Let every test begin with as many digits, whatever others have set."""
    if "mpmath" in sys.modules:
        sys.modules["mpmath"].mp.dps = 80


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Take a skipped engine for a failure, where all of them must be there."""
    report = yield
    engines = ("PostgreSQL", "extra `", "Java")
    if "DPQL_EVERY_ENGINE" in os.environ and report.skipped:
        reason = str(report.longrepr)
        if any(name in reason for name in engines):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid} needs an engine: {reason}"
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what Hypothesis runs and what starts a process; Spark comes first.

    Tests are dealt to workers in halves, so one of them starts Spark and not both.
    """
    items.sort(key=lambda item: "spark" not in item.nodeid.lower())
    for item in items:
        if isinstance(item, pytest.Function):
            if is_hypothesis_test(item.obj):
                item.add_marker("property")
            starts = any(starts_a_process(function) for function in functions(item))
            named = "postgres" in item.name or "spark" in item.name
            if starts or named or not _SERVERS.isdisjoint(item.fixturenames):
                item.add_marker("process")
