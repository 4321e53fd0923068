"""What commands learn from a published release without believing it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from dpql.cli.statuses import CommandFault
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.ledger import Head


def head_of(place: str) -> Head:
    """Return the entry of the ledger that a release says it belongs to.

    Raises:
        VerifyFault: there is no release at that place (DPQL630).
        CommandFault: it was made without a ledger (DPQL803).
    """
    from dpql.ledger import Head
    from dpql.reports.report import read_folder
    from dpql.reports.view import unverified_view

    envelope, _, _ = read_folder(Path(place))
    digest = hashlib.sha256(envelope).hexdigest()
    view = unverified_view(envelope, digest)
    record = view.predicate.ledger
    if record is None:
        raise CommandFault.of(
            "DPQL803", f"`{shown(place)}` was released without a ledger"
        )
    return Head(
        dataset=record.dataset, seq=record.seq, digest=record.head, envelope=digest
    )
