"""What published releases know of a ledger: the heads that it must still hold."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path

from dpql.errors import VerifyFault
from dpql.ledger import Head
from dpql.reports.envelope import open_envelope
from dpql.reports.file_names import ENVELOPE_NAME
from dpql.reports.keys import Signer
from dpql.reports.predicate import LedgerRecord
from dpql.reports.report import read_folder
from dpql.reports.statement import read_ledger_record
from dpql.reports.trust import RELEASE_ROLE, Trust, TrustedKey


def known_heads(
    folders: Iterable[Path],
    signers: Iterable[Signer],
    trust: Trust | None,
    *,
    compared: str = "",
) -> list[Head]:
    """Return the heads that trusted keys signed, from the releases in some folders.

    A report by anybody else is passed over: it could name any head. So is the one with
    the digest ``compared``, which the ledger was compared with already.
    """
    own = [
        TrustedKey(
            principals=("own",),
            key=signer.public,
            namespaces=frozenset({RELEASE_ROLE}),
            first=None,
            until=None,
        )
        for signer in signers
    ]
    known = Trust((*own, *(trust.keys if trust else ())))
    heads = []
    for path in _envelopes(folders):
        with contextlib.suppress(VerifyFault):
            envelope, _ = read_folder(path)
            if hashlib.sha256(envelope).hexdigest() == compared:
                continue
            payload = open_envelope(envelope, known, role=RELEASE_ROLE).payload
            record = read_ledger_record(payload)
            heads += [] if record is None else [head_of(record, envelope)]
    return heads


def head_of(record: LedgerRecord, envelope: bytes) -> Head:
    """Return the position in the chain that a report pins."""
    return Head(
        dataset=record.dataset,
        seq=record.seq,
        digest=record.head,
        envelope=hashlib.sha256(envelope).hexdigest(),
    )


def _envelopes(folders: Iterable[Path]) -> list[Path]:
    different = {folder.resolve() for folder in folders}
    return sorted(
        path for folder in different for path in folder.glob(f"*/{ENVELOPE_NAME}")
    )
