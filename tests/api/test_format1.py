"""What dpql 0.1 signed: it verifies for ever, by the rules it was made by."""

from __future__ import annotations

import base64
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from golden import VECTORS

import dpql
from dpql.api.examine import verify_release
from dpql.model.codec import canonical
from dpql.reports.trust import load_trust

ARCHIVE = VECTORS / "format1" / "releases.tar.xz"
NAMES = ("grouped", "replaced", "survey", "targets")


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the releases, their plans and the trust file."""
    folder = tmp_path_factory.mktemp("format1")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


def payload_of(folder: Path) -> dict[str, Any]:
    """Return the statement that an envelope holds."""
    envelope = json.loads((folder / "release.dsse.json").read_bytes())
    document: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return document


@pytest.mark.parametrize("name", NAMES)
def test_a_release_of_format_1_verifies(old: Path, name: str) -> None:
    """Folder, envelope alone and expected plan are believed as they were."""
    folder = old / "releases" / name
    trust = old / "allowed_signers"
    plan = dpql.read(old / f"{name}.plan.json")
    release = dpql.verify(folder, trust, plan=plan)
    assert 1 == release.plan.version
    assert release == dpql.verify(folder / "release.dsse.json", trust)
    assert release.to_csv() == (folder / "release.csv").read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_format_1_keeps_its_bytes(old: Path, name: str) -> None:
    """The file, the plan inside the report and the plan that is read are the same."""
    written = (old / f"{name}.plan.json").read_bytes()
    inside = payload_of(old / "releases" / name)["predicate"]
    assert written == dpql.read(old / f"{name}.plan.json").to_json()
    assert written == canonical(inside["plan"])
    assert inside["plan_digest"] == dpql.read(old / f"{name}.plan.json").digest


def test_approval_and_ledger_of_an_old_release_are_seen(old: Path) -> None:
    """The approval inside still counts, and what was debited still stands."""
    trust = load_trust(old / "allowed_signers")
    verified = verify_release(old / "releases" / "grouped", trust)
    assert ["officer@example.org"] == [r.principal for r in verified.approved.reviewers]
    assert verified.predicate.ledger is not None
