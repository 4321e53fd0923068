"""What executors must have is said before any row, in words without data."""

from __future__ import annotations

from typing import Any

import pytest

from dpql.curator.engines.spark_executors import (
    difference,
    require_executors,
    stated,
)
from dpql.errors import RunFault

HERE = "3.11 0.5.0 2.1.0 26.0.1"


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (HERE, None),
        ("3.11 0.5.0 2.1.0 17.0.0", None),
        ("3.12 0.5.0 2.1.0 26.0.1", "Python is 3.12 there and 3.11 here"),
        ("3.11 0.4.0 2.1.0 26.0.1", "dpql is 0.4.0 there and 0.5.0 here"),
        ("3.11 0.5.0 2.2.0 26.0.1", "polars is 2.2.0 there and 2.1.0 here"),
        ("3.11  2.1.0 26.0.1", "dpql is missing there"),
        ("3.11 0.5.0 2.1.0 ", "pyarrow is missing there"),
    ],
)
def test_versions_that_matter_are_compared(there: str, why: str | None) -> None:
    """Python, dpql and polars must be the same; pyarrow must be there."""
    assert why == difference(there, HERE)
    assert difference(stated(), stated()) is None


class _Cluster:
    """A session whose executors answer so, or fail."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines

    def range(self, *_: int) -> Any:
        return self

    def mapInArrow(self, *_: Any) -> Any:  # noqa: N802  as Spark calls it
        return self

    def collect(self) -> list[tuple[str]]:
        if not self._lines:
            raise ValueError("a worker said something")
        return [(line,) for line in self._lines]


@pytest.mark.parametrize("lines", [(), (stated(), "2.7 0.1 0.1 1")])
def test_executors_that_differ_are_refused(lines: tuple[str, ...]) -> None:
    """One of them is enough; what Spark says of it is withheld."""
    with pytest.raises(RunFault, match="DPQL512") as caught:
        require_executors(_Cluster(*lines), "wages")
    assert "a worker said" not in str(caught.value)
    require_executors(_Cluster(stated(), stated()), "wages")


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_executors_of_this_machine_have_all(spark_session: Any) -> None:
    """They run this Python."""
    require_executors(spark_session, "wages")
