"""An envelope holds exact bytes, signed in a role, in one canonical form."""

from __future__ import annotations

import base64
import json

import pytest
from reports.sample_releases import OFFICER, STEWARD, STRANGER, TRUST

from dpql.errors import VerifyFault
from dpql.model.codec import canonical
from dpql.reports.envelope import PAYLOAD_TYPE, in_role, open_envelope, peek, seal

PAYLOAD = b'{"any": "bytes"}'
RELEASE = "dpql-release"


def _refused(envelope: bytes, role: str = RELEASE) -> str:
    with pytest.raises(VerifyFault) as caught:
        open_envelope(envelope, TRUST, role=role)
    return caught.value.diagnostics[0].code


def test_what_is_sealed_is_opened() -> None:
    """The payload comes back as it was, beside the lines of its signer."""
    opened = open_envelope(seal(PAYLOAD, [STEWARD]), TRUST, role=RELEASE)
    assert PAYLOAD == opened.payload
    assert [TRUST.of(STEWARD.public.fingerprint)] == list(opened.lines)
    assert PAYLOAD == peek(seal(PAYLOAD, [STRANGER]))


def test_the_signature_is_over_type_and_payload() -> None:
    """It is that of the DSSE specification, lengths in bytes."""
    kind = PAYLOAD_TYPE.encode()
    message = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(PAYLOAD), PAYLOAD)
    (one,) = json.loads(seal(PAYLOAD, [STEWARD]))["signatures"]
    assert STEWARD.public.accepts(base64.b64decode(one["sig"]), message)


def test_signatures_are_in_the_order_of_the_keys() -> None:
    """Whoever signs first, the envelope is the same."""
    one, other = seal(PAYLOAD, [STEWARD, OFFICER]), seal(PAYLOAD, [OFFICER, STEWARD])
    assert one == other


def test_every_signer_must_be_trusted_in_the_role() -> None:
    """Unknown keys, other roles and signatures of other bytes are refused."""
    assert "DPQL602" == _refused(seal(PAYLOAD, [STRANGER]))
    assert "DPQL602" == _refused(seal(PAYLOAD, [STEWARD, STRANGER]))
    assert "DPQL603" == _refused(seal(PAYLOAD, [OFFICER]))
    document = json.loads(seal(PAYLOAD, [STEWARD]))
    document["payload"] = base64.b64encode(PAYLOAD + b" ").decode()
    assert "DPQL601" == _refused(canonical(document))
    with pytest.raises(VerifyFault, match="DPQL603"):
        in_role(TRUST.of(OFFICER.public.fingerprint), RELEASE)


@pytest.mark.parametrize(
    "change",
    [
        {"payloadType": "text/plain"},
        {"signatures": []},
        {"signatures": [{}]},
        {"signatures": [{"keyid": 1, "sig": ""}]},
        {"payload": "not base64!"},
        {"payload": "QQ"},
        {"payload": "QR=="},
        {"more": ""},
    ],
)
def test_anything_but_an_envelope_is_refused(change: dict[str, object]) -> None:
    """Members are complete and of their types, base64 is standard."""
    document = json.loads(seal(PAYLOAD, [STEWARD]))
    assert "DPQL600" == _refused(canonical(document | change))


def test_another_layout_is_refused() -> None:
    """The same document in other bytes is another file."""
    sealed = seal(PAYLOAD, [STEWARD])
    for other in (sealed + b"\n", sealed.replace(b"  ", b" "), b"", b"[]", b"\xff"):
        assert "DPQL600" == _refused(other)
