"""`dpql keys new`: a key pair, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    """A taken name is refused with 4, and the key file is the owner's alone."""
    new = ("keys", "new", "steward", "--no-passphrase")
    fine(dpql(*new, folder=tmp_path))
    kept = (tmp_path / "keys" / "steward").read_bytes()
    refused(dpql(*new, folder=tmp_path), 4, "DPQL623")
    assert kept == (tmp_path / "keys" / "steward").read_bytes()
    assert (tmp_path / "keys" / "steward").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--no-passphrase"),
        (("--no-passphrase", "--passphrase-file", "word"), "choose"),
        (("--passphrase-file", "empty"), "the passphrase is empty"),
    ],
    ids=["nobody to ask", "both", "empty"],
)
def test_a_passphrase_is_given_or_declined(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    """Nothing is made until it is clear which."""
    (tmp_path / "word").write_text("sesame\n", "utf-8")
    (tmp_path / "empty").write_text("\n", "utf-8")
    refused(dpql("keys", "new", "steward", *options, folder=tmp_path), 2, words)
    assert not (tmp_path / "keys").exists()
