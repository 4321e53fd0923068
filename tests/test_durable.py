"""Files are there wholly or not at all, and no link leads a write astray."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpql.durable import create, read, replace


def test_new_file_has_content_and_mode(tmp_path: Path) -> None:
    """Nothing but the file itself is left behind."""
    path = tmp_path / "file"
    create(path, b"content", mode=0o600)
    assert read(path, limit=100) == (b"content", 0o600)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_taken_name_is_refused(tmp_path: Path) -> None:
    """Also when the name is a link, and also when the link leads nowhere."""
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link", "lost"):
        with pytest.raises(FileExistsError):
            create(tmp_path / name, b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 3


def test_replaced_file_stands_where_a_link_stood(tmp_path: Path) -> None:
    """The link goes, what it pointed at stays."""
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    replace(tmp_path / "link", b"new")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"old"
    assert (tmp_path / "link").read_bytes() == b"new"


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    """A folder, a pipe, a link and a file beyond the limit are refused, not awaited."""
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "link", "pipe", "missing"):
        with pytest.raises(OSError):  # noqa: PT011  any kind of it
            read(tmp_path / name, limit=100)
    assert read(tmp_path / "file", limit=5)[0] == b"12345"
    with pytest.raises(OSError, match="moderate size"):
        read(tmp_path / "file", limit=4)


def test_failed_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk at the last moment leaves the old file and no leftovers."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for write in (create, replace):
        with pytest.raises(OSError, match="No space"):
            write(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_file_systems_without_links_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where hard links are refused, a taken name is refused all the same."""

    def refuses(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuses)
    create(tmp_path / "file", b"content", mode=0o600)
    assert read(tmp_path / "file", limit=100) == (b"content", 0o600)
    with pytest.raises(FileExistsError):
        create(tmp_path / "file", b"other")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
