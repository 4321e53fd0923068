"""Engines keep threads, and a fork leaves them behind: which children cannot run.

A forked child has the memory of its parent and none of its threads. Where polars had
started its own, it waits for them in the child for ever, on whatever it is asked. So it
is noted at every fork whether they run; by their names, since also polars used outside
of dpql starts them, and not by an import, since that alone does no harm.

It is loaded with dpql itself, before anybody can fork, and so it imports next to
nothing.
"""

from __future__ import annotations

import contextlib
import os

_POOL = b"polars-"


class _Threads:
    """Whether the engine's threads were started here, and whether a fork lost them."""

    started = False
    lost = False


def refuse_forked() -> None:
    """Refuse a process that a fork left without the threads of the engine.

    Raises:
        RunFault: a run would wait for ever (DPQL508).
    """
    from dpql.errors import RunFault

    if _Threads.lost:
        raise RunFault.of(
            "DPQL508",
            "this process was forked from one that had used polars, and polars does "
            "not work in it",
            hint="start processes by `spawn` or `forkserver`, or fork before polars "
            "is used",
        )


def note_use() -> None:
    """Note that an engine is used here, for systems that do not name threads."""
    _Threads.started = True


def _before_fork() -> None:
    _Threads.started = _Threads.started or any(map(_of_pool, _thread_names()))


def _in_child() -> None:
    _Threads.lost = _Threads.started


def _thread_names() -> list[bytes]:
    """Return the names of the threads of this process, where the system tells them."""
    from pathlib import Path

    names = []
    for path in Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # a thread may end meanwhile
            names.append(path.read_bytes().strip())
    return names


def _of_pool(name: bytes) -> bool:
    return name.startswith(_POOL) and name.removeprefix(_POOL).isdigit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
