"""A statement has one canonical form, and is of one kind."""

from __future__ import annotations

import json
from datetime import date
from hashlib import sha256

import pytest
from reports.sample_releases import make_payload, record, rehearsal_payload, small_plan

from dpql.errors import VerifyFault
from dpql.model.codec import canonical
from dpql.reports.predicate import APPROVAL, REHEARSAL, RELEASE, ReportPredicate
from dpql.reports.statement import (
    read_day,
    read_ledger_record,
    read_statement,
    write_content,
    write_statement,
)

PAYLOAD = make_payload(small_plan())


def test_a_statement_reads_back() -> None:
    """Predicate and subjects, and the bytes again."""
    read = read_statement(PAYLOAD, (RELEASE,), ReportPredicate)
    assert small_plan() == read.predicate.plan
    content = write_content(RELEASE, ReportPredicate, read.predicate)
    assert PAYLOAD == write_statement(content, dict(read.subjects))


def test_the_digest_is_that_of_the_predicate() -> None:
    """As `jq -S .predicate` prints it."""
    read = read_statement(PAYLOAD, (RELEASE,), ReportPredicate)
    expected = sha256(canonical(json.loads(PAYLOAD)["predicate"])).hexdigest()
    assert expected == read.content
    assert expected == write_content(RELEASE, ReportPredicate, read.predicate).digest


@pytest.mark.parametrize("kind", [REHEARSAL, APPROVAL])
def test_no_kind_stands_for_another(kind: str) -> None:
    """A release is read as a release, and as nothing else."""
    with pytest.raises(VerifyFault, match="DPQL605"):
        read_statement(PAYLOAD, (kind,), ReportPredicate)


def test_the_first_of_several_kinds_is_the_one_that_is_missing() -> None:
    """A reader of both kinds of report is told which it read, or that it is neither."""
    kinds = RELEASE, REHEARSAL
    assert RELEASE == read_statement(PAYLOAD, kinds, ReportPredicate).predicate_type
    other = read_statement(rehearsal_payload(small_plan()), kinds, ReportPredicate)
    assert REHEARSAL == other.predicate_type
    document = json.loads(PAYLOAD) | {"predicateType": APPROVAL}
    with pytest.raises(VerifyFault, match="an approval of a plan, not a release"):
        read_statement(canonical(document), kinds, ReportPredicate)


@pytest.mark.parametrize(
    "change",
    [
        {"_type": "https://in-toto.io/Statement/v2"},
        {"subject": []},
        {"more": ""},
        {"predicate": {}},
    ],
    ids=str,
)
def test_other_members_are_refused(change: dict[str, object]) -> None:
    """A statement is version 1, on the files of its kind, with no member more."""
    document = json.loads(PAYLOAD) | change
    with pytest.raises(VerifyFault, match="DPQL606"):
        read_statement(canonical(document), (RELEASE,), ReportPredicate)


def test_other_bytes_are_refused() -> None:
    """One document has one text."""
    with pytest.raises(VerifyFault, match="DPQL606"):
        read_statement(PAYLOAD + b"\n", (RELEASE,), ReportPredicate)


def test_a_debit_is_read_alone() -> None:
    """From a release, and from nothing else."""
    assert record(small_plan()) == read_ledger_record(PAYLOAD)
    with pytest.raises(VerifyFault, match="DPQL605"):
        read_ledger_record(rehearsal_payload(small_plan()))


def test_days_have_one_spelling() -> None:
    """Year, month and day, with dashes."""
    assert date(2026, 11, 16) == read_day("2026-11-16")
    for text in ("20261116", "2026-W47-1", "2026-02-30", "16.11.2026", ""):
        with pytest.raises(VerifyFault, match="DPQL606"):
            read_day(text)
