"""The newest head of each dataset, written down outside the ledger.

A backup of the ledger that is put back is a sound chain, only an old one. Whoever
remembers a newer head notices. The witness is written after an entry is durable, so it
is never ahead of an honest ledger, whenever the machine stops.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpql.durable import read, replace
from dpql.errors import LedgerFault
from dpql.ledger.account import Account
from dpql.ledger.entry import Head
from dpql.model.codec import Malformed, canonical, decode, encode, parse

_LIMIT = 1 << 24


@dataclass(frozen=True, slots=True)
class Witness:
    """A file that remembers heads."""

    path: Path

    def head(self, dataset: str) -> Head | None:
        """Return the newest head that was written down.

        Raises:
            LedgerFault: the file cannot be read, or is no witness (DPQL714).
        """
        return next((h for h in self._heads() if h.dataset == dataset), None)

    def remember(self, account: Account) -> None:
        """Write down the head of the account, unless a newer one is there.

        Raises:
            LedgerFault: the file cannot be read or written (DPQL714).
        """
        new = Head(dataset=account.dataset, seq=account.seq, digest=account.head)
        with self._alone():
            heads = {head.dataset: head for head in self._heads()}
            old = heads.get(new.dataset)
            if old is not None and old.seq >= new.seq:
                return
            heads[new.dataset] = new
            listed = tuple(heads[name] for name in sorted(heads))
            data = canonical(encode(tuple[Head, ...], listed))
            try:
                replace(self.path, data, mode=0o600)
            except OSError as error:
                raise _unusable() from error

    def _heads(self) -> tuple[Head, ...]:
        try:
            data, _ = read(self.path, limit=_LIMIT)
            heads = decode(tuple[Head, ...], parse(data, limit=_LIMIT))
        except FileNotFoundError:
            return ()
        except (OSError, Malformed) as error:
            raise _unusable() from error
        assert isinstance(heads, tuple)
        return heads

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from writing between our read and our write."""
        flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(f"{self.path}.lock", flags, 0o600)
        except OSError as error:
            raise _unusable() from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _unusable() -> LedgerFault:
    return LedgerFault.of(
        "DPQL714",
        "the witness of the ledger cannot be read or written",
        hint="look for a full disk or a damaged file beside the ledger",
    )
