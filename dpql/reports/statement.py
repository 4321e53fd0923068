"""In-toto Statements, version 1: which files are signed, and what is said of them.

A statement has one canonical form. The type of the predicate is part of what is
signed, so an approval, a release and a rehearsal can never stand for one another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from dpql.errors import VerifyFault
from dpql.model.codec import Malformed, canonical, decode, encode, parse
from dpql.model.limits import LARGEST_RELEASE
from dpql.reports.file_names import PLAN_NAME, signed_names
from dpql.reports.format_versions import downgraded, format_of, upgraded
from dpql.reports.predicate import (
    APPROVAL,
    REHEARSAL,
    RELEASE,
    LedgerRecord,
    ReportPredicate,
)

STATEMENT = "https://in-toto.io/Statement/v1"

_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NAMES = {
    RELEASE: "a release",
    REHEARSAL: "a rehearsal, which protects nobody",
    APPROVAL: "an approval of a plan",
}


@dataclass(frozen=True, slots=True)
class Content:
    """A predicate as it is written: the bytes that ``jq -S .predicate`` prints."""

    predicate_type: str
    format: int
    data: bytes

    @property
    def digest(self) -> str:
        """sha256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Statement:
    """A predicate about files, each named with its sha256.

    ``content`` is the sha256 of the predicate as it is written.
    """

    subjects: tuple[tuple[str, str], ...]
    predicate_type: str
    predicate: Any
    content: str


def subjects_of(predicate: object) -> tuple[str, ...]:
    """Return the files that the statement of a predicate signs, in order."""
    if isinstance(predicate, ReportPredicate):
        return signed_names(predicate.plan)
    return (PLAN_NAME,)


def write_content(predicate_type: str, hint: type, predicate: object) -> Content:
    """Return a predicate as it is written in its own format."""
    document = downgraded(predicate_type, encode(hint, predicate))
    return Content(predicate_type, format_of(document), canonical(document))


def write_statement(content: Content, subjects: Mapping[str, str]) -> bytes:
    """Return the payload that states a predicate of the files of `subjects_of`."""
    frame = canonical(
        {
            "_type": STATEMENT,
            "subject": [
                {"name": name, "digest": {"sha256": digest}}
                for name, digest in sorted(subjects.items())
            ],
            "predicateType": content.predicate_type,
            "predicate": None,
        }
    )
    # A line break in a text is escaped, so every one here begins a line of the layout.
    before, name, after = frame.partition(b'"predicate": ')
    written = content.data.removesuffix(b"\n").replace(b"\n", b"\n  ")
    return b"".join((before, name, written, after.removeprefix(b"null")))


def read_statement(payload: bytes, kinds: Sequence[str], hint: type) -> Statement:
    """Return the statement of a payload whose type is one of the given kinds.

    Raises:
        VerifyFault: the payload is of another type (DPQL605), or is not canonical
            (DPQL606).
    """
    try:
        document = parse(payload, limit=LARGEST_RELEASE)
        _require(document, {"_type", "subject", "predicateType", "predicate"})
        predicate_type = _require_kind(document, kinds)
        found = document["predicate"]
        predicate = decode(hint, upgraded(predicate_type, found))
        subjects = _subjects(document["subject"], subjects_of(predicate))
    except Malformed as error:
        raise _unreadable(str(error)) from None
    del document, found  # they take far more memory than what was made of them
    content = write_content(predicate_type, hint, predicate)
    if write_statement(content, dict(subjects)) != payload:
        raise _unreadable("the bytes are not in canonical form")
    return Statement(subjects, predicate_type, predicate, content.digest)


def read_ledger_record(payload: bytes) -> LedgerRecord | None:
    """Return the debit that a release states, without decoding its values.

    Raises:
        VerifyFault: it is no release (DPQL605).
    """
    try:
        document = parse(payload, limit=LARGEST_RELEASE)
        kind = document["predicateType"]
        predicate = upgraded(RELEASE, document["predicate"])
        found = decode(LedgerRecord | None, predicate["ledger"])
    except (Malformed, KeyError, TypeError):
        kind = None
    if kind != RELEASE:
        raise VerifyFault.of("DPQL605", "this is not a release")
    assert found is None or isinstance(found, LedgerRecord)
    return found


def read_day(text: str) -> date:
    """Return the day that ``YYYY-MM-DD`` names.

    Raises:
        VerifyFault: it is no such day (DPQL606).
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise _unreadable("a date is not written as year, month, day")
    return day


def _subjects(document: Any, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return the subjects with their digests; refuse any but these, in this order."""
    if not isinstance(document, list) or len(document) != len(names):
        raise Malformed("there is a subject too many or too few")
    subjects = []
    for item, name in zip(document, names, strict=True):
        _require(item, {"name", "digest"})
        _require(item["digest"], {"sha256"})
        digest = item["digest"]["sha256"]
        if item["name"] != name:
            raise Malformed("a subject is not the expected file")
        if not isinstance(digest, str) or _SHA256.fullmatch(digest) is None:
            raise Malformed("a digest is not a sha256")
        subjects.append((name, digest))
    return tuple(subjects)


def _require(document: Any, members: set[str]) -> None:
    if not isinstance(document, dict) or document.keys() != members:
        raise Malformed("an object has a member too many or too few")


def _require_kind(document: dict[str, Any], kinds: Sequence[str]) -> str:
    if document["_type"] != STATEMENT:
        raise Malformed("it is not an in-toto Statement, version 1")
    found = document["predicateType"]
    if isinstance(found, str) and found in kinds:
        return found
    wanted = kinds[0]
    known = _NAMES.get(found, "something else") if isinstance(found, str) else "nothing"
    raise VerifyFault.of(
        "DPQL605",
        f"this is {known}, not {_NAMES[wanted]}",
        hint="approvals, rehearsals and releases never stand for one another",
    )


def _unreadable(why: str) -> VerifyFault:
    return VerifyFault.of(
        "DPQL606",
        f"not a statement that dpql wrote: {why}",
        hint="the signer used another tool, or another version of dpql",
    )
