"""Which way a draw took: every instruction it executed, every coin it asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import dpql.mechanisms
from dpql.curator import noise
from dpql.testing import SeededBits

_WATCHED = (str(Path(dpql.mechanisms.__file__).parent), noise.__file__)


class Recorded(SeededBits):
    """Coins that remember what was asked of them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.requests: list[tuple[tuple[int, ...], int, int]] = []

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits as `SeededBits` does, and note the request."""
        self.requests.append((tuple(map(int, lanes)), start, stop))
        return super().read(lanes, start, stop)


def instructions(task: Callable[[], object]) -> tuple[int, int]:
    """Return how many instructions of the noise a task executed, and their digest.

    Every instruction counts, by function and offset, so that a branch inside a line is
    seen too. What C does within one instruction is not.
    """
    count = digest = 0

    def local(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count, digest
        if event == "opcode":
            count += 1
            digest = hash((digest, id(frame.f_code), frame.f_lasti))
        return local

    def every(frame: FrameType, _event: str, _argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_WATCHED):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return local

    before = sys.gettrace()
    sys.settrace(every)
    try:
        task()
    finally:
        sys.settrace(before)
    return count, digest
