"""A forked process runs, or is told at once that it cannot."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from reports.sample_releases import DAY, STEWARD, small_plan

from dpql import forks
from dpql.api.execute import execute
from dpql.api.run_request import RunRequest
from dpql.curator import rehearse, run
from dpql.errors import RunFault
from dpql.ledger import open_ledger
from dpql.model.spec import Neighbours

PROGRAM = """
import os, sys, time
import dpql, polars
from dpql.api import plan

made = plan("specs/smallest_mean.yaml")

def release():
    frame = polars.DataFrame({"age": [41] * 120})
    dpql.run(made, {made.spec.data.source: frame})

{before}
child = os.fork()
if child == 0:
    status = 9
    try:
        {inside}
        status = 0
    except dpql.DpqlError as error:
        status = 8 if error.diagnostics[0].code == "DPQL508" else 7
    finally:
        os._exit(status)
for _ in range(1200):
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        print(os.waitstatus_to_exitcode(status))
        sys.exit()
    time.sleep(0.1)
os.kill(child, 9)
os.waitpid(child, 0)
print("hangs")
"""
USED = 'polars.DataFrame({"x": [2, 1]}).lazy().select(polars.col("x").sort()).collect()'
GRANDCHILD = """child = os.fork()
        if child:
            os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        release()"""


@pytest.mark.skipif(not hasattr(forks.os, "fork"), reason="no forks here")
@pytest.mark.parametrize(
    ("before", "inside", "expected"),
    [
        ("", "release()", "0"),
        ("import dpql.curator.engines.polars", "release()", "0"),
        ('polars.DataFrame({"x": [1]})', "release()", "0"),
        ("release()", "release()", "8"),
        (USED, "release()", "8"),
        ("release()", "dpql.rehearse(made, rows=120)", "8"),
        ("release()", GRANDCHILD, "8"),
        ("", "release(); " + GRANDCHILD, "8"),
        ("", GRANDCHILD, "0"),
    ],
)
def test_a_fork_runs_or_is_refused(before: str, inside: str, expected: str) -> None:
    """Refused is a child of a process that has used polars, and no other.

    A child that does neither within two minutes hangs.
    """
    program = PROGRAM.replace("{before}", before).replace("{inside}", inside)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert expected == done.stdout.strip()


def test_threads_are_known_by_their_names() -> None:
    """Those of polars' pool, and not the one that an import starts."""
    pool = [b"polars-0", b"polars-17"]
    others = [b"polars-ooc-clea", b"polars-", b"polars-x", b"python", b""]
    assert pool == list(filter(forks._of_pool, [*pool, *others]))


def test_nothing_is_reserved_by_a_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DPQL508 comes before anything is reserved, and before rows are read."""
    monkeypatch.setattr(forks._Threads, "lost", True)
    ledger = open_ledger(str(tmp_path / "ledger.db"), create=True)
    ledger.open_account(
        "rows", cap=Fraction(3), unit=None, neighbours=Neighbours.ADD_REMOVE
    )
    made = small_plan()
    frames = {"rows": pl.DataFrame({"region": ["a"]})}
    with pytest.raises(RunFault, match="DPQL508"):
        execute(
            RunRequest(
                plan=made,
                frames=frames,
                ledger=ledger,
                dataset="rows",
                signers=(STEWARD,),
                day=DAY,
                folder=tmp_path / "release",
            )
        )
    assert () == tuple(ledger.account("rows").runs)
    for refused in (lambda: run(made, frames), lambda: rehearse(made, 5, 1)):
        with pytest.raises(RunFault, match="DPQL508"):
            refused()
