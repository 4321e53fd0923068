"""What dpql 0.2 signed: it verifies for ever, by the rules it was made by."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from golden import VECTORS

import dpql
from dpql.api.verification import verify_release
from dpql.errors import PlanFault
from dpql.reports.trust import load_trust

ARCHIVE = VECTORS / "format2" / "releases.tar.xz"
NAMES = ("grouped", "replaced", "survey", "targets")


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the releases, their plans and the trust file."""
    folder = tmp_path_factory.mktemp("format2")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_release_of_format_2_verifies(old: Path, name: str) -> None:
    """Folder, page, envelope alone and expected plan are believed as they were."""
    folder = old / "releases" / name
    trust = old / "allowed_signers"
    plan = dpql.read(old / f"{name}.plan.json")
    release = dpql.verify(folder, trust, plan=plan)
    assert 2 == release.plan.version
    assert release == dpql.verify(folder / "release.dsse.json", trust)
    assert release.to_csv() == (folder / "release.csv").read_text("utf-8")


def test_an_approval_of_format_2_still_counts(old: Path) -> None:
    """It is inside the report that it allowed."""
    trust = load_trust(old / "allowed_signers")
    verified = verify_release(old / "releases" / "grouped", trust)
    assert ["officer@example.org"] == [r.principal for r in verified.approved.reviewers]


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_format_2_is_refused_as_old(old: Path, name: str) -> None:
    """Whoever runs or signs it is told to plan again."""
    plan = dpql.read(old / f"{name}.plan.json")
    release = dpql.verify(old / "releases" / name, old / "allowed_signers")
    for act in (
        lambda: dpql.run(plan, {plan.spec.data.source: "nowhere.csv"}),
        lambda: dpql.sign(release, "no key"),
        lambda: dpql.approve(plan, "no key"),
    ):
        with pytest.raises(PlanFault, match="DPQL404"):
            act()
