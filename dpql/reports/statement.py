"""In-toto Statements, version 1: which files are signed, and what is said of them.

A statement has one canonical form. The type of the predicate is part of what is
signed, so an approval, a release and a rehearsal can never stand for one another.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
    CellValue,
    LedgerRecord,
    ReportPredicate,
)
from dpql.reports.value_text import Span, cut_out, read_values, written

STATEMENT = "https://in-toto.io/Statement/v1"

_NEWLINE = "\n" + 6 * " "
"""What is before the member of a statistic in a predicate."""

_VALUES = f'{_NEWLINE}"values": '.encode()
_NO_VALUES = _VALUES + b"[]"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NAMES = {
    RELEASE: "a release",
    REHEARSAL: "a rehearsal, which protects nobody",
    APPROVAL: "an approval of a plan",
}


@dataclass(frozen=True, slots=True)
class Content:
    """A predicate as it is written: the bytes that ``jq -S .predicate`` prints.

    They are in parts, because they are many in a large report.
    """

    predicate_type: str
    format: int
    parts: tuple[bytes, ...]

    @property
    def digest(self) -> str:
        """sha256 of the bytes, in hexadecimal."""
        found = hashlib.sha256()
        for part in self.parts:
            found.update(part)
        return found.hexdigest()


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
    values: list[Sequence[CellValue]] = []
    if isinstance(predicate, ReportPredicate):
        values = [one.values for one in predicate.statistics]
        predicate = _with_values(predicate, [()] * len(values))
    document = downgraded(predicate_type, encode(hint, predicate))
    first, *others = canonical(document).split(_NO_VALUES)
    parts = [first]
    for one, other in zip(values, others, strict=True):
        parts += (_VALUES, *written(one, _NEWLINE), other)
    return Content(predicate_type, format_of(document), tuple(parts))


def write_statement(content: Content, subjects: Mapping[str, str]) -> bytes:
    """Return the payload that states a predicate of the files of `subjects_of`."""
    return b"".join(_written(content, subjects))


def _written(content: Content, subjects: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the parts of a payload."""
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
    yield before + name
    *parts, last = content.parts
    for part in (*parts, last.removesuffix(b"\n")):
        yield part.replace(b"\n", b"\n  ")
    yield after.removeprefix(b"null")


def read_statement(payload: bytes, kinds: Sequence[str], hint: type) -> Statement:
    """Return the statement of a payload whose type is one of the given kinds.

    Raises:
        VerifyFault: the payload is of another type (DPQL605), or is not canonical
            (DPQL606).
    """
    without, spans = cut_out(payload)
    found = None
    if spans:
        # What is read so is believed if it is written as it was, and else read anew.
        with suppress(Malformed):
            found = _read(without, payload, spans, kinds, hint)
    try:
        found = found or _read(payload, payload, [], kinds, hint)
    except Malformed as error:
        raise _unreadable(str(error)) from None
    if found is None:
        raise _unreadable("the bytes are not in canonical form")
    return found


def _read(
    text: bytes, payload: bytes, spans: list[Span], kinds: Sequence[str], hint: type
) -> Statement | None:
    """Return a statement from its text, which may lack the values in some spans.

    The answer is None if the payload is not what is written of it.
    """
    document = parse(text, limit=LARGEST_RELEASE)
    _require(document, {"_type", "subject", "predicateType", "predicate"})
    predicate_type = _require_kind(document, kinds)
    found = document["predicate"]
    predicate = decode(hint, upgraded(predicate_type, found))
    subjects = _subjects(document["subject"], subjects_of(predicate))
    del document, found  # they take far more memory than what was made of them
    if spans:
        if not isinstance(predicate, ReportPredicate):
            raise Malformed("only reports have values")
        values = [read_values(payload, span) for span in spans]
        predicate = _with_values(predicate, values)
    content = write_content(predicate_type, hint, predicate)
    start = 0
    for part in _written(content, dict(subjects)):
        if not payload.startswith(part, start):
            return None
        start += len(part)
    if start != len(payload):
        return None
    return Statement(subjects, predicate_type, predicate, content.digest)


def _with_values(
    predicate: ReportPredicate, values: Sequence[Sequence[CellValue]]
) -> ReportPredicate:
    """Return a report with other values."""
    if len(values) != len(predicate.statistics):
        raise Malformed("there are values too many or too few")
    statistics = [
        replace(one, values=its)
        for one, its in zip(predicate.statistics, values, strict=True)
    ]
    return replace(predicate, statistics=tuple(statistics))


def read_ledger_record(payload: bytes) -> LedgerRecord | None:
    """Return the debit that a release states, without decoding its values.

    Raises:
        VerifyFault: it is no release (DPQL605).
    """
    try:
        document = parse(cut_out(payload)[0], limit=LARGEST_RELEASE)
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
