"""Work done in threads before it is asked for, a bounded amount of it, in any order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from queue import SimpleQueue
from typing import Generic, TypeVar
from weakref import finalize

T = TypeVar("T")

Task = Callable[[], Iterable[T]]

_PATIENCE = 5
"""Seconds to wait for a thread; only a lazy frame may compute longer for a batch."""


class _End:
    """The last thing a thread gives: what made it stop, if anything did."""

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure


class _Taker:
    """Whom the work is for: gone when nobody can ask for it any more."""


class _Work(Generic[T]):
    """Tasks that several threads take from, handing over what they are asked for."""

    def __init__(self, tasks: Iterable[Task[T]]) -> None:
        self.stopped = threading.Event()
        self._asked = threading.Semaphore(0)
        self._given: SimpleQueue[T | _End] = SimpleQueue()
        self._left = iter(tasks)
        self._lock = threading.Lock()

    def run(self) -> None:
        """Do one task after the other; end with an end, whatever happens."""
        failure = None
        try:
            while (task := self._next()) is not None:
                for thing in task():
                    self._give(thing)
                    if self.stopped.is_set():
                        break
        except BaseException as error:  # noqa: BLE001  it is raised by the taker
            failure = error
        self._give(_End(failure))

    def ask(self) -> T | _End:
        """Return what a thread has ready, or the first thing that one gets ready."""
        self._asked.release()
        return self._given.get()

    def abandon(self, threads: int) -> None:
        """Let all threads end by themselves: nobody will ask any more."""
        self.stopped.set()
        self._asked.release(2 * threads)

    def _give(self, thing: T | _End) -> None:
        self._asked.acquire()
        self._given.put(thing)

    def _next(self) -> Task[T] | None:
        with self._lock:
            return None if self.stopped.is_set() else next(self._left, None)


def prefetched(tasks: Iterable[Task[T]], threads: int) -> Generator[T]:
    """Yield what the tasks give; each thread works at one task at a time.

    A thread that has a thing ready waits until it is asked for, so each thread holds
    one thing, and the taker another. Whatever a task raises is raised here. No thread
    is left behind, not even if the taker has had enough; but one whose task does not
    end for seconds ends with that task.
    """
    work, taker = _Work(tasks), _Taker()
    # An interrupt may come while threads are ended, too.
    finalize(taker, work.abandon, threads).atexit = False
    started = [threading.Thread(target=work.run, daemon=True) for _ in range(threads)]
    try:
        for thread in started:
            thread.start()
        working = threads
        while working:
            thing = work.ask()
            if not isinstance(thing, _End):
                yield thing
                del thing  # so that its memory can be used again
                continue
            working -= 1
            if thing.failure is not None:
                raise thing.failure
    finally:
        work.abandon(threads)
        for thread in started:
            if thread.ident is not None:
                thread.join(_PATIENCE)
