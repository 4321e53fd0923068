"""A report says what its budget does not cover."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reports.sample_releases import make_outcome, record, small_plan

from dpql.model.release import Rehearsal
from dpql.reports.caveats import UNCOUNTED, caveats
from dpql.reports.predicate import BOUND, FIRST_FORMAT, FORMAT, MEMORY, SHARED

RELEASE = make_outcome(small_plan())
RECORD = record(small_plan())


@pytest.mark.parametrize(
    ("data", "words"),
    [(BOUND, []), (SHARED, ["more than one budget"]), (MEMORY, ["came from memory"])],
)
def test_each_way_to_bind_data_has_its_caveat(data: str, words: list[str]) -> None:
    """Data that are bound to one budget need none."""
    found = caveats(RELEASE, replace(RECORD, data=data), FORMAT)
    assert len(words) == len(found)
    assert all(word in text for word, text in zip(words, found, strict=True))


def test_without_a_ledger_nothing_was_debited_or_counted() -> None:
    """A release says both; a rehearsal and the first format say neither."""
    assert UNCOUNTED in caveats(RELEASE, None, FORMAT)
    assert 2 == len(caveats(RELEASE, None, FORMAT))
    assert () == caveats(make_outcome(small_plan(), Rehearsal), None, FORMAT)
    assert () == caveats(RELEASE, None, FIRST_FORMAT)
