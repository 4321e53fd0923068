"""What was released comes out of the ledger as it was signed."""

from __future__ import annotations

import hashlib
import shutil

import pytest
from api.office import DATASET, Office, code_of
from ledger.ledger_stores import tampering

from dpql.api.execute import Executed
from dpql.api.stored_reports import fetched_report
from dpql.errors import LedgerFault
from dpql.model.release import Release


def test_tables_are_made_again_where_the_ledger_lost_them(office: Office) -> None:
    """The stored report is enough; what has another digest is not passed off."""
    first = office.run()
    _edit_kept(office, "DELETE FROM kept WHERE digest IN ({})", first)
    shutil.rmtree(office.releases)
    assert office.run().report == first.report
    assert office.verify().digest == first.report.digest


def test_table_that_cannot_be_made_again_is_refused(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another engine may write another file; it is not the one that was signed."""
    first = office.run()
    _edit_kept(office, "UPDATE kept SET data = x'00' WHERE digest IN ({})", first)
    monkeypatch.setattr(Release, "to_parquet", lambda _: b"PAR2")
    assert code_of(lambda: office.run("two")) == "DPQL711"
    assert not (office.releases / "two").exists()


def _edit_kept(office: Office, statement: str, done: Executed) -> None:
    """Do something to the stored tables of a release, behind the ledger's back."""
    digests = [hashlib.sha256(data).hexdigest() for _, data in done.report.files]
    with tampering(office.location) as execute_sql:
        execute_sql(statement.format(", ".join(f"'{digest}'" for digest in digests)))


def test_only_what_was_released_is_fetched(office: Office) -> None:
    """A digest that no run ended in, or that does not say which, is refused."""
    for _ in range(2):
        office.run(folder=None, again=True)
    for digest in ("f" * 64, "", "zz"):
        with pytest.raises(LedgerFault) as refusal:
            fetched_report(office.ledger, DATASET, digest)
        assert refusal.value.diagnostics[0].code == "DPQL709"
