"""`dpql keys show`: fingerprints and public halves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import dpql, fine

pytestmark = pytest.mark.cli


def test_keys_are_shown_by_name_and_by_file(folder: Path) -> None:
    """The fingerprint is that of OpenSSH; the private half stays where it is."""
    names = ("steward", "keys/officer.pub")
    show = ("keys", "show", *names)
    found = json.loads(fine(dpql(*show, "--format", "json", folder=folder)))
    assert list(names) == [key["name"] for key in found]
    assert all(key["fingerprint"].startswith("SHA256:") for key in found)
    text = fine(dpql(*show, folder=folder))
    assert text == "".join(
        f"{key['fingerprint']}   {key['name']}\n{key['key']}\n" for key in found
    )
    assert "PRIVATE" not in text
