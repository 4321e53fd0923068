"""Stops a run at every single step that touches the disk, one after the other.

    python tools/crash_points.py
    python tools/crash_points.py --again

A child runs a plan and leaves without a word before its first such step; the next child
before its second, and so on, until one comes to its end. Steps are all statements of
the ledger, syncs, locks, new names and removals. After each the ledger must be sound,
every draw debited, every report stored, and the next run must work and leave nothing
unfinished. ``--again`` stops the mending of a harmed release folder instead.
"""

from __future__ import annotations

import argparse
import fcntl
import multiprocessing
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from kill_runs import (
    DATASET,
    DAY,
    MODULES,
    SIGNER,
    Scene,
    faults,
    leftovers,
    next_run_works,
    prepare,
    the_plan,
    the_trust,
)

from dpql.api import execute as execution
from dpql.api.run_request import RunRequest
from dpql.api.verification import verify_release
from dpql.ledger import State

STOPPED = 86
"""The exit code of a child that left on purpose."""

STEPS = (
    *((os, name) for name in ("fsync", "link", "rename", "replace", "unlink")),
    *((os, name) for name in ("mkdir", "rmdir", "open", "close", "write")),
    (fcntl, "flock"),
)
MOST = 2_000


class _Steps:
    """Counts steps, and leaves before the chosen one."""

    def __init__(self, last: int) -> None:
        self.left = last

    def take(self) -> None:
        """Count a step; leave if it is the one."""
        self.left -= 1
        if self.left == 0:
            os._exit(STOPPED)

    def watch(self, module: Any, name: str) -> None:
        """Let every call of a function count."""
        inner: Callable[..., Any] = getattr(module, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            self.take()
            return inner(*arguments, **options)

        setattr(module, name, watched)

    def connection(self) -> type[sqlite3.Connection]:
        """Return a kind of connection whose every statement counts."""
        steps = self

        class Watched(sqlite3.Connection):
            def execute(self, *arguments: Any) -> Any:
                steps.take()
                return super().execute(*arguments)

            def close(self) -> None:
                steps.take()
                super().close()

        return Watched


def run_to(scene: Scene, last: int, *, again: bool) -> None:
    """Run the plan, and leave before the chosen step."""
    steps = _Steps(last)
    notes = os.open(scene.folder / "notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    note, sign, connect = os.write, execution.sign, sqlite3.connect
    kind = steps.connection()

    def noted(*arguments: Any, **options: Any) -> Any:
        note(notes, b"drawn\n")
        return sign(*arguments, **options)

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        steps.take()
        return connect(*arguments, factory=kind, **options)

    execution.sign = noted  # type: ignore[assignment]
    sqlite3.connect = connected
    for module, name in STEPS:
        steps.watch(module, name)
    done = run_once(scene, again=again)
    note(notes, f"printed {done.report.digest}\n".encode())


def run_once(scene: Scene, *, again: bool) -> execution.Executed:
    """Run the plan into the folder ``first``."""
    return execution.execute(
        RunRequest(
            plan=the_plan(),
            frames=scene.rows(),
            ledger=scene.ledger(),
            dataset=DATASET,
            signers=(SIGNER,),
            day=DAY,
            folder=scene.folder / "releases" / "first",
            again=again,
        )
    )


def harm(folder: Path, step: int) -> None:
    """Take one file of a release folder away and alter another."""
    names = sorted(path.name for path in folder.iterdir())
    (folder / names[step % 4]).unlink()
    if step % 3:
        (folder / names[(step + 1) % 4]).write_bytes(b"altered")


def crash(scene: Scene, last: int, *, again: bool) -> bool:
    """Let a child leave before a step; return whether it came to its end instead."""
    context = multiprocessing.get_context("forkserver")
    child = context.Process(target=run_to, args=(scene, last), kwargs={"again": again})
    child.start()
    child.join()
    assert child.exitcode in (0, STOPPED), child.exitcode
    return child.exitcode == 0


def stopped_run(root: Path, last: int) -> tuple[bool, list[str]]:
    """Stop a first run at a step; return whether it ended, and what is wrong."""
    scene = prepare(root / f"run{last}", None)
    ended = crash(scene, last, again=True)
    wrong = faults(scene, thorough=True)
    before = scene.ledger().verify(DATASET)
    stored = before.released(the_plan().digest)
    if stored is not None:
        # A report that was sealed comes back whole, at no cost.
        run_once(scene, again=False)
        release = scene.folder / "releases" / "first"
        verify_release(release, the_trust(), ledger=scene.ledger())
        if scene.ledger().account(DATASET).seq != before.seq:
            wrong.append("fetching a stored report changed the ledger")
    after = next_run_works(scene)
    if after.spent != before.spent + Fraction(1, 10):
        wrong.append("recovery changed what was spent")
    if any(run.state in (State.RESERVED, State.DRAWING) for run in after.runs):
        wrong.append("a run is still under way")
    return ended, wrong + leftovers(scene)


def stopped_mending(root: Path, last: int) -> tuple[bool, list[str]]:
    """Stop the mending of a folder at a step; return the same."""
    scene = prepare(root / f"mend{last}", None)
    run_once(scene, again=True)
    release = scene.folder / "releases" / "first"
    whole = {path.name: path.read_bytes() for path in release.iterdir()}
    harm(release, last)
    before = scene.ledger().account(DATASET)
    ended = crash(scene, last, again=False)
    run_once(scene, again=False)
    wrong = []
    if {path.name: path.read_bytes() for path in release.iterdir()} != whole:
        left = sorted(path.name for path in release.iterdir())
        wrong.append(f"the folder was not mended: {left}")
    if scene.ledger().verify(DATASET) != before:
        wrong.append("mending changed the ledger")
    verify_release(release, the_trust(), ledger=scene.ledger())
    return ended, wrong + leftovers(scene)


def main(arguments: list[str]) -> int:
    """Stop a run at every step; return 1 if any promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="stop mending instead")
    parser.add_argument("--every", type=int, default=1, help="only each so many steps")
    options = parser.parse_args(arguments)
    attempt = stopped_mending if options.again else stopped_run
    multiprocessing.set_forkserver_preload([*MODULES, "kill_runs"])
    broken: list[str] = []
    stops = 0
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        os.environ["XDG_STATE_HOME"] = str(root / "state")
        for last in range(1, MOST, options.every):
            ended, wrong = attempt(root, last)
            broken += [f"step {last}: {what}" for what in wrong]
            shutil.rmtree(root / "state", ignore_errors=True)
            if ended:
                break
            stops += 1
    print(f"{stops} stops, each before another step of {last}")
    print(f"{len(broken)} broken promises" + "".join(f"\n  {what}" for what in broken))
    return 1 if broken or not stops else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
