"""The ledger in a file: what it promises of the disk, and how it refuses."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from ledger.ledger_stores import DATASET, Stores, count_plan

from dpql.errors import LedgerFault
from dpql.ledger import Ledger, Reservation, State, open_ledger, sqlite


def _code(ledger: Ledger) -> str:
    with pytest.raises(LedgerFault) as refusal:
        ledger.reserve(DATASET, count_plan())
    return refusal.value.diagnostics[0].code


def test_commits_are_synced_and_the_file_is_private(tmp_path: Path) -> None:
    """WAL, synchronous=FULL, STRICT tables, mode 600, nothing left behind."""
    location, ledger = Stores(folder=tmp_path).make()
    with ledger.store.session(write=False) as session:
        assert isinstance(session, sqlite.SqliteSession)
        ask = session.connection.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA synchronous").fetchone() == (2,)
        strict = ask("SELECT count(*) FROM pragma_table_list WHERE strict").fetchone()
        assert strict == (2,)
    assert stat.S_IMODE(Path(location).stat().st_mode) == 0o600
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {Path(location).name, "witness.json", "witness.json.lock"}


def test_locked_ledger_is_refused_after_a_bounded_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that never ends does not hang us, and nothing is drawn."""
    monkeypatch.setattr(sqlite, "_WAIT", 0)
    location, ledger = Stores(folder=tmp_path).make()
    with closing(sqlite3.connect(location, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert _code(ledger) == "DPQL707"
    assert isinstance(ledger.reserve(DATASET, count_plan()), Reservation)


def test_full_disk_is_refused_before_any_draw(tmp_path: Path) -> None:
    """A commit that cannot be written is no debit, and the ledger stays sound."""
    location, ledger = Stores(folder=tmp_path).make()
    with closing(sqlite3.connect(location)) as file:
        (pages,) = file.execute("PRAGMA page_count").fetchone()
    connect = sqlite._connect

    def full(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_connect", full)
        reservation = ledger.reserve(DATASET, count_plan())
        assert isinstance(reservation, Reservation)
        receipt = ledger.begin_draw(reservation)
        with pytest.raises(LedgerFault) as refusal:
            ledger.seal(receipt, bytes(10**6), {})
        assert refusal.value.diagnostics[0].code == "DPQL708"
    account = ledger.verify(DATASET)
    assert [run.state for run in account.runs] == [State.DRAWING]
    ledger.seal(receipt, bytes(10**6), {})


def test_read_only_ledger_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger that cannot be written debits nothing."""
    location, ledger = Stores(folder=tmp_path).make()

    def read_only(path: Path) -> sqlite3.Connection:
        address = f"{path.as_uri()}?mode=ro"
        return sqlite3.connect(address, uri=True, isolation_level=None)

    monkeypatch.setattr(sqlite, "_connect", read_only)
    assert _code(ledger) == "DPQL708"
    assert open_ledger(location, witness=str(tmp_path / "none")).datasets()


@pytest.mark.parametrize("junk", [b"", b"hello", bytes(8192), b"SQLite format 3\x00"])
def test_other_files_are_no_ledgers(tmp_path: Path, junk: bytes) -> None:
    """Empty, text, zeros, half a header: refused, and left as they are."""
    path = tmp_path / "junk"
    path.write_bytes(junk)
    assert _code(open_ledger(str(path))) in {"DPQL700", "DPQL708"}
    assert path.read_bytes() == junk


def test_other_databases_are_no_ledgers(tmp_path: Path) -> None:
    """A sqlite file of somebody else is not touched."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE entry (x)")
    assert _code(open_ledger(str(path))) == "DPQL700"


def test_links_and_folders_are_no_ledgers(tmp_path: Path) -> None:
    """A link is not followed, whatever it leads to."""
    location, _ = Stores(folder=tmp_path).make()
    (tmp_path / "link").symlink_to(location)
    for name in ("link", "missing", "."):
        assert _code(open_ledger(str(tmp_path / name))) == "DPQL700"
    with pytest.raises(LedgerFault) as refusal:
        open_ledger(str(tmp_path / "link"), create=True)
    assert refusal.value.diagnostics[0].code == "DPQL702"
    with pytest.raises(LedgerFault) as refusal:
        open_ledger(str(tmp_path / "no" / "folder"), create=True)
    assert refusal.value.diagnostics[0].code == "DPQL708"


def test_ledger_with_a_second_name_is_refused(tmp_path: Path) -> None:
    """Under another name the newest entries would not be seen, and spent again."""
    location, ledger = Stores(folder=tmp_path).make()
    os.link(location, tmp_path / "second.db")
    for one in (ledger, open_ledger(str(tmp_path / "second.db"))):
        assert _code(one) == "DPQL700"
    (tmp_path / "second.db").unlink()
    assert isinstance(ledger.reserve(DATASET, count_plan()), Reservation)


def test_making_that_was_killed_at_its_last_step_is_finished(tmp_path: Path) -> None:
    """The name under which a ledger was made goes, and nothing else of that name."""
    location, ledger = Stores(folder=tmp_path).make()
    os.link(location, tmp_path / ".ledger.killed")
    (tmp_path / ".ledger.other").write_bytes(b"mine")
    (tmp_path / ".ledger.link").symlink_to(location)
    assert isinstance(ledger.reserve(DATASET, count_plan()), Reservation)
    left = {path.name for path in tmp_path.glob(".ledger.*")}
    assert left == {".ledger.other", ".ledger.link"}


def test_damaged_pages_are_refused_or_harmless(tmp_path: Path) -> None:
    """Whatever byte range is overwritten, only refusals of ours come out."""
    location, ledger = Stores(folder=tmp_path).make()
    reservation = ledger.reserve(DATASET, count_plan())
    assert isinstance(reservation, Reservation)
    head = ledger.begin_draw(reservation).head
    whole = Path(location).read_bytes()
    expected = ledger.verify(DATASET)
    for start in range(0, len(whole), 509):
        damaged = tmp_path / f"damaged{start}"
        damaged.write_bytes(whole[:start] + b"\xa5" * 64 + whole[start + 64 :])
        copy = open_ledger(str(damaged), witness=str(tmp_path / "none"))
        try:
            account = copy.verify(DATASET, [head])
        except LedgerFault:
            continue
        assert account == expected


def test_copied_ledger_is_sound_elsewhere(tmp_path: Path) -> None:
    """A whole copy without a witness is taken as it is; a new witness is begun."""
    location, _ = Stores(folder=tmp_path).make()
    (tmp_path / "new").mkdir()
    moved = tmp_path / "new" / "ledger.db"
    shutil.copy(location, moved)
    ledger = open_ledger(str(moved))
    assert isinstance(ledger.reserve(DATASET, count_plan()), Reservation)
    assert (tmp_path / "new" / "ledger.db.witness").exists()


def _nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make us somebody who may read everything and write nothing."""
    monkeypatch.setattr(os, "access", lambda *_: False)


def test_reader_without_rights_reads_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a log nor an index is made beside the ledger."""
    _, ledger = Stores(folder=tmp_path).make()
    ledger.reserve(DATASET, count_plan())
    left = set(tmp_path.iterdir())
    _nobodys(monkeypatch)
    with ledger.store.session(write=False) as session:
        assert len(session.rows(DATASET)) == 2
        assert set(tmp_path.iterdir()) == left
    assert ledger.verify(DATASET).seq == 2


def test_reader_without_rights_sees_what_is_in_the_log_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A debit that was not yet moved to the file counts."""
    location, ledger = Stores(folder=tmp_path).make()
    with closing(sqlite3.connect(location)) as open_elsewhere:
        open_elsewhere.execute("SELECT * FROM entry").fetchall()
        ledger.reserve(DATASET, count_plan())
        assert Path(f"{location}-wal").stat().st_size
        _nobodys(monkeypatch)
        assert ledger.account(DATASET).committed == 1


def test_reader_without_locks_does_not_trust_a_file_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was read while somebody wrote is not taken for the ledger."""
    _, ledger = Stores(folder=tmp_path).make()
    _nobodys(monkeypatch)
    with pytest.raises(LedgerFault) as refusal, ledger.store.session(write=False):
        ledger.reserve(DATASET, count_plan())
    assert refusal.value.diagnostics[0].code == "DPQL707"
