"""Run a plan on rows: exact sums behind a wall, then noise for every declared cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

from dpql.curator.engines import Engine, Tick, engine_for, engine_named, require_engine
from dpql.curator.entropy import SystemBits
from dpql.curator.noise import chosen, found, perturbed
from dpql.curator.program import compile_program, compile_searches, summed_steps
from dpql.curator.wall import behind_wall
from dpql.errors import RunFault
from dpql.forks import note_use, refuse_forked
from dpql.mechanisms.bits import ONE, Bits
from dpql.model.plan import Plan
from dpql.model.release import Rehearsal, Release, Result, ShownKeys
from dpql.model.spec import Neighbours
from dpql.model.step_text import kept_by
from dpql.statistics.agreement import agreed

_SALT_BITS = 256


@overload
def run(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    bits: SystemBits | None = ...,
    engine: str | None = ...,
    progress: Tick | None = ...,
    before_draw: Callable[[], None] | None = ...,
) -> Release: ...
@overload
def run(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    bits: Bits,
    engine: str | None = ...,
    progress: Tick | None = ...,
    before_draw: Callable[[], None] | None = ...,
) -> Release | Rehearsal: ...
def run(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    bits: Bits | None = None,
    engine: str | None = None,
    progress: Tick | None = None,
    before_draw: Callable[[], None] | None = None,
) -> Release | Rehearsal:
    """Execute the plan once on the data, and return what may be published.

    Coins other than the operating system's make a `Rehearsal`, which nobody can sign.

    Args:
        plan: decided and audited before.
        frames: the rows for the plan's source: a path, glob or URL, a polars frame, or
            any object with the Arrow C stream interface.
        bits: where coins come from.
        engine: what aggregates the rows, a name of `dpql.curator.engines.ENGINES`;
            None is the one that follows from the data.
        progress: called now and then while rows are read, from any thread; it learns
            nothing of the data.
        before_draw: called once, after the rows are aggregated and before the first
            noise is drawn; what it raises ends the run without a draw.

    Raises:
        PlanFault: the plan is of an older format (DPQL404).
        RunFault: the data do not fit the plan, or this process cannot run (5xx); no
            message quotes the data.
    """
    # What a plan of another format means is not what the engines do.
    plan.require_current()
    refuse_forked()
    coins = SystemBits() if bits is None else bits
    require_engine(engine, plan)
    frame = _frame(plan, frames)
    name = engine or engine_for(frame)
    note_use()
    kept = Kept()
    try:
        results = _results(
            plan,
            frame,
            kept,
            module=_engine(name),
            coins=coins,
            progress=progress,
            before_draw=before_draw,
        )
    finally:
        kept.clear()
    kind = Release if type(coins) is SystemBits else Rehearsal
    return kind(
        plan=plan,
        results=results,
        coins=getattr(coins, "source", "unknown"),
        engine=name,
    )


class Kept:
    """All that is exact in a run, in one place that can be emptied.

    Whatever leaves a run, Ctrl-C too, carries the frames it passed through. They hold
    this, and nothing in it any more.
    """

    __slots__ = ("found", "salt", "source", "sums")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.found: Any = None
        self.salt: Any = None
        self.source: Any = None
        self.sums: Any = None


def _results(
    plan: Plan,
    frame: object,
    kept: Kept,
    *,
    module: Engine,
    coins: Bits,
    progress: Tick | None,
    before_draw: Callable[[], None] | None,
) -> tuple[Result, ...]:
    """Return the noisy values of all steps; forget the exact ones, come what may.

    The caller forgets them once more: an interrupt may fall into the first time.
    """
    searches = compile_searches(plan)
    keys: dict[str, ShownKeys] = {}
    shown: dict[str, Result] = {}

    def salt() -> None:
        kept.salt = coins.read(ONE, 0, _SALT_BITS)

    def open_source() -> None:
        kept.source = module.open_source(frame, plan.spec.data)

    def search() -> None:
        assert searches is not None, "the plan finds keys"
        kept.found = module.key_counts(
            searches, kept.source, salt=kept.salt, tick=progress
        )

    def show() -> None:
        assert searches is not None, "the plan finds keys"
        for one, present in zip(searches.searches, kept.found.counts, strict=True):
            result = found(plan.step(one.statistic), present, coins)
            shown[one.statistic] = result
            keys[one.statistic] = ShownKeys.of(result, plan.spec.data)

    def aggregate() -> None:
        found_keys = {name: one.keys for name, one in keys.items()}
        program = compile_program(plan, found_keys if searches else None)
        kept.sums = module.sums(program, kept.source, salt=kept.salt, tick=progress)

    def require_rows(rows: int | None) -> None:
        public = plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE
        if public and rows != plan.spec.data.rows.count:
            raise _wrong_rows(plan)
        if before_draw is not None:
            before_draw()

    try:
        for task in (salt, open_source):
            behind_wall(task)
        if searches is not None:
            # The keys that are shown are released: whatever follows may know them.
            behind_wall(search)
            require_rows(kept.found.rows)
            behind_wall(show)
        behind_wall(aggregate)
        if searches is None:
            require_rows(kept.sums.rows)
        return behind_wall(lambda: _drawn(plan, kept, coins, keys, shown))
    finally:
        kept.clear()


def _drawn(
    plan: Plan,
    kept: Kept,
    coins: Bits,
    keys: Mapping[str, ShownKeys],
    shown: Mapping[str, Result],
) -> tuple[Result, ...]:
    found_keys = {name: one.keys for name, one in keys.items()} if keys else None
    summed = [step.name for step in summed_steps(plan, found_keys)]
    pairs = zip(kept.sums.moments, kept.sums.counts, strict=True)
    by_name = dict(zip(summed, pairs, strict=True))
    data, results = plan.spec.data, []
    for step in plan.steps:
        if step.search is not None:
            results.append(shown[step.name])
            continue
        groups = None if step.found_by is None else keys[step.found_by]
        if groups is not None and not groups.groups:
            results.append(Result(step=step, values=()))
            continue
        moments, counts = by_name[kept_by(plan, step).name]
        results.append(
            perturbed(step, moments, data, coins, groups)
            if counts is None
            else chosen(step, counts, data, coins, groups)
        )
    return agreed(results)


def _engine(name: str) -> Engine:
    module = engine_named(name)
    assert module is not None, "it is in the table"
    return module


def _frame(plan: Plan, frames: Mapping[str, object]) -> object:
    source = plan.spec.data.source
    if set(frames) != {source}:
        raise RunFault.of(
            "DPQL500",
            f"the plan reads `{source}`, so exactly that name must be bound to data",
            hint=f"bind the data: --data {source}=FILE",
        )
    return frames[source]


def _wrong_rows(plan: Plan) -> RunFault:
    data = plan.spec.data
    return RunFault.of(
        "DPQL505",
        f"the data of `{data.source}` do not have exactly {data.rows.count} "
        "rows, as the spec declares",
        hint="declare the number of rows that the data have, or use `add_remove`",
    )
