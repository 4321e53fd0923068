"""A release says whether its data have this budget alone, and verifiers hear it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from api.office import DATASET, Office, RememberingListener, code_of
from reports.sample_releases import TRUST, small_plan

from dpql.api.listener import Fate, Stage
from dpql.api.verification import chain_of, verify_release
from dpql.ledger import State
from dpql.reports.caveats import caveats
from dpql.reports.predicate import DATA
from dpql.reports.verify import Verified


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Give an office with a second dataset, neither of them bound."""
    made = Office(tmp_path, small_plan())
    made.open(name="second")
    return made


def _said(verified: Verified) -> tuple[str, tuple[str, ...]]:
    """Return how the data are bound, and what the verifier was warned of."""
    record = verified.predicate.ledger
    assert record is not None
    warned = [check.text for check in verified.checks if check.name == "data"]
    assert "; ".join(verified.predicate.caveats) == "; ".join(warned)
    return record.data, verified.predicate.caveats


def test_data_of_a_file_are_bound_and_nothing_is_said(office: Office) -> None:
    """The usual run: the file is this budget's, and a second one is refused."""
    office.run()
    assert _said(office.verify()) == ("bound", ())
    assert code_of(lambda: office.run("two", dataset="second")) == "DPQL716"
    assert office.states("second") == []


def test_data_from_memory_are_said_to_be_unbound(office: Office) -> None:
    """The report, the page and the verifier say that no ledger can tell."""
    office.run(frames={"rows": pl.read_parquet(office.data)})
    data, (said,) = _said(office.verify())
    assert data == "memory"
    assert said == (
        "the data came from memory, so the ledger cannot tell whether they have "
        "another budget"
    )
    for name in ("report.html", "release.dsse.json"):
        assert str(office.folder) not in (office.releases / "one" / name).read_text()
    page = (office.releases / "one" / "report.html").read_text("utf-8")
    assert "The data came from memory" in page
    assert office.run("two", dataset="second").fresh


def test_shared_data_are_said_to_be_shared_by_both(office: Office) -> None:
    """From the owner's decision on, no release of either hides the other budget."""
    office.run()
    office.ledger.bind("second", str(office.data), shared=True)
    office.run("two", dataset="second")
    office.run("three", again=True)
    assert _said(office.verify("one")) == ("bound", ())
    for name in ("two", "three"):
        data, said = _said(office.verify(name))
        assert data == "shared"
        assert said[0].startswith("the owner gave these data more than one budget")


def test_shared_data_stay_shared_when_a_copy_is_bound(office: Office) -> None:
    """A copy at another place has the same people in it: the caution stays."""
    office.run()
    office.ledger.bind("second", str(office.data), shared=True)
    office.run("two", dataset="second")
    office.data = shutil.copy(office.data, office.folder / "copy.parquet")
    office.ledger.bind(DATASET, str(office.data))
    office.run("three", again=True)
    data, said = _said(office.verify("three"))
    assert data == "shared"
    assert said[0].startswith("the owner gave these data more than one budget")


@pytest.mark.parametrize(("name", "true"), [("one", "bound"), ("two", "shared")])
def test_ledger_confirms_only_what_its_chain_says_of_sharing(
    office: Office, name: str, true: str
) -> None:
    """A report cannot call shared data its own, nor its own data shared."""
    office.run()
    office.ledger.bind("second", str(office.data), shared=True)
    office.run("two", again=True)
    verified = office.verify(name)
    record = verified.predicate.ledger
    assert record is not None
    ask = chain_of(office.ledger)
    agrees = {
        data: ask(replace(record, data=data), office.plan, verified.digest).agrees
        for data in ("bound", "shared")
    }
    assert agrees == {data: data == true for data in ("bound", "shared")}


def test_data_bound_while_a_run_reads_them_are_not_drawn_on(office: Office) -> None:
    """Another run was faster: nothing is drawn, and what was held back comes back."""

    class Faster(RememberingListener):
        def entered(self, stage: Stage) -> None:
            if stage is Stage.READING:
                office.run("faster", dataset="second")

    faster = Faster()
    assert code_of(lambda: office.run(listener=faster)) == "DPQL716"
    assert [one.fate for one in faster.endings] == [Fate.GIVEN_BACK]
    assert office.states() == [State.CANCELLED]
    assert office.states("second") == [State.RELEASED]
    assert office.ledger.account(DATASET).locations == ()


def test_ledger_confirms_no_binding_that_it_did_not_make(office: Office) -> None:
    """A report that calls data bound that came from memory disagrees with the chain."""
    office.run(frames={"rows": pl.read_parquet(office.data)})
    verified = verify_release(office.releases / "one", TRUST)
    record = verified.predicate.ledger
    assert record is not None
    ask = chain_of(office.ledger)
    agrees = {
        data: ask(replace(record, data=data), office.plan, verified.digest).agrees
        for data in DATA
    }
    assert agrees == {"bound": False, "shared": False, "memory": True}
    assert caveats(verified.release, replace(record, data="bound"), 2) == ()
    assert caveats(verified.release, record, 1) == ()
