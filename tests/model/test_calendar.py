"""Days, times and the keys of their parts are those of the vectors."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from golden import VECTORS

from dpql.model import calendar
from dpql.model.expression import CalendarPart

CASES = json.loads((VECTORS / "questions" / "dates.json").read_text("utf-8"))["cases"]
DATES = [c for c in CASES if "date" in c["input"]]
KEYS = [c for c in CASES if "keys_of" in c["input"]]


def test_no_case_is_left_out() -> None:
    """The cases without a date or keys are of texts, which sources read."""
    texts = [c for c in CASES if "text" in c["input"]]
    assert len(CASES) == len(DATES) + len(KEYS) + len(texts)
    assert DATES
    assert KEYS


@pytest.mark.golden
@pytest.mark.parametrize("case", DATES, ids=lambda c: c["id"])
def test_a_date_has_its_parts(case: dict[str, dict[str, str]]) -> None:
    """The day's number, and the key of each part."""
    day = calendar.read_date(case["input"]["date"])
    assert day is not None
    expected = dict(case["expect"])
    assert expected.pop("day") == day
    for part, key in expected.items():
        index = calendar.part_index(CalendarPart(part), day * calendar.DAY)
        assert key == calendar.part_key(CalendarPart(part), index)


@pytest.mark.golden
@pytest.mark.parametrize("case", KEYS, ids=lambda c: c["id"])
def test_keys_are_enumerated_from_the_bounds(case: dict[str, dict[str, str]]) -> None:
    """In order of time, each once."""
    given = case["input"]
    ends = [calendar.read_date(given[end]) for end in ("first", "last")]
    first, last = (end * calendar.DAY for end in ends if end is not None)
    keys = calendar.part_keys(CalendarPart(given["keys_of"]), first, last)
    assert tuple(case["expect"]["keys"]) == keys


def test_every_day_has_a_key_among_the_enumerated() -> None:
    """Weeks around every end of a year, the first days and the last."""
    for day in (
        *range(calendar.FIRST_DAY, calendar.FIRST_DAY + 400),
        *range(-800, 800),
        *range(calendar.LAST_DAY - 400, calendar.LAST_DAY + 1),
    ):
        known = date(1970, 1, 1) + timedelta(day) if -800 < day < 800 else None
        index = calendar.part_index(CalendarPart.WEEK, day * calendar.DAY)
        key = calendar.part_key(CalendarPart.WEEK, index)
        if known is not None:
            year, week, weekday = known.isocalendar()
            assert f"{year}-W{week:02}" == key
            found = calendar.part_index(CalendarPart.WEEKDAY, day * calendar.DAY)
            assert weekday - 1 == found


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-01 00:01", 60),
        ("1970-01-01T01:00:07", 3_607),
        ("1969-12-31 23:59:59", -1),
        ("2023-02-29", None),
        ("2023-2-3", None),
        ("2023-02-03 24:00", None),
        ("0000-01-01", None),
        ("", None),
        ("٢٠٢٣-02-03", None),
    ],
)
def test_a_time_of_a_spec_is_read_and_written(text: str, seconds: int | None) -> None:
    """Only ISO 8601 is, in the digits of ASCII."""
    assert seconds == calendar.read_time(text)
    if seconds is not None:
        assert seconds == calendar.read_time(calendar.time_text(seconds))


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("+01:00", 60), ("-05:30", -330), ("+00:00", 0), ("+19:00", None), ("Z", None)],
)
def test_a_zone_is_a_distance_from_utc(text: str, minutes: int | None) -> None:
    """Fixed, in hours and minutes."""
    assert minutes == calendar.read_zone(text)
    if minutes is not None:
        assert text == calendar.zone_text(minutes)
