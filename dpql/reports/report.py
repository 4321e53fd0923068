"""A signed report: the envelope, and the tables and the page that it signs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from html import escape
from pathlib import Path

from dpql.errors import VerifyFault
from dpql.model.release import Outcome, Release
from dpql.reports.display import View, unverified_view
from dpql.reports.envelope import seal
from dpql.reports.file_names import (
    ENVELOPE_NAME,
    HTML_NAME,
    safe_name,
    signed_names,
)
from dpql.reports.folder import read_folder, write_folder, write_numbered
from dpql.reports.keys import Signer
from dpql.reports.predicate import (
    COINS,
    REHEARSAL,
    RELEASE,
    LedgerRecord,
    ReportPredicate,
)
from dpql.reports.predicate_builder import build
from dpql.reports.render_html import as_html
from dpql.reports.render_markdown import as_markdown
from dpql.reports.render_text import as_text
from dpql.reports.statement import write_content, write_statement
from dpql.reports.tables import tables_of

__all__ = ["Report", "read_folder", "sign", "sign_rehearsal"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Report:
    """An envelope, and the files whose digests it signs.

    ``signed`` is the view of whoever made or read the envelope in this process.
    """

    envelope: bytes
    files: tuple[tuple[str, bytes], ...]
    signed: View | None = field(default=None, compare=False)

    @cached_property
    def view(self) -> View:
        """What the envelope says; nobody vouches for it."""
        return self.signed or unverified_view(self.envelope, self.digest)

    @cached_property
    def digest(self) -> str:
        """sha256 of the envelope, in hexadecimal."""
        return hashlib.sha256(self.envelope).hexdigest()

    @property
    def name(self) -> str:
        """The short name of the report: the first 16 digits of its digest."""
        return self.digest[:16]

    def to_text(self) -> str:
        """Return the report for a terminal."""
        return as_text(self.view)

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        return as_markdown(self.view)

    def to_html(self) -> str:
        """Return the report as an HTML page: the signed page, if there is one."""
        signed = dict(self.files).get(HTML_NAME)
        return as_html(self.view) if signed is None else signed.decode()

    def write(self, folder: Path | str) -> tuple[str, ...]:
        """Write the release folder: envelope, tables, page; wholly or not at all.

        An existing folder of this report is mended. Returns the names of the files that
        were missing or altered there.

        Raises:
            VerifyFault: the name is taken or cannot be written (DPQL630).
        """
        return write_folder(Path(folder), self._contents())

    def write_in(self, parent: Path) -> tuple[Path, tuple[str, ...]]:
        """Write the release folder below another, named after its date and release.

        A number is added to a name that is taken. Returns the folder, and what
        `write` returns.

        Raises:
            VerifyFault: it cannot be written (DPQL630).
        """
        predicate = self.view.predicate
        name = safe_name(f"{predicate.date}-{predicate.plan.spec.release}")
        return write_numbered(parent / name, self._contents())

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<report {self.name}>"

    def _repr_html_(self) -> str:
        # In a frame, the style and the policy of the page apply to the page alone.
        page = escape(self.to_html(), quote=True)
        return f'<iframe sandbox srcdoc="{page}" width="100%" height="640"></iframe>'

    def _contents(self) -> dict[str, bytes]:
        return {
            ENVELOPE_NAME: self.envelope,
            **dict(self.files),
            # Format 1 did not sign the page, so this dpql renders it.
            HTML_NAME: self.to_html().encode(),
        }


def sign(
    release: Outcome,
    signers: Sequence[Signer],
    *,
    day: date,
    ledger: LedgerRecord | None,
    versions: Mapping[str, str],
    approvals: Sequence[bytes] = (),
) -> Report:
    """Return the signed report on a release.

    Raises:
        VerifyFault: it is a rehearsal (DPQL605), or there is no key (DPQL615).
    """
    if not isinstance(release, Release) or release.coins != COINS:
        raise VerifyFault.of(
            "DPQL605",
            "a rehearsal cannot be signed as a release",
            hint="run the plan on the data: `dpql run`",
        )
    refuse_signers(signers)
    return _sealed(
        release,
        signers,
        day=day,
        ledger=ledger,
        versions=versions,
        approvals=approvals,
    )


def refuse_signers(signers: Sequence[Signer]) -> None:
    """Refuse to sign with no key, or twice with one (DPQL615)."""
    if not signers:
        raise VerifyFault.of("DPQL615", "a release needs a key that signs it")
    if len({signer.public.fingerprint for signer in signers}) < len(signers):
        raise VerifyFault.of("DPQL615", "the same key cannot sign a release twice")


def sign_rehearsal(
    outcome: Outcome,
    signers: Sequence[Signer],
    *,
    day: date,
    versions: Mapping[str, str],
) -> Report:
    """Return the signed report on a rehearsal; its type says that it is one.

    Raises:
        VerifyFault: it is a release (DPQL605).
    """
    if isinstance(outcome, Release):
        raise VerifyFault.of("DPQL605", "a release is not signed as a rehearsal")
    return _sealed(
        outcome, signers, day=day, ledger=None, versions=versions, approvals=()
    )


def _sealed(
    outcome: Outcome,
    signers: Sequence[Signer],
    *,
    day: date,
    ledger: LedgerRecord | None,
    versions: Mapping[str, str],
    approvals: Sequence[bytes],
) -> Report:
    predicate = build(
        outcome, day=day, ledger=ledger, approvals=approvals, versions=versions
    )
    released = isinstance(outcome, Release)
    kind = RELEASE if released else REHEARSAL
    content = write_content(kind, ReportPredicate, predicate)
    word = "release" if released else "rehearsal"
    view = View(predicate, word, content.digest)
    # People read the page, so it is signed with the tables.
    page = as_html(view)
    files = {**tables_of(outcome), HTML_NAME: page.encode()}
    files = {name: files[name] for name in signed_names(outcome.plan)}
    payload = write_statement(
        content,
        {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    )
    del content  # in a large release, every copy of what is signed is large
    envelope = seal(payload, signers)
    digest = hashlib.sha256(envelope).hexdigest()
    return Report(
        envelope=envelope,
        files=tuple(files.items()),
        signed=replace(view, digest=digest),
    )
