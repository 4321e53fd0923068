"""Threads that work ahead lose nothing, keep nothing, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spec_text import make_spec, spec_text

from dpql.curator.engines import ahead, polars_engine, polars_excerpts
from dpql.curator.engines.ahead import gathered
from dpql.planner import plan

HANGS = 900
"""Seconds after which what should end by itself is taken to hang, on any machine."""


class Failure(BaseException):
    """Something that no ``except Exception`` would catch."""


@given(sizes=st.lists(st.integers(0, 5), max_size=12), threads=st.integers(1, 4))
@settings(deadline=None)
def test_everything_is_given_once(sizes: list[int], threads: int) -> None:
    """All things of all tasks come, whatever the order."""
    things = [[(task, n) for n in range(size)] for task, size in enumerate(sizes)]
    found = gathered((lambda some=some: some for some in things), threads)
    assert Counter(thing for some in things for thing in some) == Counter(found)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("place", ["task", "tasks"])
def test_a_failure_is_raised_where_things_are_taken(threads: int, place: str) -> None:
    """Whatever a task raises, or the making of tasks, comes out; all threads end."""
    before = _threads()

    def failing() -> Iterator[int]:
        yield 1
        raise Failure

    def tasks() -> Iterator[object]:
        yield lambda: [0]
        if place == "tasks":
            raise Failure
        yield failing
        while True:
            yield lambda: [2]

    with pytest.raises(Failure):
        list(gathered(tasks(), threads))  # type: ignore[arg-type]
    _ended(before)


@pytest.mark.parametrize("threads", [1, 3])
def test_who_stops_early_leaves_no_thread(threads: int) -> None:
    """Closing the generator ends all threads, though tasks are endless."""
    before = _threads()
    made: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            made.append(1)
            yield 1

    def tasks() -> Iterator[object]:
        while True:
            yield endless

    found = gathered(tasks(), threads)  # type: ignore[arg-type]
    assert next(found) == 1
    found.close()  # type: ignore[attr-defined]
    _ended(before)
    assert len(made) <= 1 + threads, "each thread holds one thing, the taker another"


def test_an_interrupt_while_threads_are_ended_leaves_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where ending them is cut short, they end by themselves: nobody asks any more."""
    before = _threads()

    class Interrupted(threading.Event):
        """An event that is interrupted when it is set for the first time."""

        times = 0

        def set(self) -> None:
            self.times += 1
            if self.times == 1:
                raise Failure
            super().set()

    class Work(ahead._Work[int]):
        """Work that is stopped by such an event."""

        def __init__(self, tasks: Any) -> None:
            super().__init__(tasks)
            self.stopped = Interrupted()

    def endless() -> Iterator[int]:
        while True:
            yield 1

    monkeypatch.setattr(ahead, "_Work", Work)
    found = gathered([endless] * 9, 3)
    assert next(found) == 1
    with pytest.raises(Failure):
        found.close()  # type: ignore[attr-defined]
    del found
    _ended(before)


INTERRUPTED = """
import os, signal, sys, threading, time
from dpql.curator import run
from dpql.curator.engines import ahead, polars_excerpts
from dpql.language import load_text
from dpql.planner import plan

polars_excerpts._PORTION_BYTES = 1 << 15
made = plan(load_text(sys.argv[1], form="yaml"))
left = {}
due = threading.Semaphore(0)

def killing():
    # A thread of its own: whoever reads or makes batches goes on meanwhile.
    while due.acquire():
        os.kill(os.getpid(), signal.SIGINT)

def passed(place):
    # Let an interrupt come when somebody has come by so many times.
    left[place] = left.get(place, 0) - 1
    if left[place] == 0:
        due.release()

killer = threading.Thread(target=killing, daemon=True)
killer.start()

def watched(place, function):
    def through(*arguments):
        passed(place)
        return function(*arguments)
    return through

polars_excerpts.excerpt = watched("made", polars_excerpts.excerpt)
ahead._Work.ask = watched("asked", ahead._Work.ask)

def interrupted(place, times):
    left[place] = times
    while True:
        run(made, {"rows": sys.argv[2]}, progress=lambda: passed("read"))

ends = set()
for place in ("made", "asked", "read"):
    for times in range(1, 25, 2):
        try:
            try:
                interrupted(place, times)
            except KeyboardInterrupt:
                ends.add("interrupted")
            time.sleep(0)
        except KeyboardInterrupt:
            ends.add("interrupted late")
for thread in threading.enumerate():
    if thread not in (threading.main_thread(), killer):
        thread.join()
print(sorted(ends)[0], threading.active_count() - 1)
"""


def test_an_interrupted_run_leaves_neither_threads_nor_words(tmp_path: Path) -> None:
    """Whenever the interrupt comes: polars and Python both answer it.

    It comes when a batch is made, when one is asked for, and when one is read, so no
    clock decides. A thread that is left behind for ever would hang the test.
    """
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"x": range(200_000)}).write_parquet(path, row_group_size=2_000)
    spec = spec_text(
        {"x": "{type: integer, bounds: [0, 100], nulls: drop}"},
        {"sum": {"sum": "x", "spend": "{share: 1}"}},
    )
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, spec, path],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert (0, "interrupted 1\n", "") == (done.returncode, done.stdout, done.stderr)


def test_an_interrupt_at_the_very_end_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that comes while reading is ended is raised, not printed and forgotten."""
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"x": range(20)}).write_parquet(path, row_group_size=2)
    monkeypatch.setattr(polars_excerpts, "_PORTION_BYTES", 1)
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    abandon = ahead._Work.abandon
    spoilt: list[Any] = [KeyboardInterrupt]

    def interrupted(work: Any, threads: int) -> None:
        abandon(work, threads)
        if spoilt:
            raise spoilt.pop()

    def failing(*_: Any, **__: Any) -> Any:
        raise Failure

    monkeypatch.setattr(ahead._Work, "abandon", interrupted)
    monkeypatch.setattr(pl, "collect_all", failing)
    made = plan(
        make_spec(
            {"x": "{type: integer, bounds: [0, 100], nulls: drop}"},
            {"sum": {"sum": "x", "spend": "{share: 1}"}},
        )
    )
    opened = polars_engine.open_frame(path, made.spec.data)
    with pytest.raises(KeyboardInterrupt):
        polars_engine.add_up(made, opened, salt=bytes(32), tick=None)
    assert [] == said


def test_where_a_thread_cannot_start_the_others_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine may have no thread left; those that started are not left behind."""
    before = _threads()
    start = threading.Thread.start

    def starting(thread: threading.Thread) -> None:
        if _threads() - before:
            raise Failure
        start(thread)

    def endless() -> Iterator[int]:
        while True:
            yield 1

    monkeypatch.setattr(threading.Thread, "start", starting)
    with pytest.raises(Failure):
        next(gathered([endless] * 9, 3))
    _ended(before)


def _threads() -> set[threading.Thread]:
    """Return the threads of Python; those of engines come and go as they like."""
    foreign = threading._DummyThread  # type: ignore[attr-defined]
    return {one for one in threading.enumerate() if not isinstance(one, foreign)}


def _ended(before: set[threading.Thread]) -> None:
    for thread in _threads() - before:
        thread.join(HANGS)
    assert _threads() <= before
