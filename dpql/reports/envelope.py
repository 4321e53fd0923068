"""DSSE envelopes: exact bytes, signed with Ed25519, verified before they are parsed.

    signature over  "DSSEv1" SP len(type) SP type SP len(payload) SP payload

An envelope has one canonical form, so that no byte of the file can change unnoticed:
members in order, standard base64, every signature by a different trusted key.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpql.diagnostics import shown
from dpql.errors import VerifyFault
from dpql.model.codec import Malformed, canonical, parse
from dpql.model.limits import LARGEST_RELEASE
from dpql.reports.keys import Signer
from dpql.reports.trust import Trust, TrustedKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"

_BEFORE = b'{\n  "payload": "'
_SIGNATURES = 64


@dataclass(frozen=True, slots=True)
class Opened:
    """What an envelope holds, and who signed exactly that.

    ``lines`` has, for each signature, the lines of the trust file that give its key the
    role.
    """

    payload: bytes
    lines: tuple[tuple[TrustedKey, ...], ...]


def seal(payload: bytes, signers: Sequence[Signer]) -> bytes:
    """Return the envelope of a payload, signed by every signer."""
    message = _message(payload)
    signatures = [
        {
            "keyid": signer.public.fingerprint,
            "sig": base64.b64encode(signer.sign(message)).decode(),
        }
        for signer in sorted(signers, key=lambda one: one.public.fingerprint)
    ]
    del message  # it is as large as the payload
    frame = canonical(
        {"payload": "", "payloadType": PAYLOAD_TYPE, "signatures": signatures}
    )
    text = binascii.b2a_base64(payload, newline=False)
    return b"".join((_BEFORE, text, frame.removeprefix(_BEFORE)))


def open_envelope(data: bytes, trust: Trust, *, role: str) -> Opened:
    """Return the payload if every signature on it is by a key trusted in the role.

    Raises:
        VerifyFault: the file is no envelope in canonical form (DPQL600), a key is not
            trusted (DPQL602) or not for this role (DPQL603), or a signature
            is not by that key on these bytes (DPQL601).
    """
    payload, signatures = _split(data)
    message = _message(payload)
    lines = []
    for key_id, signature in signatures:
        known = trust.of(key_id)
        if not known:
            raise VerifyFault.of(
                "DPQL602",
                f"the key {shown(key_id)} is not in the trust file",
                hint="`dpql keys trust` adds a key that you have checked",
            )
        if not known[0].key.accepts(signature, message):
            raise VerifyFault.of(
                "DPQL601",
                f"the signature is not by {shown(key_id)} on these bytes",
                hint="the file was altered, or the signature is of another file",
            )
        lines.append(in_role(known, role))
    return Opened(payload, tuple(lines))


def in_role(lines: tuple[TrustedKey, ...], role: str) -> tuple[TrustedKey, ...]:
    """Return the lines that give a key the role; refuse a key without it (DPQL603)."""
    allowed = tuple(line for line in lines if role in line.namespaces)
    if not allowed:
        raise VerifyFault.of(
            "DPQL603",
            f"{lines[0].principal} is not trusted in the role {role}",
            hint="the trust file gives roles by `namespaces`",
        )
    return allowed


def peek(data: bytes) -> bytes:
    """Return the payload of an envelope without checking any signature.

    Only for display: nobody vouches for it.
    """
    return _split(data)[0]


def _split(data: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    payload, rest = _payload_apart(data)
    try:
        document = parse(rest, limit=LARGEST_RELEASE - len(payload))
    except Malformed as error:
        raise _unreadable(str(error)) from None
    if canonical(document) != rest:
        raise _unreadable("the bytes are not in canonical form")
    if not _has(document, {"payload", "payloadType", "signatures"}):
        raise _unreadable("a member is missing or unknown")
    if document["payloadType"] != PAYLOAD_TYPE:
        raise _unreadable("the payload is of another type")
    listed = document["signatures"]
    if not isinstance(listed, list) or not 1 <= len(listed) <= _SIGNATURES:
        raise _unreadable("there is no signature, or too many")
    if not all(_has(one, {"keyid", "sig"}) for one in listed):
        raise _unreadable("a member of a signature is missing or unknown")
    signatures = [(one["keyid"], _bytes(one["sig"])) for one in listed]
    if not all(isinstance(key_id, str) for key_id, _ in signatures):
        raise _unreadable("a key id is not text")
    names = [key_id for key_id, _ in signatures]
    if names != sorted(set(names)):
        raise _unreadable("the signatures are not of different keys in order")
    return _bytes(payload or document["payload"]), signatures


def _payload_apart(data: bytes) -> tuple[memoryview, bytes]:
    """Return the payload as it is written, and an envelope with an empty one.

    It is nearly all of a large file, and in base64, which JSON writes as it is.
    """
    start, end = len(_BEFORE), data.find(b'"', len(_BEFORE))
    if not data.startswith(_BEFORE) or end < 0:
        start = end = 0
    return memoryview(data)[start:end], data[:start] + data[end:]


def _bytes(text: Any) -> bytes:
    try:
        written = text.encode("ascii") if isinstance(text, str) else text
        data = binascii.a2b_base64(written, strict_mode=True)
    except (TypeError, ValueError):
        data = None
    if data is None or binascii.b2a_base64(data, newline=False) != written:
        raise _unreadable("a member is not standard base64")
    return data


def _has(document: Any, members: set[str]) -> bool:
    return isinstance(document, dict) and document.keys() == members


def _message(payload: bytes) -> bytes:
    """Return what is signed: DSSE's pre-authentication encoding."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _unreadable(why: str) -> VerifyFault:
    return VerifyFault.of(
        "DPQL600",
        f"not an envelope that dpql wrote: {why}",
        hint="keep `release.dsse.json` as it came; it is not edited or laid out anew",
    )
