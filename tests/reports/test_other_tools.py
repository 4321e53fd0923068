"""Tools that know nothing of dpql verify its envelopes, and refuse altered ones."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest
from reports.sample_releases import (
    DAY,
    OFFICER,
    STEWARD,
    STRANGER,
    VERSIONS,
    make_case,
    make_outcome,
    make_payload,
    record,
)
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

from dpql.model.codec import canonical
from dpql.reports.envelope import peek, seal
from dpql.reports.keys import Signer
from dpql.reports.report import Report, sign

PAGE = Path(__file__).parents[2] / "docs/guide/verify-without-dpql.md"
MISSING = [tool for tool in ("jq", "base64", "openssl", "sh") if not shutil.which(tool)]


def _foreign(signer: Signer) -> SSlibKey:
    public = signer.public
    value = {"public": public.raw.hex()}
    return SSlibKey(public.fingerprint, "ed25519", "ed25519", value)


def test_securesystemslib_verifies_our_envelope() -> None:
    """An independent library accepts the signature and reads the same payload."""
    case = make_case()
    envelope = Envelope.from_dict(json.loads(case.envelope))
    accepted = envelope.verify([_foreign(STEWARD)], 1)
    assert list(accepted) == [STEWARD.public.fingerprint]
    assert json.loads(envelope.payload)["predicate"]["plan_digest"] == case.plan.digest


def test_securesystemslib_refuses_other_keys_and_payloads() -> None:
    """The independent library can say no."""
    case = make_case()
    envelope = Envelope.from_dict(json.loads(case.envelope))
    with pytest.raises(VerificationError):
        envelope.verify([_foreign(STRANGER)], 1)
    envelope.payload += b" "
    with pytest.raises(VerificationError):
        envelope.verify([_foreign(STEWARD)], 1)


def test_two_signers_are_verified_by_securesystemslib() -> None:
    """An envelope with two signatures passes a threshold of two."""
    data = seal(make_payload(make_case().plan), [STEWARD, OFFICER])
    envelope = Envelope.from_dict(json.loads(data))
    keys = [_foreign(STEWARD), _foreign(OFFICER)]
    assert len(envelope.verify(keys, 2)) == 2


def _recipe() -> str:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 8
    return "set -e\n" + "\n".join(blocks)


def _report() -> Report:
    plan = make_case().plan
    return sign(
        make_outcome(plan), [STEWARD], day=DAY, ledger=record(plan), versions=VERSIONS
    )


def _follow(
    folder: Path,
    envelope: bytes,
    signer: Signer,
    files: Iterable[tuple[str, bytes]] = (),
) -> tuple[int, str]:
    """Do what the page says in a folder; return exit status and output."""
    folder.mkdir()
    (folder / "release.dsse.json").write_bytes(envelope)
    for name, data in files or _report().files:
        (folder / name).write_bytes(data)
    (folder / "signer.pub").write_text(f"{signer.public.line} steward\n", "utf-8")
    done = subprocess.run(
        ["sh", "-c", _recipe()], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")
def test_page_verifies_a_release_with_common_tools(tmp_path: Path) -> None:
    """The recipe of the page accepts a release and prints what it promises."""
    case = make_case()
    status, printed = _follow(tmp_path / "good", _report().envelope, STEWARD)
    assert status == 0
    assert "Signature Verified Successfully" in printed
    assert "key id: the signer's" in printed
    assert "kind: a release" in printed
    assert "release.csv: OK" in printed
    assert "report.html: OK" in printed
    assert "page: shows this release" in printed
    assert f"plan: {case.plan.digest}" in printed
    assert "epsilon 1: Whether or not one" in printed
    assert "spent 1/2 -> 3/2 of 4 on wages-2025" in printed


@pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")
@pytest.mark.parametrize("fault", ["key", "payload", "table", "page", "two subjects"])
def test_page_refuses_what_was_altered(tmp_path: Path, fault: str) -> None:
    """The recipe fails for another key, payload, table or page, and for one less."""
    document, files = json.loads(_report().envelope), dict(_report().files)
    signer = STRANGER if fault == "key" else STEWARD
    payload = peek(_report().envelope)
    if fault == "payload":
        other = json.loads(seal(make_payload(make_case().plan), [STEWARD]))
        document["payload"] = other["payload"]
    if fault == "table":
        wrong = sha256(b"other").hexdigest().encode()
        right = sha256(files["release.csv"]).hexdigest().encode()
        document = json.loads(seal(payload.replace(right, wrong), [STEWARD]))
    if fault == "page":
        files["report.html"] = files["report.html"].replace(b"value", b"valve", 1)
    if fault == "two subjects":
        statement = json.loads(payload)
        statement["subject"].pop()
        document = json.loads(seal(canonical(statement), [STEWARD]))
    envelope = canonical(document)
    status, _ = _follow(tmp_path / "bad", envelope, signer, files.items())
    assert status != 0
