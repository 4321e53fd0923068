"""What leaves a run carries frames, and no frame holds a number before noise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from linecache import getline
from pathlib import Path
from types import (
    CellType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import polars as pl
import pytest
from spec_text import make_spec

import dpql.mechanisms
from dpql.curator import noise, run, wall
from dpql.curator.engines import Sums, polars
from dpql.errors import LedgerFault, RunFault
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.testing import SeededBits

running = import_module("dpql.curator.run")

ROWS = 104_729
SECRET_SUM = ROWS * 40
SALT = bytes(range(100, 132))
TABLE = pl.DataFrame({"age": [40] * ROWS})
LEDGER_FAULT = LedgerFault.of("DPQL700", "refused")


def _plan(**options: Any) -> Plan:
    return plan(
        make_spec(
            {"age": "{type: integer, bounds: [0, 100], nulls: {as: 1}}"},
            {"total": {"sum": "age", "spend": "{share: 1}"}},
            **{"rows": "{at_most: 1000000}", **options},
        )
    )


class Planted(SeededBits):
    """Coins with a known salt that raise when noise is drawn."""

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__(1)
        self._error = error

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return the salt, then raise."""
        if stop == 8 * len(SALT):
            return SALT
        if self._error is not None:
            raise self._error
        return super().read(lanes, start, stop)


def _tracebacks(error: BaseException | None) -> Iterator[FrameType]:
    """Yield the frames below this test of an error and of what it remembers."""
    while error is not None:
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename != __file__:
                yield step.tb_frame
            step = step.tb_next
        error = error.__cause__ or error.__context__


def _inside(found: Any) -> list[Any]:
    """Return what an object holds and a reader of the traceback could reach."""
    match found:
        case dict():
            held = [*found.keys(), *found.values()]
        case list() | tuple() | set() | frozenset():
            held = list(found)
        case FunctionType():
            held = list(found.__closure__ or ())
        case MethodType():
            held = [found.__self__]
        case CellType():
            held = [found.cell_contents]
        case GeneratorType():
            held = [found.gi_frame]
        case FrameType():
            held = list(found.f_locals.values())
        case _:
            slots = [name for kind in type(found).__mro__ for name in _slots(kind)]
            held = [getattr(found, name, None) for name in slots]
            held += getattr(found, "__dict__", {}).values()
    return held


def _slots(kind: type) -> tuple[str, ...]:
    slots = getattr(kind, "__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _leaks(error: BaseException, handed_in: Sequence[object]) -> list[str]:
    """Return what exact things the frames of an error lead to."""
    apart = {id(thing) for thing in handed_in}
    todo: list[Any] = list(_tracebacks(error))
    seen: set[int] = set()
    leaks = []
    kept = []
    while todo:
        thing = todo.pop()
        if id(thing) in seen or id(thing) in apart:
            continue
        seen.add(id(thing))
        kept.append(thing)
        if isinstance(thing, ModuleType | type):
            continue
        if isinstance(thing, Sums | pl.DataFrame | pl.LazyFrame | pl.Series):
            leaks.append(type(thing).__name__)
        elif type(thing) in (bytes, int) and thing in (SALT, ROWS, SECRET_SUM):
            leaks.append(repr(thing))
        else:
            todo += _inside(thing)
    return leaks


def _left(
    expected: type[BaseException],
    made: Plan,
    bits: SeededBits,
    before_draw: Callable[[], None] | None = None,
) -> BaseException:
    frames = {"rows": TABLE}
    with pytest.raises(expected) as caught:
        run(made, frames, bits=bits, before_draw=before_draw)
    error = caught.value
    assert [] == _leaks(error, [TABLE, frames, made])
    return error


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (SystemExit(3), SystemExit),
        (RuntimeError("x"), RunFault),
        (OSError("no entropy"), RunFault),
    ],
)
def test_an_interrupted_draw(
    raised: BaseException, expected: type[BaseException]
) -> None:
    """Ctrl-C while noise is drawn leaves neither sums nor salt behind."""
    _left(expected, _plan(), Planted(raised))


@pytest.mark.parametrize(
    ("raised", "expected"),
    [(KeyboardInterrupt(), KeyboardInterrupt), (RuntimeError("x"), RunFault)],
)
@pytest.mark.parametrize("function", ["open_source", "sums"])
def test_an_interrupted_engine(
    function: str,
    raised: BaseException,
    expected: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C while rows are opened or summed leaves nothing of them behind."""
    honest = getattr(polars, function)

    def interrupted(*arguments: Any, **named: Any) -> Any:
        done = honest(*arguments, **named)
        assert done is not None
        raise raised

    monkeypatch.setattr(polars, function, interrupted)
    _left(expected, _plan(), Planted())


@pytest.mark.parametrize(
    "raised", [KeyboardInterrupt(), SystemExit(), RuntimeError("x"), LEDGER_FAULT]
)
def test_a_refusal_before_the_draw(raised: BaseException) -> None:
    """What the ledger raises comes out as it is, and leads to nothing exact."""

    def refuse() -> None:
        raise raised

    assert raised is _left(type(raised), _plan(), Planted(), refuse)


def test_a_wrong_number_of_rows() -> None:
    """DPQL505 leads to nothing exact."""
    made = _plan(rows="{exactly: 7}", neighbours="replace_one")
    error = _left(RunFault, made, Planted())
    assert isinstance(error, RunFault)
    assert "DPQL505" == error.diagnostics[0].code


def _sums(*_: Any, **__: Any) -> Sums:
    return Sums(rows=ROWS, moments=({"n": [ROWS], "u": [SECRET_SUM]},), counts=(None,))


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an engine in place that knows its sums."""
    quick = SimpleNamespace(open_source=lambda *_: pl.DataFrame(), sums=_sums)
    monkeypatch.setattr(running, "engine_named", lambda _: quick)


def _interrupted_at(line: int, task: Callable[[], object]) -> int:
    """Raise KeyboardInterrupt at a line of the curator; return the lines passed.

    A line with `with` is passed without: at its end Python handles no signal, and what
    a tracer raises there it takes for part of the error that is being handled.
    """
    watched = (
        running.__file__,
        wall.__file__,
        noise.__file__,
        str(Path(dpql.mechanisms.__file__).parent),
    )
    passed = 0

    def local(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal passed
        line_here = getline(frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and not line_here.lstrip().startswith("with "):
            passed += 1
            if passed == line:
                raise KeyboardInterrupt
        return local

    def every(frame: FrameType, _event: str, _argument: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(watched) else None

    before = sys.gettrace()
    sys.settrace(every)
    try:
        task()
    finally:
        sys.settrace(before)
    return passed


def _tidy() -> None:
    """Put right what an interrupt between two lines of `wall` leaves undone."""
    wall._inside.clear()


@pytest.mark.heavy
@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("fails", [False, True])
def test_an_interrupt_at_any_line(*, fails: bool) -> None:
    """Wherever in a run Ctrl-C falls, its frames hold nothing exact.

    Also where it falls into the handling of another error.
    """
    made = _plan()
    frames = {"rows": TABLE}
    error = RuntimeError("x") if fails else None

    def once() -> None:
        try:
            run(made, frames, bits=Planted(error), before_draw=lambda: None)
        except RunFault:
            assert fails

    once()  # tables of logarithms are made once
    lines = _interrupted_at(0, once)
    assert lines > 100
    for line in range(1, lines + 1):
        with pytest.raises(KeyboardInterrupt) as caught:
            _interrupted_at(line, once)
        _tidy()
        assert [] == _leaks(caught.value, [TABLE, frames, made]), line


def _task(sums: Sums) -> Callable[[], Sums]:
    return lambda: sums


def test_leaks_are_seen() -> None:
    """Sums in a local variable, a closure, an object or a context are found."""

    def local() -> None:
        sums = _sums()
        raise KeyboardInterrupt(len(sums.moments))

    def closed() -> None:
        task = _task(_sums())
        raise KeyboardInterrupt(task)

    def held() -> None:
        thing = SimpleNamespace(salt=[SALT])
        raise KeyboardInterrupt(thing)

    def chained() -> None:
        try:
            local()
        except KeyboardInterrupt:
            raise RuntimeError from None

    for leaky in (local, closed, held, chained):
        moved = leaky.__code__.replace(co_filename="elsewhere")
        if leaky is not chained:
            leaky.__code__ = moved
        with pytest.raises((KeyboardInterrupt, RuntimeError)) as caught:
            leaky()
        assert 1 <= len(_leaks(caught.value, []))
