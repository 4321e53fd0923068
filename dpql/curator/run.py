"""Run a plan on rows: exact sums behind a wall, then noise for every declared cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

from dpql.curator.compilation import (
    Keys,
    compile_program,
    compile_searches,
    summed_steps,
)
from dpql.curator.engines import (
    NOTHING,
    Engine,
    Tick,
    engine_for,
    engine_named,
    require_engine,
)
from dpql.curator.entropy import SystemBits
from dpql.curator.noise import chosen, found, perturbed
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

    __slots__ = ("found", "salt", "shown", "source", "sums")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.found: Any = None
        self.salt: Any = None
        self.shown: Any = None
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

    Where keys are found, the rows are read twice: for the keys, and, when those that
    are shown are drawn and so no secret any more, for all that is grouped by them. The
    caller forgets once more: an interrupt may fall into the first time.
    """
    searches = compile_searches(plan)

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
        kept.shown = found(plan, kept.found.counts, coins)

    def aggregate() -> None:
        program = compile_program(plan, _keys(plan, kept.shown))
        kept.sums = (
            module.sums(program, kept.source, salt=kept.salt, tick=progress)
            if program.tallies
            else NOTHING
        )

    try:
        for task in (salt, open_source, search if searches else aggregate):
            behind_wall(task)
        _require_rows(plan, kept)
        if before_draw is not None:
            before_draw()
        if searches:
            behind_wall(show)
            behind_wall(aggregate)
            _require_rows(plan, kept)
        return behind_wall(lambda: _drawn(plan, kept, coins))
    finally:
        kept.clear()


def _shown_keys(plan: Plan, shown: Mapping[str, Result]) -> dict[str, ShownKeys]:
    data = plan.spec.data
    return {name: ShownKeys.of(result, data) for name, result in shown.items()}


def _keys(plan: Plan, shown: Mapping[str, Result] | None) -> Keys | None:
    if shown is None:
        return None
    return {name: one.keys for name, one in _shown_keys(plan, shown).items()}


def _drawn(plan: Plan, kept: Kept, coins: Bits) -> tuple[Result, ...]:
    shown = kept.shown or {}
    keys = _shown_keys(plan, shown)
    summed = [step.name for step in summed_steps(plan, _keys(plan, kept.shown))]
    pairs = zip(kept.sums.moments, kept.sums.counts, strict=True)
    by_name = dict(zip(summed, pairs, strict=True))
    data, results = plan.spec.data, []
    for step in plan.steps:
        groups = None if step.found_by is None else keys[step.found_by]
        if step.search is not None:
            results.append(shown[step.name])
        elif groups is not None and not groups.groups:
            results.append(Result(step=step, values=()))
        else:
            moments, counts = by_name[kept_by(plan, step).name]
            results.append(
                perturbed(step, moments, data, coins, groups)
                if counts is None
                else chosen(step, counts, data, coins, groups)
            )
    return agreed(results)


def _require_rows(plan: Plan, kept: Kept) -> None:
    """Refuse another number of rows than the public one, where one is public."""
    if not _has_declared_rows(plan, kept):
        raise _wrong_rows(plan)


def _has_declared_rows(plan: Plan, kept: Kept) -> bool:
    """Tell whether there are as many rows as declared, whenever they were read.

    Where they are read twice, somebody may change them in between.
    """
    if plan.spec.privacy.neighbours is not Neighbours.REPLACE_ONE:
        return True
    read = (x for x in (kept.found, kept.sums) if x is not None and x is not NOTHING)
    return all(one.rows == plan.spec.data.rows.count for one in read)


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
