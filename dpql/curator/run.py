"""Run a plan on rows: exact sums behind a wall, then noise for every declared cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import overload

from dpql.curator.engines import ENGINES, Engine, Sums, Tick, engine_named
from dpql.curator.entropy import SystemBits
from dpql.curator.noise import perturbed
from dpql.curator.wall import behind_wall
from dpql.errors import RunFault
from dpql.mechanisms.bits import ONE, Bits
from dpql.model.plan import Plan
from dpql.model.release import Rehearsal, Release, Result
from dpql.model.spec import Neighbours

_SALT_BITS = 256


@overload
def run(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    bits: SystemBits | None = ...,
    engine: str = ...,
    progress: Tick | None = ...,
    before_draw: Callable[[], None] | None = ...,
) -> Release: ...
@overload
def run(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    bits: Bits,
    engine: str = ...,
    progress: Tick | None = ...,
    before_draw: Callable[[], None] | None = ...,
) -> Release | Rehearsal: ...
def run(
    plan: Plan,
    frames: Mapping[str, object],
    *,
    bits: Bits | None = None,
    engine: str = "polars",
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
        engine: what adds up the rows, a name of `dpql.curator.engines.ENGINES`.
        progress: called now and then while rows are read, from any thread; it learns
            nothing of the data.
        before_draw: called once, after the rows are added up and before the first
            noise is drawn; what it raises ends the run without a draw.

    Raises:
        PlanFault: the plan is of an older format (DPQL404).
        RunFault: the data do not fit the plan (5xx); no message quotes the data.
    """
    # What a plan of another format means is not what the engines do.
    plan.require_current()
    coins = SystemBits() if bits is None else bits
    module = _engine(engine)
    frame = _frame(plan, frames)
    salt = behind_wall(lambda: coins.read(ONE, 0, _SALT_BITS))
    opened = behind_wall(lambda: module.open_frame(frame, plan.spec.data))
    sums = behind_wall(
        lambda: module.add_up(plan, opened, salt=salt, tick=progress),
    )
    fits = _has_declared_rows(plan, sums)
    try:
        if not fits:
            raise _wrong_rows(plan)  # noqa: TRY301  the frame is cleared for both
        if before_draw is not None:
            before_draw()
    except BaseException:
        # What leaves here carries this frame: nothing exact may stay in it.
        del sums, opened, salt
        raise
    results = behind_wall(lambda: _results(plan, sums, coins))
    kind = Release if type(coins) is SystemBits else Rehearsal
    return kind(
        plan=plan,
        results=results,
        coins=getattr(coins, "source", "unknown"),
        engine=engine,
    )


def _results(plan: Plan, sums: Sums, coins: Bits) -> tuple[Result, ...]:
    return tuple(
        perturbed(step, moments, plan.spec.data, coins)
        for step, moments in zip(plan.steps, sums.moments, strict=True)
    )


def _engine(name: str) -> Engine:
    module = engine_named(name)
    if module is None:
        raise RunFault.of(
            "DPQL506",
            f"no engine is called `{name}`",
            hint=f"choose from {', '.join(ENGINES)}",
        )
    return module


def _frame(plan: Plan, frames: Mapping[str, object]) -> object:
    source = plan.spec.data.source
    if set(frames) != {source}:
        raise RunFault.of(
            "DPQL500",
            f"the plan reads `{source}`, and that must be the one name bound to data",
            hint=f"bind it: --data {source}=FILE",
        )
    return frames[source]


def _has_declared_rows(plan: Plan, sums: Sums) -> bool:
    """Tell whether the number of rows is the public one, where one is public."""
    public = plan.spec.privacy.neighbours is Neighbours.REPLACE_ONE
    return not public or sums.rows == plan.spec.data.rows.count


def _wrong_rows(plan: Plan) -> RunFault:
    data = plan.spec.data
    return RunFault.of(
        "DPQL505",
        f"the data of `{data.source}` do not have exactly {data.rows.count} "
        "rows, as the spec declares",
        hint="declare the number of rows that the data have, or use `add_remove`",
    )
