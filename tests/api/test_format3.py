"""What dpql 0.4 signed: it verifies for ever, by the rules it was made by."""

from __future__ import annotations

import base64
import copy
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from golden import VECTORS
from reports.sample_releases import STEWARD

import dpql
from dpql.api.verification import verify_release
from dpql.errors import PlanFault, VerifyFault
from dpql.model.codec import canonical
from dpql.planner import audit_published
from dpql.reports.envelope import seal
from dpql.reports.trust import load_trust, parse_trust, trust_line
from dpql.reports.verify import verify

ARCHIVE = VECTORS / "format3" / "releases.tar.xz"
NAMES = ("grouped", "kinds", "replaced", "survey", "targets")


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the releases, their plans and the trust file."""
    folder = tmp_path_factory.mktemp("format3")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_release_of_format_3_verifies(old: Path, name: str) -> None:
    """Folder, page, envelope alone and expected plan are believed as they were."""
    folder = old / "releases" / name
    trust = old / "allowed_signers"
    plan = dpql.read(old / f"{name}.plan.json")
    release = dpql.verify(folder, trust, plan=plan)
    assert 3 == release.plan.version
    assert release == dpql.verify(folder / "release.dsse.json", trust)
    assert release.to_csv() == (folder / "release.csv").read_text("utf-8")


def test_an_approval_of_format_3_still_counts(old: Path) -> None:
    """It is inside the report that it allowed."""
    trust = load_trust(old / "allowed_signers")
    verified = verify_release(old / "releases" / "grouped", trust)
    assert ["officer@example.org"] == [r.principal for r in verified.approved.reviewers]


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_format_3_is_refused_as_old(old: Path, name: str) -> None:
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


@pytest.mark.parametrize(
    "path",
    [
        ("guarantee", "words"),
        ("guarantee", "variant"),
        ("guarantee", "unprotected", 0),
        ("statistics", 0, "definition"),
        ("statistics", 0, "accuracy_of"),
        ("statistics", 0, "post_processing"),
    ],
)
def test_a_signer_cannot_write_the_prose_of_a_report_of_format_3(
    old: Path, path: tuple[str | int, ...]
) -> None:
    """It is derived word for word: whom it protects, and how well, is in it."""
    envelope = json.loads((old / "releases/grouped/release.dsse.json").read_bytes())
    document: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    document["predicate"]["approvals"] = []
    altered = copy.deepcopy(document)
    node = altered["predicate"]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = "any outcome is at most 1.01 times likelier"
    line = trust_line(STEWARD.public, "steward@example.org", ("dpql-release",))
    trust = parse_trust(line)

    def checked(statement: dict[str, Any]) -> tuple[str, ...]:
        sealed = seal(canonical(statement), [STEWARD])
        return verify(sealed, trust, audit=audit_published).unchecked

    assert not any("wording" in text for text in checked(document))
    with pytest.raises(VerifyFault, match="DPQL608"):
        checked(altered)


def test_a_plan_of_format_3_still_says_that_n_is_private(old: Path) -> None:
    """Its units have several rows, and bounding them leaves a private number."""
    shown = str(dpql.read(old / "replaced.plan.json"))
    assert "how many are kept is private" in shown
