"""Threads that work ahead lose nothing, keep nothing, and leave nothing behind."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.curator.engines.ahead import gathered


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
    before = threading.active_count()

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
    before = threading.active_count()
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


def test_where_a_thread_cannot_start_the_others_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine may have no thread left; those that started are not left behind."""
    before = threading.active_count()
    start = threading.Thread.start

    def starting(thread: threading.Thread) -> None:
        if threading.active_count() > before + 1:
            raise Failure
        start(thread)

    def endless() -> Iterator[int]:
        while True:
            yield 1

    monkeypatch.setattr(threading.Thread, "start", starting)
    with pytest.raises(Failure):
        next(gathered([endless] * 9, 3))
    _ended(before)


def _ended(before: int) -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(10)
    assert threading.active_count() <= before
