"""Keys are found, opened and refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.released import RUN, project, spent_of
from cli.started import WAGES, dpql, fine, refused
from cli.terminal import answered

pytestmark = pytest.mark.cli


def test_a_passphrase_is_asked_for_unseen(tmp_path: Path) -> None:
    """It is asked twice when a key is made, once when it signs."""
    folder = project(tmp_path / "project")
    status, screen = answered(folder, "sesame\nsesame\n", "keys", "new", "third")
    assert (0, True) == (status, "SHA256:" in screen)
    assert b"ENCRYPTED" in (folder / "keys" / "third").read_bytes()
    sign = ("approve", "wages.plan.json", "--key", "third", "--yes")
    status, _ = answered(folder, "sesame\n", *sign)
    assert status == 0
    status, screen = answered(folder, "barley\n", *sign)
    assert (4, True) == (status, "DPQL622" in screen)


def test_a_key_that_others_may_read_is_refused(folder: Path) -> None:
    """Before anything is read or spent."""
    (folder / "keys" / "steward").chmod(0o644)
    refused(dpql(*RUN, "--yes", folder=folder), 4, "DPQL621")
    assert spent_of(folder) == "0"


def test_a_passphrase_comes_from_a_file(tmp_path: Path) -> None:
    """The key opens with it and with no other."""
    (tmp_path / "right").write_text("open sesame\n", "utf-8")
    (tmp_path / "wrong").write_text("open barley\n", "utf-8")
    new = ("keys", "new", "locked", "--passphrase-file", "right")
    fine(dpql(*new, folder=tmp_path))
    plan = WAGES.with_suffix(".plan.json")
    sign = ("approve", plan, "--key", "locked", "--out", "a.json")
    refused(dpql(*sign, folder=tmp_path), 4, "DPQL622")
    refused(dpql(*sign, "--passphrase-file", "wrong", folder=tmp_path), 4, "DPQL622")
    fine(dpql(*sign, "--passphrase-file", "right", folder=tmp_path))
    refused(dpql("keys", "new", "other", folder=tmp_path), 2, "--no-passphrase")
