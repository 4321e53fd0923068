"""A promise on every group is from 1 to the declared rows, where these are private."""

from __future__ import annotations

import pytest

from dpql.statistics.at_least import AT_LEAST
from dpql.statistics.option import Usage


@pytest.mark.parametrize(
    ("value", "known", "rows", "sound"),
    [
        (1, False, 10, True),
        (10, False, 10, True),
        (0, False, 10, False),
        (11, False, 10, False),
        (11, False, None, True),
        (5, True, 10, False),
        (None, False, 10, True),
        (None, True, 10, True),
    ],
)
def test_promises(
    value: int | None, rows: int | None, *, known: bool, sound: bool
) -> None:
    """Where the number of rows is public a promise says nothing."""
    usage = Usage(inputs=(), known=known, rows=rows)
    codes = [objection.code for objection in AT_LEAST.check(value, usage)]
    assert ([] if sound else ["DPQL317"]) == codes
