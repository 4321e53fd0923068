"""`dpql keys`: made once, shown, never overwritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_keys_are_shown_and_never_overwritten(released: Path) -> None:
    """The fingerprint is that of OpenSSH; a taken name is refused with 4."""
    (shown,) = json.loads(
        fine(dpql("keys", "show", "steward", "--format", "json", folder=released))
    )
    assert shown["fingerprint"].startswith("SHA256:")
    again = dpql("keys", "new", "steward", "--no-passphrase", folder=released)
    refused(again, 4, "DPQL623")
    assert (released / "keys" / "steward").stat().st_mode & 0o077 == 0
