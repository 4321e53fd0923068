"""What one unit changes, where keys are found: all tiny tables, all sets that may show.

The same salt, two tables that differ in one unit, and the engine that really counts.
A search must change by one unit at as many keys as its noise is for, and every further
step, whichever keys were shown, by no more than its noise hides. Some keys are shown
that nobody has, some that are not shown have rows, and cells hold what is no word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import polars as pl
import pytest
from spec_text import ID, integer, spec_text

from dpql.curator.compilation import compile_program, compile_searches, summed_steps
from dpql.curator.engines import NOTHING, polars
from dpql.curator.noise import totals
from dpql.language import load_text
from dpql.mechanisms import MECHANISMS
from dpql.mechanisms.concentrated import geometric_rho_up
from dpql.mechanisms.quantile_score import scores
from dpql.model.plan import Plan, Step
from dpql.model.spec import PrivateColumn, Spec
from dpql.planner import plan

Row = tuple[Any, ...]
Unit = tuple[Row, ...]
Key = tuple[str, ...]

SHAPES = [("add_remove", False), ("add_remove", True), ("replace_one", True)]
STATISTICS = {
    "found": {"count": "units", "by": "[kind]"},
    "rows": {"count": "rows", "by": "[kind]", "mechanism": "geometric"},
    "normal": {"count": "rows", "by": "[kind]", "mechanism": "gaussian"},
    "sum": {"sum": "x", "by": "[kind]", "mechanism": "geometric"},
    "squares": {"sum": "x", "by": "[kind]", "mechanism": "gaussian"},
    "mean": {"mean": "x", "by": "[kind]"},
    "crossed": {"count": "rows", "by": "[side, kind]", "mechanism": "geometric"},
    "distinct": {"distinct": "x", "by": "[kind]", "mechanism": "geometric"},
    "middle": {"median": "x", "by": "[kind]"},
}
UNITS: list[Unit] = [
    (("a", "l", 2),),
    (("a", "r", -2),),
    (("b", "l", 1), ("a", "l", -2)),
    (("a", "l", 2), ("a", "l", 1), ("a", "l", -2)),
    (("a", "r", -2), ("b", "r", -1), ("c", "l", -2), ("c", "l", -2)),
    (("c", "l", 2), (None, "l", 2), ("", "r", 1), ("\x01", "r", 2)),
    (),
]
SHOWN: list[tuple[Key, ...]] = [
    (),
    (("a",),),
    (("b",), ("z",)),
    (("a",), ("b",), ("c",)),
]


def private_plan(relation: str, *, others: bool, groups: int, rows: int) -> Plan:
    """Return a plan of every kind of step by keys that are found."""
    text = spec_text(
        {
            "person": ID,
            "kind": "{type: category, keys: [q]}",
            "side": "{type: category, keys: [l, r]}",
            "x": integer(-2, 2),
        },
        {name: {**one, "spend": "{share: 1}"} for name, one in STATISTICS.items()},
        rows="{exactly: 40}" if relation == "replace_one" else "{at_most: 40}",
        unit="person",
        contributes=f"{{rows: {rows}, groups: {groups}}}",
        neighbours=relation,
        epsilon="20",
        delta="1/10",
        mechanism="auto",
    )
    spec: Spec = load_text(text, form="yaml")
    columns = tuple(
        PrivateColumn(name="kind", others=others) if column.name == "kind" else column
        for column in spec.data.columns
    )
    return plan(replace(spec, data=replace(spec.data, columns=columns)))


@dataclass(frozen=True)
class Engine:
    """The exact integers of tables, each counted once."""

    made: Plan
    salt: bytes

    def source(self, units: Sequence[Unit]) -> Any:
        """Return a table; under replace_one its number of rows may be any, here."""
        rows = [(index, *row) for index, unit in enumerate(units) for row in unit]
        schema = {"person": pl.Int64, "kind": pl.String, "side": pl.String}
        frame = pl.DataFrame(rows, {**schema, "x": pl.Int64}, orient="row")
        return polars.open_source(frame, self.made.spec.data)

    def found(self, units: Sequence[Unit]) -> dict[Key, int]:
        """Return the units that each key has."""
        program = compile_searches(self.made)
        assert program is not None
        searched = polars.key_counts(
            program, self.source(units), salt=self.salt, tick=None
        )
        (one,) = searched.counts
        keys = one.keys(np.arange(len(one.counts)))
        return dict(zip(keys, one.counts.tolist(), strict=True))

    def sums(
        self, units: Sequence[Unit], shown: tuple[Key, ...]
    ) -> dict[str, list[list[int]]]:
        """Return every number that takes noise, or the rows at each candidate."""
        keys = {"found": shown}
        program = compile_program(self.made, keys)
        exact = NOTHING
        if program.tallies:
            exact = polars.sums(program, self.source(units), salt=self.salt, tick=None)
        found: dict[str, list[list[int]]] = {}
        steps = summed_steps(self.made, keys)
        for step, moments, counts in zip(
            steps, exact.moments, exact.counts, strict=True
        ):
            cells = (len(shown) + self.others) * step.cells
            if counts is not None:
                assert len(counts) == cells
                found[step.name] = [list(map(int, cell)) for cell in counts]
                continue
            found[step.name] = [
                totals(part.measure, moments, cells) for part in step.parts
            ]
            assert all(len(one) == cells for one in found[step.name])
        return found

    @property
    def others(self) -> bool:
        """Whether there is a cell of everything else."""
        return self.made.spec.data.has_others("kind")


def neighbours(
    relation: str, most: int
) -> Iterator[tuple[tuple[Unit, ...], tuple[Unit, ...]]]:
    """Yield all tables of at most so many other units, without one and with it.

    Units are told apart by their ids, which are what the lottery knows: the one that
    comes, or is replaced, is the first.
    """
    for count in range(most + 1):
        for some in combinations_with_replacement(UNITS, count):
            for one in UNITS:
                if relation == "add_remove":
                    yield ((), *some), (one, *some)
                    continue
                for other in UNITS:
                    if one != other:
                        yield (other, *some), (one, *some)


def exceeds(step: Step, one: list[list[int]], other: list[list[int]]) -> str | None:
    """Return what a step loses more than it says, if anything."""
    if step.picks:
        (pick,) = step.picks
        ranges = []
        for a, b in zip(one, other, strict=True):
            pair = [scores(np.array(x), pick.at) for x in (a, b)]
            apart = [int(x) - int(y) for x, y in zip(*pair, strict=True)]
            ranges.append(max(apart) - min(apart))
        return "cost" if sum(ranges) > pick.cost else None
    moves = [
        [abs(a - b) for a, b in zip(before, after, strict=True)]
        for before, after in zip(one, other, strict=True)
    ]
    loss = rho = Fraction(0)
    pure = True
    for part, moved in zip(step.parts, moves, strict=True):
        module: Any = MECHANISMS[part.noise.mechanism]
        noise = module.restore(dict(part.noise.parameters))
        assert noise.lattice == 1
        if part.noise.mechanism == "gaussian":
            pure = False
            rho += Fraction(sum(x * x for x in moved)) / (2 * noise.sigma2)
        else:
            theta = noise.epsilon / noise.sensitivity
            loss += theta * sum(moved)
            rho += sum((_rho(theta, x) for x in moved if x), Fraction(0))
    assert step.rho is not None
    if pure and (step.loss is None or loss > step.loss):
        return "loss"
    return "rho" if rho > step.rho else None


@cache
def _rho(theta: Fraction, distance: int) -> Fraction:
    return geometric_rho_up(theta, distance)


def violations(engine: Engine, relation: str, *, most: int = 1) -> set[str]:
    """Return every claim of the plan that some pair of tables breaks."""
    made, search = engine.made, engine.made.step("found").search
    assert search is not None
    broken: set[str] = set()
    known: dict[Any, Any] = {}

    def of(units: Sequence[Unit], shown: tuple[Key, ...] | None) -> Any:
        if (units, shown) not in known:
            known[units, shown] = (
                engine.found(units) if shown is None else engine.sums(units, shown)
            )
        return known[units, shown]

    for one, other in neighbours(relation, most):
        before, after = of(one, None), of(other, None)
        keys = before.keys() | after.keys()
        apart = [after.get(key, 0) - before.get(key, 0) for key in keys]
        changed = [x for x in apart if x]
        if any(abs(x) > 1 for x in changed) or len(changed) > search.keys:
            broken.add("keys")
        if relation == "add_remove" and min(changed, default=1) < 0:
            broken.add("keys")
        for shown in SHOWN:
            ones, others = of(one, shown), of(other, shown)
            assert ones.keys() == others.keys()
            for name in ones:
                why = exceeds(made.step(name), ones[name], others[name])
                if why is not None:
                    broken.add(f"{name}: {why}")
    return broken


def test_a_run_that_shows_no_key() -> None:
    """It ends like any other: every step by these keys has no cell."""
    made = private_plan("add_remove", others=False, groups=1, rows=1)
    engine = Engine(made, bytes(32))
    assert engine.found([()]) == {}
    assert engine.sums([UNITS[0]], ()) == {}


@pytest.mark.heavy
@pytest.mark.parametrize(("relation", "others"), SHAPES)
@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (2, 2)])
def test_no_unit_changes_more_than_the_noise_hides(
    relation: str, *, others: bool, groups: int, rows: int
) -> None:
    """Of every kind of step, with and without a cell of everything else."""
    made = private_plan(relation, others=others, groups=groups, rows=rows)
    salt = bytes([groups, rows, others]) * 8 + bytes(8)
    most = 2 if relation == "add_remove" and others and groups == 2 else 1
    assert violations(Engine(made, salt), relation, most=most) == set()


@pytest.mark.heavy
def test_bounds_that_are_too_small_are_seen() -> None:
    """A plan of one row and group, and an engine that keeps two of both."""
    small = private_plan("add_remove", others=True, groups=1, rows=1)
    large = private_plan("add_remove", others=True, groups=2, rows=2)
    steps = tuple(
        replace(step, bound=large.step(step.name).bound) for step in small.steps
    )
    broken = violations(Engine(replace(small, steps=steps), bytes(32)), "add_remove")
    assert {"keys", "rows: loss", "normal: rho", "sum: loss", "squares: rho"} <= broken
    assert {"crossed: loss", "middle: cost"} <= broken
