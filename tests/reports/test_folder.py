"""A release folder is mended where it is ours, and left alone where it is not."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from dpql import durable
from dpql.errors import VerifyFault
from dpql.reports.file_names import FOLDER, TABLES
from dpql.reports.folder import (
    read_folder,
    unsigned_files,
    write_folder,
    write_numbered,
)

OURS = {name: f"our {name}".encode() for name in FOLDER}
OTHERS = {name: f"their {name}".encode() for name in FOLDER}


def _held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _refused(folder: Path, contents: dict[str, bytes]) -> None:
    with pytest.raises(VerifyFault) as refusal:
        write_folder(folder, contents)
    assert refusal.value.diagnostics[0].code == "DPQL630"


@pytest.mark.parametrize("name", FOLDER)
@pytest.mark.parametrize("harm", ["gone", "altered", "empty", "link"])
def test_one_harmed_file_is_mended(tmp_path: Path, name: str, harm: str) -> None:
    """Whatever happened to one file, the folder is as it was signed."""
    folder = tmp_path / "one"
    assert write_folder(folder, OURS) == ()
    target = folder / name
    target.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(OURS[name])
    if harm == "altered":
        target.write_bytes(b"altered")
    elif harm == "empty":
        target.touch()
    elif harm == "link":
        target.symlink_to(elsewhere)
    assert write_folder(folder, OURS) == (name,)
    assert _held(folder) == OURS
    assert not target.is_symlink()
    assert write_folder(folder, OURS) == ()


def test_other_files_in_the_folder_stay(tmp_path: Path) -> None:
    """What is not of the release is neither touched nor taken for it."""
    folder = tmp_path / "one"
    write_folder(folder, OURS)
    (folder / "notes.txt").write_bytes(b"mine")
    (folder / "release.csv").unlink()
    assert write_folder(folder, OURS) == ("release.csv",)
    assert _held(folder) == {**OURS, "notes.txt": b"mine"}
    assert unsigned_files(folder, FOLDER) == ("notes.txt",)
    assert unsigned_files(folder / "release.dsse.json", FOLDER) == ()


def test_tables_alone_are_completed(tmp_path: Path) -> None:
    """With envelope and page lost, the tables show whose folder it is."""
    folder = tmp_path / "one"
    folder.mkdir()
    for name in TABLES:
        (folder / name).write_bytes(OURS[name])
    assert set(write_folder(folder, OURS)) == set(FOLDER) - set(TABLES)
    assert _held(folder) == OURS


@pytest.mark.parametrize(
    "left",
    [
        OTHERS,
        {**OTHERS, "release.csv": OURS["release.csv"]},
        {"release.csv": OTHERS["release.csv"]},
        {"release.csv": OURS["release.csv"], "notes.txt": b"mine"},
        {"release.dsse.json": b"altered", "report.html": b"altered"},
        {"notes.txt": b"mine"},
    ],
    ids=["another", "same table", "other table", "with notes", "altered", "notes"],
)
def test_folder_that_may_be_somebody_elses_is_left(
    tmp_path: Path, left: dict[str, bytes]
) -> None:
    """Equal tables alone do not make a folder ours: a new draw may repeat them."""
    folder = tmp_path / "one"
    folder.mkdir()
    for name, data in left.items():
        (folder / name).write_bytes(data)
    _refused(folder, OURS)
    assert _held(folder) == left


def test_links_and_files_in_place_of_the_folder_are_refused(tmp_path: Path) -> None:
    """Nothing is written through a link, even to a folder of this very release."""
    write_folder(tmp_path / "real", OURS)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for name in ("link", "file", "lost"):
        _refused(tmp_path / name, OURS)
    assert not (tmp_path / "nowhere").exists()


def test_table_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    """A folder called like a table cannot be mended; nothing is taken away."""
    write_folder(tmp_path / "one", OURS)
    (tmp_path / "one" / "release.csv").unlink()
    (tmp_path / "one" / "release.csv").mkdir()
    _refused(tmp_path / "one", OURS)
    assert (tmp_path / "one" / "release.csv").is_dir()


def test_what_killed_writers_left_goes_with_the_next(tmp_path: Path) -> None:
    """Unfinished folders are swept; links and things of others of that name stay."""
    for name in ("a", "b"):
        part = tmp_path / f".dpql-release.{name}"
        part.mkdir()
        (part / "release.csv").write_bytes(b"half")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(b"mine")
    (tmp_path / ".dpql-release.link").symlink_to(precious)
    (tmp_path / ".hidden").mkdir()
    write_folder(tmp_path / "one", OURS)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"one", "precious", ".dpql-release.link", ".hidden"}
    assert (precious / "file").exists()


def test_parts_of_files_go_when_a_folder_is_mended(tmp_path: Path) -> None:
    """Only what has the name of a part of ours, and is a file, is taken away."""
    folder = tmp_path / "one"
    write_folder(folder, OURS)
    (folder / ".release.csv.abcd_123").write_bytes(b"half")
    (folder / ".report.html.abcdefgh").symlink_to(tmp_path)
    kept = {".release.csv.ABCDEFGH", ".release.csv.abc", ".notes.abcdefgh"}
    for name in kept:
        (folder / name).write_bytes(b"mine")
    (folder / ".release.csv.aaaaaaaa").mkdir()
    assert write_folder(folder, OURS) == ()
    left = {path.name for path in folder.iterdir()}
    strange = {".release.csv.aaaaaaaa", ".report.html.abcdefgh"}
    assert left == {*FOLDER, *kept, *strange}


def test_writers_take_turns(tmp_path: Path) -> None:
    """A folder that somebody is writing is not taken for one that was left."""
    living = tmp_path / ".dpql-release.living"
    living.mkdir()
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    waiting = threading.Thread(target=write_folder, args=(tmp_path / "one", OURS))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    assert living.exists()
    living.rename(tmp_path / "finished")
    os.close(handle)
    waiting.join(900)
    assert {path.name for path in tmp_path.iterdir()} == {"one", "finished"}


def test_waiting_for_a_writer_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who never lets go does not hang us."""
    monkeypatch.setattr(durable, "_WAIT", 0)
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    _refused(tmp_path / "one", OURS)
    os.close(handle)
    assert list(tmp_path.iterdir()) == []


def test_file_systems_without_locks_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a lock nothing is swept, for it may be in use; the folder is written."""
    (tmp_path / ".dpql-release.living").mkdir()

    def refuses(*_: object) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refuses)
    write_folder(tmp_path / "one", OURS)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"one", ".dpql-release.living"}
    assert read_folder(tmp_path / "one")[0] == OURS["release.dsse.json"]


@pytest.mark.parametrize("locks", [True, False])
def test_writers_at_once_get_a_folder_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, locks: bool
) -> None:
    """Also where directories have no locks; each is found again by its writer."""
    if not locks:
        monkeypatch.setattr(durable, "_locked", lambda _: False)
    releases = [
        {name: f"{number} {name}".encode() for name in FOLDER} for number in range(8)
    ]
    folders: dict[int, Path] = {}
    ready = threading.Barrier(len(releases))

    def write(number: int) -> None:
        ready.wait()
        folders[number], _ = write_numbered(tmp_path / "one", releases[number])

    threads = [threading.Thread(target=write, args=(n,)) for n in range(len(releases))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = {"one", *(f"one-{number}" for number in range(2, 9))}
    assert {path.name for path in tmp_path.iterdir()} == names
    for number, contents in enumerate(releases):
        assert _held(folders[number]) == contents
        again = write_numbered(tmp_path / "one", contents)
        assert again == (folders[number], ())


def test_number_is_added_to_whatever_is_there(tmp_path: Path) -> None:
    """A file, a link and a folder of another release are left as they are."""
    (tmp_path / "one").write_bytes(b"mine")
    (tmp_path / "one-2").symlink_to(tmp_path / "nowhere")
    write_folder(tmp_path / "one-3", OTHERS)
    assert write_numbered(tmp_path / "one", OURS) == (tmp_path / "one-4", ())
    assert (tmp_path / "one").read_bytes() == b"mine"
    assert _held(tmp_path / "one-3") == OTHERS
    (tmp_path / "one-4" / "release.csv").unlink()
    mended = write_numbered(tmp_path / "one", OURS)
    assert mended == (tmp_path / "one-4", ("release.csv",))
