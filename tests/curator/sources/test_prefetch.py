"""Prefetching threads lose nothing, keep nothing, and leave nothing behind."""

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
from spec_text import spec_text
from tables import FILES, WHOLE, declare

from dpql.curator.sources import open_source, parquet, prefetch
from dpql.curator.sources.prefetch import prefetched

HANGS = 900
"""Seconds after which what should end by itself is taken to hang, on any machine."""


class Failure(BaseException):
    """Something that no ``except Exception`` would catch."""


@given(sizes=st.lists(st.integers(0, 5), max_size=12), threads=st.integers(1, 4))
@settings(deadline=None)
def test_everything_is_given_once(sizes: list[int], threads: int) -> None:
    """All things of all tasks come, whatever the order."""
    things = [[(task, n) for n in range(size)] for task, size in enumerate(sizes)]
    found = prefetched((lambda some=some: some for some in things), threads)
    assert Counter(thing for some in things for thing in some) == Counter(found)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("where", ["task", "tasks"])
def test_a_failure_is_raised_where_things_are_taken(threads: int, where: str) -> None:
    """Whatever a task raises, or the making of tasks, comes out; all threads end."""
    before = _threads()

    def failing() -> Iterator[int]:
        yield 1
        raise Failure

    def tasks() -> Iterator[object]:
        yield lambda: [0]
        if where == "tasks":
            raise Failure
        yield failing
        while True:
            yield lambda: [2]

    with pytest.raises(Failure):
        list(prefetched(tasks(), threads))  # type: ignore[arg-type]
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

    found = prefetched(tasks(), threads)  # type: ignore[arg-type]
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

    class Work(prefetch._Work[int]):
        """Work that is stopped by such an event."""

        def __init__(self, tasks: Any) -> None:
            super().__init__(tasks)
            self.stopped = Interrupted()

    def endless() -> Iterator[int]:
        while True:
            yield 1

    monkeypatch.setattr(prefetch, "_Work", Work)
    found = prefetched([endless] * 9, 3)
    assert next(found) == 1
    with pytest.raises(Failure):
        found.close()  # type: ignore[attr-defined]
    del found
    _ended(before)


INTERRUPTED = """
import os, signal, sys, threading, time
from dpql.curator import run
from dpql.curator.sources import parquet, prefetch, source
from dpql.language import load_text
from dpql.planner import plan

parquet._READ_ROWS = source.BATCH_ROWS = 1 << 12
made = plan(load_text(sys.argv[1], form="yaml"))
left = {}
due = threading.Semaphore(0)

def killing():
    # A thread of its own: whoever reads or asks goes on meanwhile.
    while due.acquire():
        os.kill(os.getpid(), signal.SIGINT)

def passed(point):
    # Let an interrupt come when somebody has come by so many times.
    left[point] = left.get(point, 0) - 1
    if left[point] == 0:
        due.release()

killer = threading.Thread(target=killing, daemon=True)
killer.start()

def watched(point, function):
    def through(*arguments, **options):
        passed(point)
        return function(*arguments, **options)
    return through

parquet.FrameCanonicaliser.__call__ = watched(
    "canonical", parquet.FrameCanonicaliser.__call__
)
prefetch._Work.ask = watched("asked", prefetch._Work.ask)

def interrupted(point, times):
    left[point] = times
    while True:
        run(made, {"rows": sys.argv[2]}, progress=lambda: passed("read"))

ends = set()
for point in ("canonical", "asked", "read"):
    for times in range(1, 25, 2):
        try:
            try:
                interrupted(point, times)
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

    It comes when cells become canonical, when a batch is asked for, and when one is
    read, so no clock decides. A thread that is left behind would hang the test.
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
    monkeypatch.setattr(parquet, "_READ_ROWS", 1)
    printed: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    abandon = prefetch._Work.abandon
    raised: list[Any] = [KeyboardInterrupt]

    def interrupted(work: Any, threads: int) -> None:
        abandon(work, threads)
        if raised:
            raise raised.pop()

    def failing(_: pl.DataFrame) -> None:
        raise Failure

    monkeypatch.setattr(prefetch._Work, "abandon", interrupted)
    source = open_source(path, declare(x=WHOLE))
    with pytest.raises(KeyboardInterrupt):
        list(source.batches(["x"], failing))
    assert [] == printed


@pytest.mark.parametrize("suffix", FILES)
def test_reading_that_is_stopped_leaves_no_thread(suffix: str, tmp_path: Path) -> None:
    """Whoever has had enough of many files ends those who read ahead."""
    for number in range(9):
        frame = pl.DataFrame({"x": range(99)})
        FILES[suffix](frame, tmp_path / f"{number}.{suffix}")
    before = _threads()
    batches = open_source(tmp_path, declare(x=WHOLE)).batches(["x"], len)
    assert 99 == next(batches)
    batches.close()
    _ended(before)


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
        next(prefetched([endless] * 9, 3))
    _ended(before)


def _threads() -> set[threading.Thread]:
    """Return the threads of Python; those of engines come and go as they like."""
    foreign = threading._DummyThread  # type: ignore[attr-defined]
    return {one for one in threading.enumerate() if not isinstance(one, foreign)}


def _ended(before: set[threading.Thread]) -> None:
    for thread in _threads() - before:
        thread.join(HANGS)
    assert _threads() <= before
