"""What a process has checked of a ledger, so that it reads each chain once.

The first transaction reads a chain from its first entry on. Later ones read the last
entry that was checked, and what came after it. That entry carries the digest of the
one before, so nobody can add to a chain that differs. An entry further back that was
altered meanwhile is noticed by the next process, and by `Ledger.verify`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dpql.ledger.account import Account
from dpql.ledger.entry import read_chain
from dpql.ledger.replay import go_on
from dpql.ledger.store import Session


@dataclass(frozen=True, slots=True)
class Checked:
    """The accounts of one ledger, each as of the last entry that was checked.

    They are in the memory of the process alone: who can write to the ledger cannot
    write to them.
    """

    _accounts: dict[str, Account] = field(default_factory=dict)

    def account(
        self, session: Session, dataset: str, *, whole: bool = False
    ) -> Account:
        """Return the account of a dataset after checking its chain; it may be empty.

        ``whole`` reads the chain from its first entry on, whatever was checked before.

        Raises:
            LedgerFault: the chain was altered (DPQL705).
        """
        # A chain that is refused was not checked, so the next reader refuses it too.
        known = self._accounts.pop(dataset, None)
        account = None
        if known is not None and known.seq and not whole:
            account = _after(session, known)
        if account is None:
            entries = read_chain(dataset, session.rows(dataset))
            account = go_on(Account(dataset=dataset), entries)
        account = replace(account, ledger=session.ledger_id())
        self._accounts[dataset] = account
        return account


def _after(session: Session, known: Account) -> Account | None:
    """Return the account that goes on from a known one; None if the chain does not."""
    rows = session.rows(known.dataset, first=known.seq)
    if not rows or rows[0].digest != known.head:
        return None
    entries = read_chain(known.dataset, rows, digests=known.digests[:-1])
    return go_on(known, entries[1:])
