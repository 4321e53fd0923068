"""Runs many whole runs at once on one ledger that can afford only some of them.

    python tools/concurrent_runs.py --rounds 20 --runs 16

In every round exactly the affordable number must succeed, the others must be refused
for their budget, and every release must verify against the ledger.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from kill_runs import (
    DATASET,
    DAY,
    MODULES,
    SIGNER,
    Scene,
    prepare,
    the_plan,
    the_trust,
)

from dpql.api.execute import execute
from dpql.api.run_request import RunRequest
from dpql.api.verification import verify_release
from dpql.errors import LedgerFault

AFFORDABLE = 7


def run_once(scene: Scene, number: int) -> str:
    """Try one run; return ``released`` or the code of the refusal."""
    try:
        execute(
            RunRequest(
                plan=the_plan(),
                frames=scene.rows(),
                ledger=scene.ledger(),
                dataset=DATASET,
                signers=(SIGNER,),
                day=DAY,
                folder=scene.folder / "releases" / str(number),
                again=True,
            )
        )
    except LedgerFault as refusal:
        return refusal.diagnostics[0].code
    return "released"


def check(folder: Path, server: str | None, runs: int) -> list[str]:
    """Start many runs at once; return what is wrong with its end."""
    scene = prepare(folder, server, cap=Fraction(AFFORDABLE, 10))
    ledger = scene.ledger()
    context = multiprocessing.get_context("forkserver")
    with context.Pool(runs) as pool:
        ends = pool.starmap(run_once, [(scene, number) for number in range(runs)], 1)
    account = ledger.verify(DATASET)
    wrong = []
    if ends.count("released") != AFFORDABLE:
        wrong.append(f"{ends.count('released')} runs succeeded")
    if ends.count("DPQL703") != runs - AFFORDABLE:
        wrong.append(f"refusals were {sorted(set(ends))}")
    if account.left != 0 or account.spent != account.cap:
        wrong.append(f"{account.left} is left")
    folders = list((folder / "releases").iterdir())
    if len(folders) != AFFORDABLE:
        wrong.append(f"there are {len(folders)} folders")
    for release in folders:
        verify_release(release, the_trust(), ledger=ledger)
    return wrong


def main(arguments: list[str]) -> int:
    """Hold as many races as asked for; return 1 if any ended wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--server", help="a PostgreSQL database to keep ledgers in")
    options = parser.parse_args(arguments)
    if options.runs < AFFORDABLE:
        parser.error(f"{AFFORDABLE} runs can be paid for, so ask for at least as many")
    multiprocessing.set_forkserver_preload(list(MODULES))
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as root:
        os.environ["XDG_STATE_HOME"] = f"{root}/state"
        for number in range(options.rounds):
            wrong += check(Path(root) / str(number), options.server, options.runs)
    print(f"{options.rounds} races of {options.runs} runs; {len(wrong)} ended wrongly")
    for what in wrong:
        print(f"  {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
