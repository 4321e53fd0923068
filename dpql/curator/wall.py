"""The one wall: any exception raised near rows becomes a fault that holds no data.

Errors of engines quote private cells, so nothing of them passes: neither message, nor
cause, nor context, nor the frames they passed through, where exact numbers are. What is
ours (a `RunFault` names columns and types only) is made anew, since an exception
remembers the one that was being handled when it was raised.
Variables of the environment that make an engine print (counts, paths, panics) are taken
away as long as a task runs.

An engine that panics prints its message on the standard error before anybody can catch
it. That stream belongs to the whole process, with all its threads and children, so a
library must not take it away; a program that is alone in its process should, with
`engines_muted`.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

from dpql.errors import RunFault

T = TypeVar("T")

_STDERR = 2
_TALKATIVE = ("VERBOSE", "LOG", "METRICS", "VISUALIZE", "OUTPUT", "PANIC", "BACKTRACE")
_lock = threading.Lock()
_inside: list[None] = []
_taken: dict[str, str] = {}


def behind_wall(task: Callable[[], T]) -> T:
    """Return what the task returns, or raise a fault that says nothing of the data.

    Raises:
        RunFault: ours as it is, or DPQL510 in place of anything else.
    """
    fault: BaseException
    try:
        try:
            return _quietly(task)
        except BaseException as error:  # noqa: BLE001  a panic is no Exception
            fault = _without_past(error)
    except BaseException as error:  # noqa: BLE001  Ctrl-C while another was handled
        fault = _without_past(error)
    raise fault


def _quietly(task: Callable[[], T]) -> T:
    with _silence(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task()


def _without_past(error: BaseException) -> BaseException:
    """Return what may be said of an error: no message, no frames, no other error."""
    if isinstance(error, RunFault):
        return RunFault(error.diagnostics)
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return type(error)()
    return RunFault.of(
        "DPQL510",
        "the engine failed; its message is withheld, for it may quote the data",
        hint="look at the data with the engine itself, on the owner's machine",
    )


@contextmanager
def engines_muted() -> Iterator[None]:
    """Send what engines write to the standard error nowhere; `sys.stderr` still works.

    For programs that own their process: until the end, threads and children that write
    to the descriptor itself are not heard either.
    """
    try:
        kept = os.dup(_STDERR)
    except OSError:
        yield
        return
    ours = sys.stderr
    if _descriptor(ours) == _STDERR:
        ours.flush()
        sys.stderr = os.fdopen(
            os.dup(kept), "w", encoding=ours.encoding, errors=ours.errors, buffering=1
        )
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STDERR)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)
        if sys.stderr is not ours:
            sys.stderr.close()
            sys.stderr = ours


def _descriptor(stream: TextIO | None) -> int | None:
    """Return the descriptor that a stream writes to, if it is one of the system's."""
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep engines from printing; the first to enter takes, the last restores.

    The environment is that of the process, so tasks of several threads share it.
    """
    with _lock:
        if not _inside:
            # Copied before it is taken away: an interrupt here loses nothing.
            _taken.update({name: os.environ[name] for name in _talkative()})
            for name in _taken:
                os.environ.pop(name, None)
            _reload()
        _inside.append(None)
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if not _inside:
                os.environ.update(_taken)
                _reload()
                _taken.clear()


def _talkative() -> list[str]:
    return [
        name
        for name in os.environ
        if name.startswith(("POLARS_", "RUST_"))
        and any(word in name for word in _TALKATIVE)
    ]


def _reload() -> None:
    """Make polars, if it is there, read its variables again, for it remembers them."""
    polars = sys.modules.get("polars")
    if _taken and polars is not None:
        polars.Config.load('{"environment": {}, "direct": {}}')
