"""`dpql ledger verify`: the chain, and the releases that it must know."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli.released import RUN, release_in
from cli.started import dpql, fine, refused
from ledger.ledger_stores import tampering

pytestmark = pytest.mark.cli


def _rows_gone(folder: Path) -> None:
    with tampering(str(folder / "ledger.sqlite")) as execute:
        execute("DELETE FROM dpql_entry WHERE dataset = 'wages'")


@pytest.mark.parametrize("witness", ["beside", "memory"])
def test_dataset_whose_rows_are_gone_is_missed(owner: Path, witness: str) -> None:
    """Whichever witness is left, no command passes over it or opens it anew."""
    opening = ("--epsilon", "4", "--unit", "person_id")
    fine(dpql("ledger", "open", "other", *opening, folder=owner))
    _rows_gone(owner)
    state = str(owner / "none") if witness == "beside" else str(owner.parent / "state")
    if witness == "memory":
        (owner / "ledger.sqlite.witness").unlink()
    for command in (
        ("verify",),
        ("verify", "wages"),
        ("show",),
        ("show", "wages"),
        ("open", "wages", *opening),
    ):
        run = dpql("ledger", *command, folder=owner, XDG_STATE_HOME=state)
        refused(run, 3, "DPQL706", "`wages`")
    fine(dpql("ledger", "verify", "other", folder=owner, XDG_STATE_HOME=state))


def test_release_of_other_data_is_not_passed_over(owner: Path) -> None:
    """Who names a dataset and a release of another one is told so."""
    (release,) = (owner / "releases").iterdir()
    fine(
        dpql("ledger", "open", "other", "--epsilon", "1", "--unit", "row", folder=owner)
    )
    verify = ("ledger", "verify", "other", "--against", release)
    refused(dpql(*verify, folder=owner), 2, "a release of `wages`, not of `other`")
    assert " ok  wages" in fine(
        dpql("ledger", "verify", "wages", "--against", release, folder=owner)
    )


def test_releases_that_lie_there_tell_of_an_old_ledger(owner: Path) -> None:
    """Ledger put back, witnesses gone: a later release beside the first is enough."""
    (first,) = (owner / "releases").iterdir()
    ledger = owner / "ledger.sqlite"
    backup = ledger.read_bytes()
    assert dpql(*RUN, "--yes", "--again", folder=owner).returncode == 0
    ledger.write_bytes(backup)
    (owner / "ledger.sqlite.witness").unlink()
    shutil.rmtree(owner.parent / "state")
    for release in (first, first / "release.dsse.json"):
        verify = ("verify", release, "--ledger", ledger)
        refused(dpql(*verify, folder=owner), 3, "DPQL706")
    away = ("--ledger", ledger, "--trust", owner / "allowed_signers")
    for options, folder in (((), owner), (("wages",), owner), (away, owner.parent)):
        refused(dpql("ledger", "verify", *options, folder=folder), 3, "DPQL706")
    shutil.rmtree(first.with_name(f"{first.name}-2"))
    fine(dpql("verify", first, "--ledger", ledger, folder=owner))
    fine(dpql("ledger", "verify", folder=owner))


def test_the_ledger_is_verified_against_releases(released: Path) -> None:
    """A published release must be in the chain."""
    arguments = ("ledger", "verify", "--against", release_in(released))
    assert " ok  wages   5 entries" in fine(dpql(*arguments, folder=released))
