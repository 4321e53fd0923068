"""Work done ahead by threads, a bounded amount of it, in whatever order it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Queue
from typing import Generic, TypeVar

T = TypeVar("T")

Task = Callable[[], Iterable[T]]


class _End:
    """The last thing a thread gives: what made it stop, if anything did."""

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure


class _Work(Generic[T]):
    """Tasks that several threads take from, and what is ready of them."""

    def __init__(self, tasks: Iterable[Task[T]], threads: int) -> None:
        self.ready: Queue[T | _End] = Queue(threads)
        self.stopped = threading.Event()
        self._left = iter(tasks)
        self._lock = threading.Lock()

    def run(self) -> None:
        """Do one task after the other; end with an end, whatever happens."""
        failure = None
        try:
            while (task := self._next()) is not None:
                for thing in task():
                    self.ready.put(thing)
                    if self.stopped.is_set():
                        break
        except BaseException as error:  # noqa: BLE001  it is raised by the taker
            failure = error
        self.ready.put(_End(failure))

    def _next(self) -> Task[T] | None:
        with self._lock:
            return None if self.stopped.is_set() else next(self._left, None)


def gathered(tasks: Iterable[Task[T]], threads: int) -> Iterator[T]:
    """Yield what the tasks give; each thread works at one task at a time.

    At most as many things wait to be taken as there are threads. Whatever a task raises
    is raised here. No thread is left behind, not even if the taker has had enough.
    """
    work = _Work(tasks, threads)
    working = 0
    try:
        for _ in range(threads):
            threading.Thread(target=work.run, daemon=True).start()
            working += 1
        while working:
            thing = work.ready.get()
            if not isinstance(thing, _End):
                yield thing
                continue
            working -= 1
            if thing.failure is not None:
                raise thing.failure
    finally:
        work.stopped.set()
        while working:
            working -= isinstance(work.ready.get(), _End)
