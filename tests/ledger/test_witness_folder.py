"""A user's own memory knows a chain wherever it lies, and notices what is put back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from ledger.ledger_stores import (
    DATASET,
    Stores,
    count_plan,
    restore,
    snapshot,
    tampering,
)
from reports.sample_releases import DAY, STEWARD

from dpql.api.execute import execute
from dpql.api.run_request import RunRequest
from dpql.errors import LedgerFault
from dpql.ledger import Account, Ledger, Reservation, WitnessFolder, open_ledger
from dpql.ledger.witness import user_folder
from dpql.model.spec import Neighbours

ROWS = pl.DataFrame({"region": ["a"] * 30 + ["b"] * 20})


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a user who remembers nothing yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = user_folder()
    assert folder is not None
    return folder


def _opened(stores: Stores) -> tuple[str, Ledger]:
    """Make a ledger as the command does: with the witnesses that are the default."""
    location = stores.location()
    ledger = open_ledger(location, create=True)
    ledger.open_account(
        DATASET, cap=Fraction(3), unit=None, neighbours=Neighbours.ADD_REMOVE
    )
    return location, ledger


def _run(ledger: Ledger, **options: bool) -> None:
    execute(
        RunRequest(
            plan=count_plan(),
            frames={"rows": ROWS},
            ledger=ledger,
            dataset=DATASET,
            signers=(STEWARD,),
            day=DAY,
            **options,  # type: ignore[arg-type]
        )
    )


def _code(attempt: Callable[[], object]) -> str:
    with pytest.raises(LedgerFault) as refusal:
        attempt()
    return refusal.value.diagnostics[0].code


def test_backup_put_back_is_noticed_by_a_run(stores: Stores) -> None:
    """Ledger and witness beside it are both old; the user's memory is not."""
    location, ledger = _opened(stores)
    backup = snapshot(location)
    _run(ledger)
    restore(location, backup)
    for again in (False, True):
        assert _code(lambda again=again: _run(ledger, again=again)) == "DPQL706"
    assert _code(lambda: open_ledger(location).verify(DATASET)) == "DPQL706"


def test_backup_of_a_later_day_is_noticed_too(stores: Stores) -> None:
    """Also when the chain that is put back is long, and one run short."""
    location, ledger = _opened(stores)
    _run(ledger)
    backup = snapshot(location)
    _run(ledger, again=True)
    restore(location, backup)
    assert _code(lambda: _run(ledger, again=True)) == "DPQL706"


def test_copy_of_a_ledger_is_known_as_a_copy(tmp_path: Path) -> None:
    """Two copies of one file do not spend one budget twice."""
    stores = Stores(folder=tmp_path)
    location, ledger = _opened(stores)
    copy = tmp_path / "elsewhere" / "copy.db"
    copy.parent.mkdir()
    shutil.copy(location, copy)
    _run(ledger)
    assert _code(lambda: _run(open_ledger(str(copy)))) == "DPQL706"
    _run(ledger, again=True)


def test_the_copy_that_is_used_first_is_the_ledger(tmp_path: Path) -> None:
    """A ledger that was moved goes on; the one that was left behind does not."""
    location, ledger = _opened(Stores(folder=tmp_path))
    moved = tmp_path / "moved.db"
    shutil.copy(location, moved)
    _run(open_ledger(str(moved)))
    assert _code(lambda: _run(ledger)) == "DPQL706"


def test_new_ledgers_of_the_same_data_are_other_ledgers(stores: Stores) -> None:
    """A ledger made anew has a mark of its own, and no false alarm is raised."""
    for _ in range(3):
        _, ledger = _opened(stores)
        _run(ledger)
        assert ledger.verify(DATASET).spent == 1


def test_marks_differ(stores: Stores) -> None:
    """Every chain has a name that no other has."""
    marks = {_opened(stores)[1].account(DATASET).mark for _ in range(5)}
    assert len(marks) == 5


def test_memory_is_private_and_holds_no_name_of_the_ledger(
    stores: Stores, memory: Path
) -> None:
    """The folder is its owner's; files are named by marks, not by locations."""
    location, ledger = _opened(stores)
    account = ledger.account(DATASET)
    names = {f"{account.mark}.json", f"{account.ledger}.json"}
    assert memory.stat().st_mode & 0o077 == 0
    assert {path.name for path in memory.iterdir()} == names | {
        f"{name}.lock" for name in names
    }
    for name in names:
        assert location not in (memory / name).read_text("utf-8")
        assert (memory / name).stat().st_mode & 0o077 == 0


ALL = "DELETE FROM dpql_entry"
ONE = f"DELETE FROM dpql_entry WHERE dataset = '{DATASET}'"


@pytest.mark.parametrize("harm", [ALL, ONE])
def test_dataset_that_was_taken_out_is_missed(stores: Stores, harm: str) -> None:
    """Though no row and no file beside the ledger tells of it any more."""
    location, ledger = _opened(stores)
    ledger.open_account(
        "other", cap=Fraction(1), unit=None, neighbours=Neighbours.ADD_REMOVE
    )
    _run(ledger)
    with tampering(location) as execute_:
        execute_(harm)
    Path(f"{location}.witness").unlink(missing_ok=True)
    found = open_ledger(location)
    assert DATASET in found.datasets()
    for attempt in (
        lambda: found.account(DATASET),
        lambda: found.verify(DATASET),
        lambda: found.raise_cap(DATASET, Fraction(9)),
        lambda: _run(found),
        lambda: found.open_account(
            DATASET, cap=Fraction(9), unit=None, neighbours=Neighbours.ADD_REMOVE
        ),
    ):
        assert _code(attempt) == "DPQL706"
    assert _code(lambda: found.account("third")) == "DPQL701"
    if harm == ONE:
        assert found.verify("other").seq == 1


def test_ledger_without_a_name_is_known_by_its_chains_alone(stores: Stores) -> None:
    """As one from before ledgers had names: nothing is missed, nothing refused."""
    location, ledger = _opened(stores)
    with tampering(location) as execute_:
        execute_(
            "PRAGMA user_version = 0"
            if stores.server is None
            else "COMMENT ON TABLE dpql_entry IS '../../up'"
        )
    assert ledger.account(DATASET).ledger == ""
    _run(ledger)
    assert ledger.verify(DATASET).spent == 1


def test_damaged_memory_refuses(stores: Stores, memory: Path) -> None:
    """What cannot be read is no reason to go on as if nothing were known."""
    _, ledger = _opened(stores)
    mark = ledger.account(DATASET).mark
    (memory / f"{mark}.json").write_bytes(b"{}")
    assert _code(lambda: _run(ledger)) == "DPQL714"


def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave the user without a folder: a file has its name."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))


def test_file_has_its_own_witness_where_there_is_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine without a home still runs on a file, guarded by what lies beside."""
    _nowhere(monkeypatch, tmp_path)
    location, ledger = _opened(Stores(folder=tmp_path))
    backup = Path(location).read_bytes()
    _run(ledger)
    Path(location).write_bytes(backup)
    assert _code(lambda: _run(ledger)) == "DPQL706"


def test_server_needs_a_memory_before_anything_is_written(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, a debit on a server would have no witness at all."""
    server = request.getfixturevalue("postgres_server")
    location, ledger = _opened(Stores(folder=tmp_path, server=server))
    _nowhere(monkeypatch, tmp_path)
    blind = open_ledger(location)
    assert _code(lambda: blind.reserve(DATASET, count_plan())) == "DPQL714"
    assert ledger.account(DATASET).seq == 1
    assert blind.account(DATASET).seq == 1


def test_full_disk_is_forgiven_only_where_there_is_another_witness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head that cannot be written down is a fault if nobody else has it."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    account = Account(dataset=DATASET, mark="0" * 32, seq=1, head="a" * 64)
    WitnessFolder(tmp_path, needed=True).remember(account)
    monkeypatch.setattr("dpql.ledger.witness.replace", full)
    newer = Account(dataset=DATASET, mark="0" * 32, seq=2, head="b" * 64)
    WitnessFolder(tmp_path, needed=False).remember(newer)
    with pytest.raises(LedgerFault) as refusal:
        WitnessFolder(tmp_path, needed=True).remember(newer)
    assert refusal.value.diagnostics[0].code == "DPQL714"
    (head,) = WitnessFolder(tmp_path, needed=True).heads(newer)
    assert head.seq == 1


def test_home_is_taken_where_no_folder_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A relative name counts for none, as the standard of these folders says."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert user_folder() == tmp_path / ".local/state/dpql/ledgers"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert user_folder() == tmp_path / ".local/state/dpql/ledgers"


def test_reader_is_not_fooled_by_an_entry_that_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head written after the chain was read, and before it is asked for, is fine."""
    _, ledger = _opened(Stores(folder=tmp_path))
    seen = Ledger._seen

    def slow(self: Ledger, account: Account) -> object:
        if account.seq == 1:
            monkeypatch.setattr(Ledger, "_seen", seen)
            assert isinstance(ledger.reserve(DATASET, count_plan()), Reservation)
        return seen(self, account)

    monkeypatch.setattr(Ledger, "_seen", slow)
    assert ledger.account(DATASET).seq == 2
