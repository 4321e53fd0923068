"""Interrupts that come when there is nothing left to interrupt.

CPython remembers a KeyboardInterrupt that leaves a text run by `exec`, as dataclasses
and named tuples run when they are made, and so while modules are imported. Caught or
not, a process that remembers one ends by the signal instead of its exit code. The next
text that is run to its end makes it forget.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ignored() -> Iterator[None]:
    """Let no further Ctrl-C cut short what is said about the first one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = signal.getsignal(signal.SIGINT)
    ignore()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)


def ignore() -> None:
    """Ignore Ctrl-C from now on."""
    # An interrupt that has come but was not raised yet is raised first; one signal
    # may be raised twice, by an engine and by Python.
    for _ in range(2):
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:
            continue


def forget() -> None:
    """Make Python forget an interrupt that was caught, so that an exit code counts."""
    eval("None")  # noqa: S307  the text is ours; running it is the point
