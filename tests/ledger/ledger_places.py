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


@dataclass(kw_only=True)
class Places:
    """A folder, and the address of a server where there is one."""

    folder: Path
    server: str | None = None
    made: list[str] = field(default_factory=list)

    def location(self) -> str:
        """Return the place of a ledger that is not there yet."""
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
