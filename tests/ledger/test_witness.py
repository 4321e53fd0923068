"""The witness remembers the newest head, never goes back, and fails closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from ledger.ledger_stores import DATASET, Stores, count_plan

from dpql.errors import LedgerFault
from dpql.ledger import Account, Ledger, Witness, open_ledger

KILLED = """\
import os, signal, sys
from pathlib import Path

from dpql.ledger import open_ledger
from dpql.model.plan_bytes import decode_plan

ledger = open_ledger(sys.argv[1])
plan = decode_plan(Path(sys.argv[2]).read_bytes())
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
Path.replace = die
ledger.reserve(sys.argv[3], plan, again=True)
"""
MAKER = """\
import os, signal, sys

from dpql.ledger import open_ledger, sqlite

sqlite.claim = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
open_ledger(sys.argv[1], create=True)
"""


def _account(seq: int, dataset: str = DATASET) -> Account:
    return replace(Account(dataset=dataset), seq=seq, head=f"{seq:064x}")


def test_newest_head_is_remembered(tmp_path: Path) -> None:
    """A slower process cannot put an older head back."""
    witness = Witness(tmp_path / "witness")
    assert witness.heads(_account(0)) == ()
    for seq in (1, 3, 2):
        witness.remember(_account(seq))
    witness.remember(_account(9, "other"))
    (head,) = witness.heads(_account(0))
    assert (head.seq, head.digest) == (3, f"{3:064x}")


@pytest.mark.parametrize("junk", [b"", b"{}", b"[1]", b"\xff", b"[[[[", b"[" * 10**5])
def test_damaged_witness_refuses(tmp_path: Path, junk: bytes) -> None:
    """A witness that cannot be read is no reason to go on without one."""
    stores = Stores(folder=tmp_path)
    _, ledger = stores.make()
    Path(stores.witness()).write_bytes(junk)
    for attempt in (
        lambda: ledger.verify(DATASET),
        lambda: ledger.reserve(DATASET, count_plan()),
    ):
        with pytest.raises(LedgerFault) as refusal:
            attempt()
        assert refusal.value.diagnostics[0].code == "DPQL714"


def test_witness_that_is_a_link_refuses(tmp_path: Path) -> None:
    """A link is not followed."""
    stores = Stores(folder=tmp_path)
    _, ledger = stores.make()
    real = Path(stores.witness())
    real.rename(tmp_path / "elsewhere")
    real.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerFault) as refusal:
        ledger.verify(DATASET)
    assert refusal.value.diagnostics[0].code == "DPQL714"


def _killed(program: str, *arguments: object) -> None:
    """Run a program that kills itself, for real, where it renames a file."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ},
        check=False,
        timeout=240,
    )
    assert done.returncode == -signal.SIGKILL


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name[0] == ".")


@pytest.mark.parametrize(
    "next_step",
    [
        lambda ledger: ledger.account(DATASET),
        lambda ledger: ledger.recover(DATASET),
        lambda ledger: ledger.reserve(DATASET, count_plan(), again=True),
    ],
    ids=["read", "recover", "write"],
)
def test_what_a_killed_run_left_goes_with_the_next_opening(
    tmp_path: Path, next_step: Callable[[Ledger], object]
) -> None:
    """Reading is enough: nobody may ever write to the ledger again."""
    location, _ = Stores(folder=tmp_path).make()
    ledger = open_ledger(location)
    ledger.reserve(DATASET, count_plan())
    plan = tmp_path / "plan.json"
    plan.write_bytes(count_plan().to_json())
    _killed(KILLED, location, plan, DATASET)
    name = Path(location).name
    (left,) = _left(tmp_path)
    assert left.startswith(f".{name}.witness.")
    kept = [f".{name}.witness.UPPER_01", f".{name}.witness.abc", f".{name}.abcdefgh"]
    for other in kept:
        (tmp_path / other).write_bytes(b"mine")
    next_step(open_ledger(location))
    assert _left(tmp_path) == sorted(kept)


def test_what_a_killed_maker_left_goes_with_the_next(tmp_path: Path) -> None:
    """A ledger whose making was killed leaves nothing once another is made."""
    _killed(MAKER, tmp_path / "one.sqlite")
    assert _left(tmp_path)
    precious = tmp_path / ".dpql-ledger.mine"
    precious.write_bytes(b"mine")
    open_ledger(str(tmp_path / "two.sqlite"), create=True)
    assert _left(tmp_path) == [".dpql-ledger.mine"]
