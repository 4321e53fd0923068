"""Kills runs at random moments and looks whether anything was lost or given away.

    python tools/kill_runs.py --kills 1000
    python tools/kill_runs.py --kills 300 --server postgresql://me@127.0.0.1/test

Every child runs a plan again and again on a ledger of its own batch, in a file or in a
schema of a PostgreSQL database. It is killed with SIGKILL, half of the time after a
random wait, half of the time at the first change of the ledger. After each kill the
ledger must be sound and usable at once, every draw of noise must be debited, every
printed or written report must be stored, and nothing unfinished may stay behind.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ed25519

from dpql.api import execute as execution
from dpql.api.run_request import RunRequest
from dpql.api.verification import verify_release
from dpql.language import load_text
from dpql.ledger import Account, Ledger, State, open_ledger
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours
from dpql.planner import plan as compile_plan
from dpql.reports.file_names import ENVELOPE_NAME, signed_names
from dpql.reports.keys import Signer
from dpql.reports.trust import Trust, parse_trust, trust_line

DATASET = "wages"
DAY = date(2026, 11, 16)
BATCH = 40
MODULES = (
    "dpql.api.execute",
    "dpql.api.verification",
    "dpql.curator.engines.polars",
    "dpql.reports.data_frames",
    "dpql.language",
    "dpql.ledger.sqlite",
    "dpql.ledger.postgres",
)
"""Imported once, by the process that all children are copies of."""

SPEC = """\
dpql: 1
release: killed
purpose: A run that is killed.
data:
  source: rows
  rows: {at_most: 1000}
  columns:
    region: {type: category, keys: [a, b]}
privacy: {unit: row, neighbours: add_remove, epsilon: 0.1, delta: 0}
defaults: {alpha: 0.05, gamma: 1e-9, mechanism: geometric}
statistics:
  total: {count: rows, by: [region], spend: {share: 1}}
report: {signer: steward}
"""
SIGNER = Signer(ed25519.Ed25519PrivateKey.from_private_bytes(b"\x01" * 32))


def the_plan() -> Plan:
    """Return the plan that every child runs."""
    return compile_plan(load_text(SPEC, form="yaml"))


def the_trust() -> Trust:
    """Return the trust in the children's key."""
    line = trust_line(SIGNER.public, "steward@example.org", ("dpql-release",))
    return parse_trust(line)


@dataclass(frozen=True)
class Scene:
    """A folder with data and releases, and the ledger that they are debited from."""

    folder: Path
    location: str

    def ledger(self) -> Ledger:
        """Return the ledger, as a process that has just begun sees it."""
        return open_ledger(self.location)

    def rows(self) -> dict[str, object]:
        """Return the data."""
        return {"rows": str(self.folder / "rows.csv")}


def run_on(scene: Scene, ready: Connection) -> None:
    """Run the plan until somebody kills us; note every draw and every report."""
    folder = scene.folder
    notes = os.open(folder / "notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    sign = execution.sign

    def noted(*arguments: object, **options: object) -> object:
        os.write(notes, b"drawn\n")
        return sign(*arguments, **options)  # type: ignore[arg-type]

    execution.sign = noted  # type: ignore[assignment]
    plan, ledger = the_plan(), scene.ledger()
    ready.send_bytes(b"ready")
    for number in range(1_000_000):
        done = execution.execute(
            RunRequest(
                plan=plan,
                frames=scene.rows(),
                ledger=ledger,
                dataset=DATASET,
                signers=(SIGNER,),
                day=DAY,
                folder=folder / "releases" / f"{os.getpid()}-{number}",
                again=True,
            )
        )
        os.write(notes, f"printed {done.report.digest}\n".encode())


def prepare(folder: Path, server: str | None, cap: Fraction = Fraction(10**5)) -> Scene:
    """Make data and a ledger to run on."""
    (folder / "releases").mkdir(parents=True)
    rows = "region\n" + "a\n" * 30 + "b\n" * 20
    (folder / "rows.csv").write_text(rows, encoding="utf-8")
    scene = Scene(folder, str(folder / "ledger.db") if server is None else room(server))
    ledger = open_ledger(scene.location, create=True)
    ledger.open_account(DATASET, cap=cap, unit=None, neighbours=Neighbours.ADD_REMOVE)
    return scene


def room(server: str) -> str:
    """Make a schema of its own in a database; return its address."""
    import psycopg

    name = f"dpql_{uuid.uuid4().hex}"
    with psycopg.connect(server) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    joint = "&" if "?" in server else "?"
    return f"{server}{joint}options=-csearch_path%3D{name}"


def kill_one(scene: Scene, chance: random.Random, longest: float) -> None:
    """Start a run and kill it at a moment that nobody chose."""
    context = multiprocessing.get_context("forkserver")
    waiting, ready = context.Pipe(duplex=False)
    child = context.Process(target=run_on, args=(scene, ready))
    child.start()
    waiting.recv_bytes()
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0, longest))
    else:
        ends = time.monotonic() + longest
        with changing(scene) as changed:
            while not changed() and time.monotonic() < ends:
                pass
        time.sleep(chance.uniform(0, 0.02))
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()


@contextmanager
def changing(scene: Scene) -> Iterator[Callable[[], bool]]:
    """Give what tells whether the ledger has changed since."""
    if "://" not in scene.location:
        files = [Path(scene.location), Path(f"{scene.location}-wal")]
        before = _stamps(files)
        yield lambda: _stamps(files) != before
        return
    import psycopg

    with psycopg.connect(scene.location, autocommit=True) as connection:

        def entries() -> object:
            query = "SELECT count(*) FROM dpql_entry"
            return connection.execute(query).fetchone()

        first = entries()
        yield lambda: entries() != first


def faults(scene: Scene, *, thorough: bool) -> list[str]:
    """Return what is wrong after a kill; nothing, if all promises hold."""
    found = []
    folder, ledger = scene.folder, scene.ledger()
    account = ledger.verify(DATASET)
    notes = Counter(_notes(folder))
    spent = [run for run in account.runs if run.state is not State.RESERVED]
    if notes["drawn"] > len(spent):
        found.append("noise was drawn without a debit")
    if account.spent < Fraction(1, 10) * notes["drawn"]:
        found.append("the ledger counts less than was drawn")
    sealed = {run.envelope for run in account.runs if run.state is State.RELEASED}
    if any(note.startswith("printed ") and note[8:] not in sealed for note in notes):
        found.append("a report was printed that is not stored")
    expected = {ENVELOPE_NAME, *signed_names(the_plan())}
    folders = sorted(p for p in (folder / "releases").iterdir() if p.name[0] != ".")
    for folder in folders if thorough else folders[-3:]:
        verify_release(folder, the_trust(), ledger=ledger)
        if {path.name for path in folder.iterdir()} != expected:
            found.append("a release folder is torn")
    if len(folders) > len(sealed):
        found.append("there are more release folders than sealed reports")
    return found


def next_run_works(scene: Scene) -> Account:
    """Run once more, undisturbed, then recover; return the account."""
    ledger = scene.ledger()
    execution.execute(
        RunRequest(
            plan=the_plan(),
            frames=scene.rows(),
            ledger=ledger,
            dataset=DATASET,
            signers=(SIGNER,),
            day=DAY,
            folder=scene.folder / "releases" / "last",
            again=True,
        )
    )
    ledger.recover(DATASET)
    return ledger.verify(DATASET)


def leftovers(scene: Scene) -> list[str]:
    """Return what killed runs have left that the next one did not take away."""
    state = Path(os.environ["XDG_STATE_HOME"])
    folders = (scene.folder, scene.folder / "releases", *state.glob("dpql/*"))
    hidden = [path.name for folder in folders for path in folder.glob(".*")]
    return [f"{name} was left behind" for name in hidden]


def main(arguments: list[str]) -> int:
    """Kill as many runs as asked for; return 1 if any promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--longest", type=float, default=0.4)
    parser.add_argument("--server", help="a PostgreSQL database to keep ledgers in")
    options = parser.parse_args(arguments)
    seed = (
        random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    )
    chance = random.Random(seed)
    multiprocessing.set_forkserver_preload(list(MODULES))
    states: Counter[str] = Counter()
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as root:
        # The user whose runs are killed remembers ledgers there and nowhere else.
        os.environ["XDG_STATE_HOME"] = f"{root}/state"
        for start in range(0, options.kills, BATCH):
            scene = prepare(Path(root) / str(start), options.server)
            for _ in range(min(BATCH, options.kills - start)):
                kill_one(scene, chance, options.longest)
                broken += faults(scene, thorough=False)
            account = scene.ledger().verify(DATASET)
            states.update(run.state.value for run in account.runs)
            broken += faults(scene, thorough=True)
            spent = account.spent
            if next_run_works(scene).spent != spent + Fraction(1, 10):
                broken.append("recovery changed what was spent")
            broken += leftovers(scene)
    left = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    print(f"{options.kills} kills (seed {seed}); runs left: {left}")
    print(f"{len(broken)} broken promises" + "".join(f"\n  {what}" for what in broken))
    return 1 if broken else 0


def _notes(folder: Path) -> list[str]:
    path = folder / "notes"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def _stamps(paths: list[Path]) -> list[tuple[int, int]]:
    stamps = []
    for path in paths:
        try:
            status = path.stat()
            stamps.append((status.st_mtime_ns, status.st_size))
        except FileNotFoundError:
            stamps.append((0, 0))
    return stamps


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
