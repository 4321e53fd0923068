"""Makes fresh ledgers in a file or on a server, and plans to spend on them."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import spec_text

from dpql.ledger import Ledger, open_ledger
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours
from dpql.planner import plan

DATASET = "wages-2025"
_COUNTER = itertools.count()
EDITS = {
    "a body": "UPDATE dpql_entry SET body = replace(body, '\"4\"', '\"9\"')"
    " WHERE seq = 1",
    "spaces of a body": "UPDATE dpql_entry SET body = body || ' ' WHERE seq = 2",
    "a digest": "UPDATE dpql_entry SET digest = upper(digest) WHERE seq = 3",
    "a row less": "DELETE FROM dpql_entry WHERE seq = 2",
    "the first row less": "DELETE FROM dpql_entry WHERE seq = 1",
    "the last row less": "DELETE FROM dpql_entry WHERE seq = 4",
    "the last two rows less": "DELETE FROM dpql_entry WHERE seq > 2",
    "all rows but the first gone": "DELETE FROM dpql_entry WHERE seq > 1",
    "two rows swapped": "UPDATE dpql_entry SET seq = 15 - seq WHERE seq IN (2, 3);"
    "UPDATE dpql_entry SET seq = seq - 10 WHERE seq > 10",
    "two bodies swapped": "UPDATE dpql_entry SET body = (SELECT max(other.body) FROM"
    " dpql_entry other WHERE other.seq = 5 - dpql_entry.seq) WHERE seq IN (2, 3)",
    "another number": "UPDATE dpql_entry SET seq = 9 WHERE seq = 4",
    "another dataset": "UPDATE dpql_entry SET dataset = 'other'",
    "all rows gone": "DELETE FROM dpql_entry",
}
"""What somebody may do to the rows of a ledger with one release in it."""

_TABLES = ("dpql_entry", "dpql_kept")


@dataclass(kw_only=True)
class Stores:
    """A folder, and the address of a server where there is one."""

    folder: Path
    server: str | None = None
    made: list[str] = field(default_factory=list)

    def location(self) -> str:
        """Return the location of a ledger that is not there yet."""
        if self.server is None:
            return str(self.folder / f"ledger{next(_COUNTER)}.db")
        import psycopg

        name = f"ledger{next(_COUNTER)}"
        address = f"{self.server}postgres"
        with psycopg.connect(address) as connection:
            connection.execute(f"CREATE SCHEMA {name}")  # type: ignore[call-overload]
        # A schema of its own is as good as a database, and made at once.
        return f"{address}?options=-csearch_path%3D{name}"

    def witness(self) -> str:
        """Return the path of the witness."""
        return str(self.folder / "witness.json")

    def make(
        self,
        cap: str = "4",
        *,
        unit: str | None = None,
        approvals: int = 0,
        witness: str | None = None,
    ) -> tuple[str, Ledger]:
        """Make a ledger with one open dataset."""
        location = self.location()
        seen = witness or self.witness()
        ledger = open_ledger(location, create=True, witness=seen)
        ledger.open_account(
            DATASET,
            cap=Fraction(cap),
            unit=unit,
            neighbours=Neighbours.ADD_REMOVE,
            approvals=approvals,
        )
        return location, ledger


def count_plan(epsilon: str = "1", *, purpose: str = "A test.") -> Plan:
    """Return the plan of one count."""
    spec = spec_text.make_spec(
        {"region": "{type: category, keys: [a, b]}"},
        {"total": {"count": "rows", "by": "[region]", "spend": "{share: 1}"}},
        epsilon=epsilon,
        purpose=purpose,
    )
    return plan(spec)


def gaussian_plan(
    epsilon: str = "1", delta: str = "1e-6", *, rho: str = "1/1000"
) -> Plan:
    """Return the plan of one count with Gaussian noise."""
    spec = spec_text.make_spec(
        {"region": "{type: category, keys: [a, b]}"},
        {"total": {"count": "rows", "by": "[region]", "spend": f"{{rho: {rho}}}"}},
        epsilon=epsilon,
        delta=delta,
        mechanism="gaussian",
    )
    return plan(spec)


@contextmanager
def tampering(location: str) -> Iterator[Any]:
    """Open the tables of a ledger as somebody who takes away the triggers."""
    if location.startswith("postgresql://"):
        import psycopg

        with psycopg.connect(location) as connection:
            connection.execute("ALTER TABLE dpql_entry DISABLE TRIGGER USER")
            connection.execute("ALTER TABLE dpql_kept DISABLE TRIGGER USER")
            yield connection.execute
            connection.execute("ALTER TABLE dpql_entry ENABLE TRIGGER USER")
            connection.execute("ALTER TABLE dpql_kept ENABLE TRIGGER USER")
        return
    with closing(sqlite3.connect(location, isolation_level=None)) as file:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = file.execute(query).fetchall()
        for name, _ in triggers:
            file.execute(f"DROP TRIGGER {name}")
        yield lambda text: file.execute(text.replace("dpql_", ""))
        for _, statement in triggers:
            file.execute(statement)


def snapshot(location: str) -> Any:
    """Return a backup of a ledger: the file with its witness, or the rows."""
    if location.startswith("postgresql://"):
        import psycopg

        with psycopg.connect(location) as connection:
            return [
                connection.execute(f"SELECT * FROM {table}").fetchall()  # type: ignore[call-overload]
                for table in _TABLES
            ]
    files = Path(location).parent.glob(f"{Path(location).name}*")
    return {path: path.read_bytes() for path in files}


def restore(location: str, backup: Any) -> None:
    """Restore a backup of the ledger, as an owner without malice would."""
    if not location.startswith("postgresql://"):
        for path in Path(location).parent.glob(f"{Path(location).name}*"):
            path.unlink()
        for path, data in backup.items():
            path.write_bytes(data)
        return
    with tampering(location) as execute:
        for table, rows in zip(_TABLES, backup, strict=True):
            execute(f"DELETE FROM {table}")
            for row in rows:
                marks = ", ".join(["%s"] * len(row))
                execute(f"INSERT INTO {table} VALUES ({marks})", row)
