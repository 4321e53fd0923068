"""What commands learn from releases without believing them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from cli.released import RUN, release_in
from cli.started import dpql

from dpql.cli.inputs.keys import TRUST_FILE
from dpql.cli.inputs.releases import head_of, heads_beside, trust_at
from dpql.cli.ui.exit_codes import CommandFault
from dpql.errors import VerifyFault
from dpql.ledger import open_ledger

pytestmark = pytest.mark.cli


def test_only_the_usual_trust_file_may_be_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that somebody named must exist."""
    monkeypatch.chdir(tmp_path)
    assert trust_at(TRUST_FILE) is None
    with pytest.raises(VerifyFault, match="DPQL624"):
        trust_at(Path("others"))


def test_a_release_names_its_entry(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entry is in the chain, and trusted releases beside the ledger name it too."""
    monkeypatch.chdir(released)
    release = release_in(released)
    head = head_of(str(release))
    assert open_ledger("ledger.sqlite").account("wages").holds(head)
    envelope = (release / "release.dsse.json").read_bytes()
    assert hashlib.sha256(envelope).hexdigest() == head.envelope
    assert [head] == heads_beside("ledger.sqlite", TRUST_FILE)
    run = dpql(*RUN, "--yes", "--no-ledger", "--out", "free", folder=released)
    assert run.returncode == 0
    with pytest.raises(CommandFault, match="without a ledger"):
        head_of("free")
