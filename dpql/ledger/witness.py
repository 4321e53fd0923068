"""Witnesses note the newest head of each dataset outside the ledger.

A restored backup of the ledger is a sound chain, only an old one. A witness that has
seen a newer head notices. It notes a head after the entry is durable, so it is never
newer than an honest ledger, whenever the machine stops.

Whoever restores a whole folder restores the witness beside the ledger too. So every
user has a folder of witnesses as well. It knows a chain by its mark wherever the ledger
is: in a file, in a copy of that file, or on a server. It knows the ledger by its id
too, so it misses a chain that was removed together with its mark.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpql.durable import leftovers, read, replace, sweep
from dpql.errors import LedgerFault
from dpql.ledger.account import Account
from dpql.ledger.entry import Head
from dpql.model.codec import Malformed, canonical, decode, encode, parse

_LIMIT = 1 << 24


@dataclass(frozen=True, slots=True)
class Witness:
    """A file of heads."""

    path: Path

    def prepare(self) -> None:
        """Make sure that heads can be noted, before there is one to note.

        Raises:
            LedgerFault: they cannot (DPQL714).
        """
        with self._alone():
            sweep(self.path)
            self._heads()

    def heads(self, account: Account) -> tuple[Head, ...]:
        """Return the newest head that was noted for the account's dataset.

        Raises:
            LedgerFault: the file cannot be read, or is no witness (DPQL714).
        """
        self._tidy()
        return tuple(h for h in self._heads() if h.dataset == account.dataset)

    def datasets(self, ledger: str) -> tuple[str, ...]:  # noqa: ARG002  the file belongs to one ledger
        """Return the datasets that have a head here.

        Raises:
            LedgerFault: the file cannot be read, or is no witness (DPQL714).
        """
        return tuple(head.dataset for head in self._heads())

    def remember(self, account: Account) -> None:
        """Note the head of the account, unless a newer one is there.

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
            sweep(self.path)
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

    def _tidy(self) -> None:
        """Remove what a killed writer left, as nobody may ever write here again."""
        if leftovers(self.path):
            with contextlib.suppress(LedgerFault), self._alone():
                sweep(self.path)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from writing between our reading and writing."""
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


@dataclass(frozen=True, slots=True)
class WitnessFolder:
    """The heads that a user has seen of every chain and every ledger.

    ``needed``: there is no other witness, so this one must work.
    """

    folder: Path | None
    needed: bool

    def prepare(self) -> None:
        """Make the folder; refuse to go on without one where it is needed.

        Raises:
            LedgerFault: there is no folder that can be written to (DPQL714).
        """
        if self.folder is not None:
            with contextlib.suppress(OSError):
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.needed and not self._usable():
            raise _unusable()

    def heads(self, account: Account) -> tuple[Head, ...]:
        """Return the newest heads that this user has seen of the account's chain.

        One was noted for the chain in any ledger, one for the ledger with any chain.
        """
        files = self._files(account.mark, account.ledger)
        return tuple(head for file in files for head in file.heads(account))

    def datasets(self, ledger: str) -> tuple[str, ...]:
        """Return the datasets that this user has seen in a ledger."""
        return tuple(
            name for file in self._files(ledger) for name in file.datasets(ledger)
        )

    def remember(self, account: Account) -> None:
        """Note the head of the account.

        Raises:
            LedgerFault: nobody else notes it, and it cannot be written (DPQL714).
        """
        try:
            for file in self._files(account.mark, account.ledger):
                file.remember(account)
        except LedgerFault:
            if self.needed:
                raise

    def _files(self, *names: str) -> list[Witness]:
        if self.folder is None or not self._usable():
            return []
        return [Witness(self.folder / f"{name}.json") for name in names if name]

    def _usable(self) -> bool:
        wanted = os.R_OK | os.W_OK | os.X_OK
        return self.folder is not None and os.access(self.folder, wanted)


def user_folder() -> Path | None:
    """Return the folder of witnesses of this user; None for a user without a home."""
    named = os.environ.get("XDG_STATE_HOME", "")
    try:
        base = Path(named) if os.path.isabs(named) else Path.home() / ".local/state"  # noqa: PTH117  text
    except RuntimeError:
        return None
    return base / "dpql" / "ledgers"


def _unusable() -> LedgerFault:
    return LedgerFault.of(
        "DPQL714",
        "the witness of the ledger cannot be read or written",
        hint="look for a full disk, a damaged file beside the ledger, or a folder "
        "XDG_STATE_HOME that you may not write to",
    )
