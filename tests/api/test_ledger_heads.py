"""Published releases tell of a ledger that was put back."""

from __future__ import annotations

import shutil

from api.office import DATASET, Office, code_of
from reports.sample_releases import (
    STEWARD,
    STRANGER,
)

from dpql.api.ledger_heads import known_heads
from dpql.ledger import Head
from dpql.reports.envelope import seal


def test_restored_ledger_is_noticed_by_releases_beside(office: Office) -> None:
    """Even with the witness gone, our own published releases know better."""
    backup = office.folder / "backup.db"
    shutil.copy(office.location, backup)
    office.run()
    shutil.copy(backup, office.location)
    office.forget()
    assert code_of(lambda: office.run("two")) == "DPQL706"
    assert code_of(lambda: office.run(folder=None, published=(office.releases,))) == (
        "DPQL706"
    )
    assert code_of(office.verify) == "DPQL612"


def test_ledger_put_back_and_run_again_is_noticed(office: Office) -> None:
    """The same entries have the same digests; the report they end in has not."""
    backup = office.folder / "backup.db"
    shutil.copy(office.location, backup)
    first = office.run()
    hidden = office.releases.rename(office.folder / "hidden")
    report = first.report
    while report.digest == first.report.digest:
        shutil.copy(backup, office.location)
        office.forget()
        shutil.rmtree(office.releases, ignore_errors=True)
        report = office.run("two").report
    hidden.joinpath("one").rename(office.releases / "one")
    office.forget()
    assert code_of(lambda: office.run("three", again=True)) == "DPQL706"
    assert code_of(office.verify) == "DPQL612"
    heads = known_heads([office.releases], [STEWARD], None)
    assert code_of(lambda: office.ledger.verify(DATASET, heads)) == "DPQL706"


def test_foreign_report_beside_cannot_block_a_run(office: Office) -> None:
    """A report that we did not sign could name any head; it is passed over."""
    office.run()
    folder = office.releases / "planted"
    folder.mkdir()
    from reports.sample_releases import make_payload

    planted = seal(make_payload(office.plan), [STRANGER])
    (folder / "release.dsse.json").write_bytes(planted)
    (office.releases / "junk").mkdir()
    (office.releases / "junk" / "release.dsse.json").write_bytes(b"junk")
    heads = known_heads([office.releases], [STEWARD], None)
    assert [type(head) for head in heads] == [Head]
    assert office.run("two", again=True).fresh


def test_a_report_that_was_compared_is_not_read_again(office: Office) -> None:
    """Whoever verifies a report has compared it with the ledger already."""
    done = office.run()
    (head,) = known_heads([office.releases], [STEWARD], None)
    assert done.report.digest == head.envelope
    again = known_heads([office.releases], [STEWARD], None, compared=done.report.digest)
    assert [] == again
