"""The witness remembers the newest head, never goes back, and fails closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ledger.ledger_places import DATASET, Places, count_plan

from dpql.errors import LedgerFault
from dpql.ledger import Account, Witness


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
    places = Places(folder=tmp_path)
    _, ledger = places.make()
    Path(places.witness()).write_bytes(junk)
    for attempt in (
        lambda: ledger.verify(DATASET),
        lambda: ledger.reserve(DATASET, count_plan()),
    ):
        with pytest.raises(LedgerFault) as refusal:
            attempt()
        assert refusal.value.diagnostics[0].code == "DPQL714"


def test_witness_that_is_a_link_refuses(tmp_path: Path) -> None:
    """A link is not followed."""
    places = Places(folder=tmp_path)
    _, ledger = places.make()
    real = Path(places.witness())
    real.rename(tmp_path / "elsewhere")
    real.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerFault) as refusal:
        ledger.verify(DATASET)
    assert refusal.value.diagnostics[0].code == "DPQL714"
