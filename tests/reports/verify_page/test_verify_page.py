"""The page that verifies: what a browser believes is what `dpql verify` believes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from reports.chromium import BROWSER, Tab, tab
from reports.sample_releases import (
    DATASET,
    DAY,
    EXPIRED,
    OFFICER,
    STEWARD,
    STRANGER,
    VERSIONS,
    broad_plan,
    make_case,
    make_outcome,
    record,
    rehearsal_payload,
    small_plan,
    trust_text,
)
from reports.test_render import hostile_plan

from dpql.model.codec import canonical
from dpql.reports.approval import approve
from dpql.reports.envelope import peek, seal
from dpql.reports.report import sign
from dpql.reports.trust import trust_line
from dpql.reports.verify_page import verify_page

OLD = Path(__file__).parents[2] / "vectors" / "releases_0_1"

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine"),
]

Change = Callable[[dict[str, bytes]], None]


@dataclass(frozen=True)
class Page:
    """The page in a browser, and a folder for what is dropped on it."""

    tab: Tab
    folder: Path
    counter: list[int]

    def check(self, files: dict[str, bytes], trust: str) -> tuple[str, str]:
        """Return the state and the text of the page after these were given."""
        self.counter.append(1)
        folder = self.folder / str(len(self.counter))
        folder.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        keys = self.folder / f"allowed_signers-{len(self.counter)}"
        keys.write_text(trust, "utf-8")
        self.tab.choose("#keys", [keys])
        self.tab.choose("#files", sorted(folder.iterdir()))
        state = "document.getElementById('result').dataset.state"
        found = self.tab.until(f"{state} !== 'ready' && {state}")
        words = self.tab.value("document.getElementById('result').innerText")
        return found, words


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return the page, opened once as a file."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "verify.html").write_text(verify_page(), "utf-8")
    with tab(folder) as opened:
        opened.open((folder / "verify.html").as_uri())
        opened.until("document.getElementById('result').dataset.state === 'ready'")
        yield Page(tab=opened, folder=folder, counter=[])
        assert opened.log == []


def _case(approvals: tuple[bytes, ...] = ()) -> dict[str, bytes]:
    plan = broad_plan()
    made = sign(
        make_outcome(plan),
        [STEWARD],
        day=DAY,
        ledger=record(plan),
        versions=VERSIONS,
        approvals=approvals,
    )
    return {"release.dsse.json": made.envelope, **dict(made.files)}


def test_a_release_is_believed(page: Page) -> None:
    """Signer, role, date, files, plan and guarantee are shown in words."""
    state, words = page.check(_case(), trust_text())
    assert "good" == state, words
    for part in (
        "Signed by tester@example.org. Nothing that was checked here has been altered.",
        "changes the probability",
        "trusted as dpql-release",
        f"dated {DAY}",
        "release.parquet",
        "table-ages.csv",
        "the plan has the digest",
        "Only dpql verify recomputes",
    ):
        assert part in words, part


def test_an_envelope_alone_is_believed_without_its_files(page: Page) -> None:
    """And the page says that they were not checked."""
    envelope = {"release.dsse.json": _case()["release.dsse.json"]}
    state, words = page.check(envelope, trust_text())
    assert "good" == state
    assert "the tables and the page were not checked" in words


def test_the_page_loads_nothing_and_runs_its_own_script_only() -> None:
    """The policy names the hashes of the style and the script, and nothing else."""
    text = verify_page()
    policy = re.search(r'Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for name in ("style", "script"):
        (part,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy[1]
    assert "default-src 'none'" in policy[1]
    assert [] == re.findall(r"unsafe|https?://(?!in-toto\.io)|src=|href=", text)
    assert [] == re.findall(r"innerHTML|outerHTML|document\.write|eval\(|fetch\(", text)


def _edit(name: str, old: bytes, new: bytes) -> Change:
    def change(files: dict[str, bytes]) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)

    return change


def _envelope(change: Callable[[Any], None]) -> Change:
    """Return a change of the statement that is signed again by the steward."""

    def changed(files: dict[str, bytes]) -> None:
        statement = json.loads(peek(files["release.dsse.json"]))
        change(statement)
        files["release.dsse.json"] = seal(canonical(statement), [STEWARD])

    return changed


def _payload(make: Callable[[bytes], bytes]) -> Change:
    def changed(files: dict[str, bytes]) -> None:
        payload = make(peek(files["release.dsse.json"]))
        files["release.dsse.json"] = seal(payload, [STEWARD])

    return changed


def _respelt(make: Callable[[bytes], bytes]) -> Change:
    def changed(files: dict[str, bytes]) -> None:
        files["release.dsse.json"] = make(files["release.dsse.json"])

    return changed


def _altered_payload(envelope: bytes) -> bytes:
    document = json.loads(envelope)
    payload = base64.b64decode(document["payload"]).replace(
        b"2026-11-16", b"2026-11-17"
    )
    document["payload"] = base64.b64encode(payload).decode()
    return canonical(document)


def _signed_by(signer: Any) -> Change:
    def changed(files: dict[str, bytes]) -> None:
        payload = peek(files["release.dsse.json"])
        files["release.dsse.json"] = seal(payload, [signer])

    return changed


def _other(payload: bytes) -> Change:
    def changed(files: dict[str, bytes]) -> None:
        files["release.dsse.json"] = seal(payload, [STEWARD])

    return changed


REFUSED: dict[str, tuple[Change, str]] = {
    "a table altered": (_edit("release.csv", b"0", b"1"), "not the file that was"),
    "a table missing": (lambda files: files.pop("table-ages.csv"), "is missing"),
    "the page altered": (_edit("report.html", b"<", b"["), "not the file that was"),
    "the payload altered": (_respelt(_altered_payload), "the file was altered"),
    "signed by nobody known": (_signed_by(STRANGER), "not among the trusted keys"),
    "signed by a reviewer": (_signed_by(OFFICER), "not trusted in the role"),
    "signed with an old key": (_signed_by(EXPIRED), "was not valid on 2026-11-16"),
    "a rehearsal": (_other(rehearsal_payload(small_plan())), "this is a rehearsal"),
    "an approval": (
        _other(peek(approve(small_plan(), OFFICER))),
        "this is an approval of a plan",
    ),
    "a member twice": (
        _payload(
            lambda p: p.replace(b'"date"', b'"date": "2026-01-01",\n    "date"', 1)
        ),
        "has a member twice",
    ),
    "laid out anew": (
        _payload(lambda p: json.dumps(json.loads(p)).encode()),
        "laid out anew",
    ),
    "a number": (
        _envelope(lambda s: s["predicate"].update(format=4)),
        "it holds numbers",
    ),
    "another plan": (
        _envelope(lambda s: s["predicate"]["plan"].update(loss="0")),
        "not the one whose digest it states",
    ),
    "a subject less": (
        _envelope(lambda s: s["subject"].pop(0)),
        "not those of such a release",
    ),
    "a newer format": (
        _envelope(lambda s: s["predicate"].update(format="9")),
        "does not know",
    ),
    "no such day": (
        _envelope(lambda s: s["predicate"].update(date="2026-02-31")),
        "a date is not written",
    ),
    "members of an envelope": (
        _respelt(lambda e: canonical({**json.loads(e), "more": "x"})),
        "a member is missing or unknown",
    ),
    "an envelope with a member twice": (
        _respelt(
            lambda e: e.replace(b'"payload":', b'"payload": "",\n  "payload":', 1)
        ),
        "has a member twice",
    ),
    "no JSON": (_respelt(lambda _: b"hello"), "it is not JSON"),
    "no text": (_respelt(lambda _: b"\xff\xfe"), "not UTF-8"),
    "deep": (_respelt(lambda _: b"[" * 100_000), "it is not JSON"),
    "deep and closed": (
        _respelt(lambda _: b"[" * 5_000 + b"]" * 5_000 + b"\n"),
        "nested too deeply",
    ),
    "null": (_respelt(lambda _: b"null\n"), "a member is missing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_hold_is_refused(page: Page, name: str) -> None:
    """The page says why, in red, and shows no guarantee."""
    change, why = REFUSED[name]
    files = _case()
    change(files)
    state, words = page.check(files, trust_text())
    assert "bad" == state, words
    assert why in words
    assert words.startswith("Do not believe this release")
    assert "changes the probability" not in words


@pytest.mark.parametrize(
    "line",
    [
        "steward ssh-ed25519",
        'steward namespaces="dpql-release",namespaces="x" ssh-ed25519 AAAA',
        "steward cert-authority ssh-ed25519 AAAA",
        "no key at all",
    ],
)
def test_a_trust_file_that_cannot_be_understood_is_refused(
    page: Page, line: str
) -> None:
    """Its line is named; a key without a role is trusted for nothing."""
    state, words = page.check(_case(), trust_text() + line + "\n")
    assert "bad" == state
    assert "of the file of trusted keys cannot be understood" in words


def test_a_plan_that_was_approved_by_its_signer_is_refused(page: Page) -> None:
    """An approval by somebody else is shown."""
    plan = broad_plan()
    files = _case((approve(plan, OFFICER, dataset=DATASET),))
    state, words = page.check(files, trust_text())
    assert "good" == state, words
    assert "officer@example.org approved the plan" in words
    both = trust_text().replace("officer@example.org", "tester@example.org")
    state, words = page.check(files, both)
    assert "bad" == state
    assert "approved the plan and signed the release" in words


def test_hostile_names_stay_text(page: Page) -> None:
    """Markup, escapes and directions of a plan are shown, not obeyed."""
    case = make_case(hostile_plan())
    envelope = {"release.dsse.json": case.envelope}
    state, _ = page.check(envelope, trust_text())
    assert state in ("good", "bad")
    markup = page.tab.value("document.getElementById('result').innerHTML")
    assert "<script" not in markup
    assert "<img" not in markup
    assert "\u202e" not in markup


@pytest.mark.parametrize("version", [2, 3])
def test_releases_of_older_versions_are_believed(
    page: Page, version: int, tmp_path: Path
) -> None:
    """With the files that they sign."""
    vectors = Path(__file__).parents[2] / "vectors" / f"format{version}"
    with tarfile.open(vectors / "releases.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (trust,) = tmp_path.rglob("allowed_signers")
    folders = [path.parent for path in tmp_path.rglob("release.dsse.json")]
    assert folders
    for folder in folders[:3]:
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        state, words = page.check(files, trust.read_text("utf-8"))
        assert "good" == state, words


def test_a_release_of_the_first_version_is_believed(page: Page) -> None:
    """Its page was not signed, and is named as such."""
    folder = OLD / "debited"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    state, words = page.check(files, (OLD / "allowed_signers").read_text("utf-8"))
    assert "good" == state, words
    assert "nobody signed report.html" in words


def _forged() -> dict[str, bytes]:
    """Return a release by a stranger, with a file that trusts the stranger."""
    files = _case()
    _signed_by(STRANGER)(files)
    line = trust_line(STRANGER.public, "tester@example.org", ("dpql-release",))
    return {**files, "allowed_signers": f"{line}\n".encode()}


def test_a_release_does_not_bring_its_own_trust(page: Page) -> None:
    """Its sender may be anybody: nobody signed the file."""
    state, words = page.check(_forged(), trust_text())
    assert "bad" == state, words
    assert "which is not among the trusted keys" in words
    extra = {**_case(), "allowed_signers": _forged()["allowed_signers"]}
    state, words = page.check(extra, trust_text())
    assert "good" == state, words
    assert "nobody signed allowed_signers" in words


@pytest.mark.parametrize("whole", [True, False])
def test_a_dropped_release_does_not_bring_its_own_trust(
    page: Page,
    whole: bool,  # noqa: FBT001
) -> None:
    """Neither in its folder, nor if its files are dropped without it."""
    own = page.folder / f"allowed_signers-{whole}"
    own.write_text(trust_text(), "utf-8")
    result = "document.getElementById('result')"
    for name, files, state, words in (
        ("true", _case(), "good", "Signed by tester@example.org."),
        ("forged", _forged(), "bad", "which is not among the trusted keys"),
    ):
        folder = page.folder / f"{name}-{whole}"
        folder.mkdir()
        for file, data in files.items():
            (folder / file).write_bytes(data)
        page.tab.drop([own])
        page.tab.until("document.body.innerText.includes('trusted keys given')")
        page.tab.drop([folder] if whole else sorted(folder.iterdir()))
        page.tab.until(f"{result}.innerText.includes('{words}')")
        assert state == page.tab.value(f"{result}.dataset.state")


def test_a_folder_and_the_keys_are_dropped_together(page: Page) -> None:
    """As the page asks for: the keys lie outside the folder."""
    (page.folder / "both").mkdir()
    for name, data in _case().items():
        (page.folder / "both" / name).write_bytes(data)
    keys = page.folder / "allowed_signers-both"
    keys.write_text("# nobody\n", "utf-8")
    result = "document.getElementById('result')"
    for trust, words in (("# nobody\n", "not among"), (trust_text(), "Signed by")):
        keys.write_text(trust, "utf-8")
        page.tab.drop([page.folder / "both", keys])
        page.tab.until(f"{result}.innerText.includes('{words}')")


def test_files_in_folders_of_a_release_are_not_its_own(page: Page) -> None:
    """A true table in a folder does not hide an altered one."""
    files = _case()
    folder = page.folder / "nested"
    (folder / "more").mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "more" / "release.csv").write_bytes(files["release.csv"])
    keys = page.folder / "allowed_signers-nested"
    keys.write_text(trust_text(), "utf-8")

    page.tab.choose("#keys", [keys])
    result = "document.getElementById('result')"
    for content, state, words in (
        (files["release.csv"], "good", "nobody signed more/release.csv"),
        (b"altered", "bad", "release.csv is not the file that was signed"),
    ):
        (folder / "release.csv").write_bytes(content)
        page.tab.choose("#folder", [folder])
        page.tab.until(f"{result}.innerText.includes('{words}')")
        assert state == page.tab.value(f"{result}.dataset.state")


def test_two_files_of_one_name_are_refused(page: Page) -> None:
    """Only one of them would be checked."""
    paths = []
    for name in ("one", "two"):
        (page.folder / name).mkdir()
        paths.append(page.folder / name / "release.csv")
        paths[-1].write_bytes(b"a")
    page.tab.choose("#files", paths)
    state = "document.getElementById('result').dataset.state"
    assert "bad" == page.tab.until(state)
    words = page.tab.value("document.getElementById('result').innerText")
    assert "release.csv is there twice" in words


def test_a_browser_without_ed25519_is_told(tmp_path: Path) -> None:
    """Before anything is dropped."""
    (tmp_path / "verify.html").write_text(verify_page(), "utf-8")
    without = "crypto.subtle.importKey = () => Promise.reject(new Error('unknown'));"
    with tab(tmp_path) as opened:
        opened.open((tmp_path / "verify.html").as_uri(), before=without)
        state = "document.getElementById('result').dataset.state"
        assert "no-ed25519" == opened.until(state)
        words = opened.value("document.getElementById('result').innerText")
    assert "cannot check Ed25519 signatures" in words
    assert "dpql verify" in words
