"""Parts of days and times are counted as the calendar of the model counts them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.engines.day_parts import day_indices, part_indices
from dpql.model.calendar import DAY, FIRST_DAY, LAST_DAY, part_index
from dpql.model.expression import CalendarPart

_ENDS = [FIRST_DAY, FIRST_DAY + 1, -366, -365, -1, 0, 1, 58, 59, 60, 364, 365, LAST_DAY]


@pytest.mark.parametrize("part", CalendarPart)
def test_ends_of_years(part: CalendarPart) -> None:
    """The first and last days, and those around 1970 and ends of February."""
    seconds = [day * DAY + second for day in _ENDS for second in (0, 1, DAY - 1)]
    expected = [part_index(part, one) for one in seconds]
    assert expected == part_indices(part, np.array(seconds)).tolist()


@pytest.mark.property
@given(
    days=st.lists(st.integers(FIRST_DAY, LAST_DAY), min_size=1, max_size=50),
    part=st.sampled_from([part for part in CalendarPart if part != "hour"]),
)
def test_all_days(days: list[int], part: CalendarPart) -> None:
    """Any day of the years 1 to 9999."""
    expected = [part_index(part, day * DAY) for day in days]
    assert expected == day_indices(part, np.array(days)).tolist()
