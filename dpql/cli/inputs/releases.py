"""What commands learn from a published release without believing it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from dpql.cli.inputs.keys import TRUST_FILE
from dpql.cli.ui.exit_codes import CommandFault
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.ledger import Head
    from dpql.reports.trust import Trust

RELEASES = Path("releases")
"""The default folder of releases."""


def trust_at(path: Path) -> Trust | None:
    """Return whom a trust file trusts; None where the usual one is not there."""
    from dpql.reports.trust import load_trust

    # Only the usual file may be absent; one that somebody named is meant.
    return load_trust(path) if path.exists() or path != TRUST_FILE else None


def heads_beside(location: str, trust: Path) -> list[Head]:
    """Return the heads that trusted releases here and beside the ledger pin."""
    from dpql.api.ledger_heads import known_heads

    beside = [] if "://" in location else [Path(location).parent / RELEASES]
    return known_heads([RELEASES, *beside], (), trust_at(trust))


def head_of(folder: str) -> Head:
    """Return the entry of the ledger that a release says it belongs to.

    Raises:
        VerifyFault: there is no release in that folder (DPQL630).
        CommandFault: it was made without a ledger (DPQL803).
    """
    from dpql.ledger import Head
    from dpql.reports.display import unverified_view
    from dpql.reports.report import read_folder

    envelope, _ = read_folder(Path(folder))
    digest = hashlib.sha256(envelope).hexdigest()
    view = unverified_view(envelope, digest)
    record = view.predicate.ledger
    if record is None:
        raise CommandFault.of(
            "DPQL803", f"`{shown(folder)}` was released without a ledger"
        )
    return Head(
        dataset=record.dataset, seq=record.seq, digest=record.head, envelope=digest
    )
