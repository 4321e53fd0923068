"""The first draw binds data to their budget; a second budget is a decision."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from chains import OPENED, chain, reserved
from ledger.ledger_stores import Stores, count_plan

from dpql.errors import LedgerFault
from dpql.ledger import Binding, Ledger, Receipt, Reservation, State
from dpql.ledger.entry import Drawing
from dpql.ledger.replay import replay
from dpql.ledger.rules import refuse_overspending, refuse_runs
from dpql.model.spec import Neighbours

BINDER = Path(__file__).with_name("binder.py")
BINDERS = 6


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Give a folder with the files of two months."""
    folder = tmp_path / "data"
    folder.mkdir()
    for month in ("may", "june"):
        (folder / f"{month}.csv").write_text("region\na\n", "utf-8")
    return folder


@pytest.fixture
def ledger(stores: Stores) -> Ledger:
    """Give a ledger with three datasets, none of them bound."""
    _, made = stores.make()
    for name in ("one", "two", "three"):
        made.open_account(
            name, cap=Fraction(9), unit=None, neighbours=Neighbours.ADD_REMOVE
        )
    return made


def _reserved(ledger: Ledger, name: str, frame: object) -> Reservation:
    granted = ledger.reserve(name, count_plan(), again=True, data=frame)
    assert isinstance(granted, Reservation)
    return granted


def _draw(ledger: Ledger, name: str, frame: object) -> Receipt:
    return ledger.begin_draw(_reserved(ledger, name, frame))


def _refused(attempt: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(LedgerFault) as refusal:
        attempt()
    (why,) = refusal.value.diagnostics
    return why.code, why.hint or ""


def test_first_draw_binds_the_data(ledger: Ledger, data: Path) -> None:
    """An entry before that of the draw says where the data are, once."""
    receipt = _draw(ledger, "one", data / "may.csv")
    assert receipt.binding is Binding.BOUND
    account = ledger.verify("one")
    assert account.locations == (str(data / "may.csv"),)
    assert (account.seq, receipt.head.seq) == (4, 4)
    assert account.runs[0].bound
    assert _draw(ledger, "one", str(data / "may.csv")).head.seq == 6
    assert ledger.verify("one").locations == account.locations


def test_second_dataset_gets_no_budget_for_the_same_data(
    ledger: Ledger, data: Path
) -> None:
    """Under whatever name and by whatever way: refused before anything is read."""
    _draw(ledger, "one", data / "may.csv")
    (data / "link.csv").symlink_to(data / "may.csv")
    (data / "twin.csv").hardlink_to(data / "may.csv")
    for way in ("may.csv", "link.csv", "twin.csv", "*.csv", "."):
        code, hint = _refused(lambda way=way: _reserved(ledger, "two", data / way))
        assert code == "DPQL716"
        assert "--dataset one" in hint
        assert "dpql ledger bind two --data LOCATION --shared" in hint
    assert ledger.account("two").runs == ()
    assert _draw(ledger, "two", data / "june.csv").binding is Binding.BOUND


def test_hint_for_a_name_that_is_not_open_opens_it_first(
    ledger: Ledger, data: Path
) -> None:
    """Only an open dataset can be bound, so the steps come in that order."""
    may = str(data / "may.csv")
    _draw(ledger, "one", may)

    def opened() -> object:
        return ledger.open_account(
            "four",
            cap=Fraction(9),
            unit=None,
            neighbours=Neighbours.ADD_REMOVE,
            location=may,
        )

    code, hint = _refused(opened)
    first, second = (
        "`dpql ledger open four` without --data",
        "bind four --data LOCATION",
    )
    assert code == "DPQL716"
    assert 0 < hint.find(first) < hint.find(second)
    assert first not in _refused(lambda: _reserved(ledger, "two", may))[1]


def test_two_runs_at_once_do_not_both_draw(ledger: Ledger, data: Path) -> None:
    """Both are reserved before either draws: the second is refused at its draw."""
    frame = str(data / "may.csv")
    first, second = (_reserved(ledger, name, frame) for name in ("one", "two"))
    ledger.begin_draw(second)
    before = ledger.account("one").seq
    assert _refused(lambda: ledger.begin_draw(first))[0] == "DPQL716"
    assert ledger.account("one").seq == before
    ledger.cancel(first)
    assert ledger.account("one").committed == 0


def test_a_run_that_never_draws_binds_nothing(ledger: Ledger, data: Path) -> None:
    """A mistyped path or a wrong file costs nothing, the name of the data neither."""
    ledger.cancel(_reserved(ledger, "one", data / "mya.csv"))
    assert ledger.account("one").locations == ()
    assert _draw(ledger, "one", data / "may.csv").binding is Binding.BOUND


def test_file_of_the_next_month_is_bound_by_the_owner(
    ledger: Ledger, data: Path
) -> None:
    """The refusal says how; a pattern covers the months to come."""
    _draw(ledger, "one", data / "may.csv")
    code, hint = _refused(lambda: _reserved(ledger, "one", data / "june.csv"))
    assert code == "DPQL716"
    assert "dpql ledger bind one --data LOCATION" in hint
    assert "the file of a new month" in hint
    ledger.bind("one", str(data / "june.csv"))
    assert _draw(ledger, "one", data / "june.csv").binding is Binding.BOUND
    assert _refused(lambda: _reserved(ledger, "one", data / "may.csv"))[0] == "DPQL716"
    ledger.bind("one", str(data / "*.csv"))
    (data / "july.csv").write_text("region\na\n", "utf-8")
    for month in ("may", "june", "july"):
        receipt = _draw(ledger, "one", data / f"{month}.csv")
        assert receipt.binding is Binding.BOUND


def test_data_in_memory_are_not_bound(ledger: Ledger, data: Path) -> None:
    """A table has no location; the receipt says so, and nothing is taken by it."""
    receipt = _draw(ledger, "one", object())
    assert receipt.binding is Binding.MEMORY
    account = ledger.account("one")
    assert (account.locations, account.seq) == ((), 3)
    assert not account.runs[0].bound
    assert _draw(ledger, "two", data / "may.csv").binding is Binding.BOUND
    assert _draw(ledger, "two", object()).binding is Binding.MEMORY


def test_owner_may_share_data_and_the_chain_says_so(ledger: Ledger, data: Path) -> None:
    """Two budgets for the same data: a decision for these two, at that location."""
    may = str(data / "may.csv")
    _draw(ledger, "one", may)
    account = ledger.bind("two", may, shared=True)
    assert account.locations == (may,)
    (share,) = account.shares
    assert (share.location, share.datasets) == (may, ("one",))
    assert ledger.verify("two") == account
    for name in ("one", "two", "one"):
        assert _draw(ledger, name, may).binding is Binding.SHARED
    assert _refused(lambda: _reserved(ledger, "three", may))[0] == "DPQL716"
    ledger.bind("one", str(data / "june.csv"))
    june = lambda: ledger.bind("two", str(data / "june.csv"))  # noqa: E731  one line
    assert _refused(june)[0] == "DPQL716"


def test_data_once_shared_stay_shared_wherever_they_go(
    ledger: Ledger, data: Path
) -> None:
    """Copying the data and binding the copy takes the second budget from nobody."""
    may, june = str(data / "may.csv"), str(data / "june.csv")
    _draw(ledger, "one", may)
    assert not ledger.account("one").runs[0].shared
    ledger.bind("two", may, shared=True)
    for name in ("one", "two"):
        copy = str(data / f"{name}.csv")
        Path(copy).write_bytes((data / "may.csv").read_bytes())
        ledger.bind(name, copy)
        assert _draw(ledger, name, copy).binding is Binding.SHARED
        assert _draw(ledger, name, copy).binding is Binding.SHARED
        account = ledger.verify(name)
        assert [run.shared for run in account.runs[-2:]] == [True, True]
        assert account.locations[-1] == copy
    assert ledger.account("one").partners == ("two",)
    assert ledger.account("two").partners == ()
    assert _draw(ledger, "three", june).binding is Binding.BOUND
    assert not ledger.account("three").runs[0].shared


def test_a_partner_gets_the_shared_location_and_no_other(
    ledger: Ledger, data: Path
) -> None:
    """That a dataset has a partner is kept, and frees none of its later locations."""
    may, june = str(data / "may.csv"), str(data / "june.csv")
    _draw(ledger, "one", may)
    ledger.bind("two", may, shared=True)
    ledger.bind("one", june)
    _draw(ledger, "one", june)
    for attempt in (
        lambda: ledger.bind("two", june),
        lambda: ledger.bind("three", may),
    ):
        assert _refused(attempt)[0] == "DPQL716"


def test_a_shared_folder_gives_later_files_to_nobody_else(
    ledger: Ledger, data: Path
) -> None:
    """Sharing names its datasets: a third one cannot slip in."""
    folder = str(data)
    _draw(ledger, "one", folder)
    ledger.bind("two", folder, shared=True)
    (data / "july.csv").write_text("region\na\n", "utf-8")
    july = str(data / "july.csv")
    for attempt in (
        lambda: _reserved(ledger, "three", july),
        lambda: ledger.bind("three", july),
    ):
        assert _refused(attempt)[0] == "DPQL716"
    account = ledger.bind("three", july, shared=True)
    assert account.shares[0].datasets == ("one", "two")
    assert _draw(ledger, "three", july).binding is Binding.SHARED
    assert _draw(ledger, "one", folder).binding is Binding.SHARED


def test_nothing_is_shared_that_nobody_has(ledger: Ledger, data: Path) -> None:
    """The flag without a second budget is a mistake, and is called one."""
    share = lambda: ledger.bind("one", str(data), shared=True)  # noqa: E731  one line
    assert _refused(share)[0] == "DPQL717"
    assert ledger.account("one").seq == 1


def test_dataset_taken_out_of_the_ledger_is_missed_by_the_others(
    stores: Stores, data: Path
) -> None:
    """Taking a chain out frees neither its data nor its runs for another dataset."""
    from ledger.ledger_stores import tampering

    location, ledger = stores.make()
    ledger.open_account(
        "two", cap=Fraction(9), unit=None, neighbours=Neighbours.ADD_REMOVE
    )
    _draw(ledger, "two", data / "may.csv")
    with tampering(location) as execute:
        execute("DELETE FROM dpql_entry WHERE dataset = 'two'")
    name = next(name for name in ledger.datasets() if name != "two")
    for attempt in (
        lambda: _reserved(ledger, name, data / "may.csv"),
        lambda: ledger.reserve(name, count_plan(), runs=1),
    ):
        assert _refused(attempt)[0] == "DPQL706"


def test_processes_at_once_bind_data_to_one_dataset(stores: Stores, data: Path) -> None:
    """Six processes, six datasets, one file: one of them draws."""
    location, ledger = stores.make()
    names = [f"set{number}" for number in range(BINDERS)]
    for name in names:
        ledger.open_account(
            name, cap=Fraction(9), unit=None, neighbours=Neighbours.ADD_REMOVE
        )
    plan_file = stores.folder / "race.plan.json"
    plan_file.write_bytes(count_plan().to_json())
    shared = [location, stores.witness(), str(plan_file), str(data / "may.csv")]
    racers = [
        subprocess.Popen(
            [sys.executable, str(BINDER), name, *shared],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for word in ("ready\n", "reserved\n"):
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == word
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
    printed = [racer.communicate(timeout=240)[0].strip() for racer in racers]
    assert sorted(printed) == [*["DPQL716"] * (BINDERS - 1), "drawn"]
    states = [run.state for name in names for run in ledger.verify(name).runs]
    assert sorted(states) == ["drawing", *["reserved"] * (BINDERS - 1)]
    assert states.count(State.DRAWING) == 1


def test_refusals_name_the_cure() -> None:
    """What a dead run holds back is recovered; what is spent needs the owner."""
    held = replay("d", chain(OPENED, reserved("0", "2")))
    spent = replay("d", chain(OPENED, reserved("0", "2"), Drawing(run=2)))
    cures = {
        "recover d": held,
        "raise-cap": spent,
    }
    for words, account in cures.items():
        with pytest.raises(LedgerFault, match="DPQL703") as refusal:
            refuse_overspending(account, count_plan())
        assert words in str(refusal.value.diagnostics[0].hint)
    cures = {"recover d": held, "--runs 2": spent}
    for words, account in cures.items():
        with pytest.raises(LedgerFault, match="DPQL715") as refusal:
            refuse_runs(account, {"d": account}, "p" * 64, 1)
        assert words in str(refusal.value.diagnostics[0].hint)


def test_a_pure_budget_refuses_a_delta(ledger: Ledger) -> None:
    """Gaussian noise is refused where the owner promised pure privacy."""
    from ledger.ledger_stores import gaussian_plan

    code, words = _refused(lambda: ledger.reserve("one", gaussian_plan()))
    assert code == "DPQL718"
    assert "delta" in words
    assert ledger.account("one").runs == ()
