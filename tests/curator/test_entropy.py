"""Coins: fresh in every process and thread, masked to the bits asked for."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from dpql.curator import entropy
from dpql.curator.entropy import SystemBits
from dpql.mechanisms import Query, geometric
from dpql.mechanisms.bits import Bits

QUERY = Query(sensitivity=Fraction(1), lower=Fraction(0), upper=Fraction(10))
NOISE = geometric.calibrate(QUERY, Fraction(1), gamma=Fraction(1))


class SharedBuffer:
    """A planted fault: coins fetched ahead and kept; a forked worker inherits them."""

    def __init__(self) -> None:
        self._buffer = os.urandom(1 << 16)
        self._position = 0

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return the next bytes of the buffer."""
        size = -(-(stop - start) // 8) * len(lanes)
        cut = bytearray(self._buffer[self._position : self._position + size])
        cut[0] &= 0xFF >> (-(stop - start) % 8)
        self._position += size
        return bytes(cut)


def _draws(bits: Bits) -> list[int]:
    return [geometric.perturb(NOISE, 0, bits) for _ in range(64)]


def _send(bits: Bits, pipe: int) -> None:
    os.write(pipe, ",".join(map(str, _draws(bits))).encode())


def _forked(bits: Bits, workers: int) -> list[str]:
    context = multiprocessing.get_context("fork")
    seen = []
    for _ in range(workers):
        reader, writer = os.pipe()
        worker = context.Process(target=_send, args=(bits, writer))
        worker.start()
        worker.join()
        os.close(writer)
        with os.fdopen(reader) as file:
            seen.append(file.read())
    return seen


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("make", "shared"), [(SystemBits, False), (SharedBuffer, True)]
)
def test_forked_children_share_no_draws(
    make: Callable[[], Bits], *, shared: bool
) -> None:
    """Children of one parent draw apart; a buffer inherited from it is noticed.

    64 draws on a lattice of 2**32 steps agree by chance below once in 2**1000.
    """
    seen = _forked(make(), 6)
    assert all(seen)
    assert shared == (len(set(seen)) < len(seen))


def test_threads_share_no_draws() -> None:
    """Threads that hold one source draw apart."""
    bits = SystemBits()
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: tuple(_draws(bits)), range(16)))
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("width", [1, 7, 8, 9, 78, 184])
def test_width_of_what_is_read(width: int) -> None:
    """Each lane takes the fewest bytes, and no bit beyond those asked for is set."""
    size = -(-width // 8)
    raw = SystemBits().read(range(400), 0, width)
    assert 400 * size == len(raw)
    numbers = [
        int.from_bytes(raw[i : i + size], "big") for i in range(0, len(raw), size)
    ]
    assert all(number < 1 << width for number in numbers)
    together = 0
    for number in numbers:
        together |= number
    assert (1 << width) - 1 == together


def test_one_request_per_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw asks the kernel once, for a number of bytes known from the plan.

    Two of them are the lots of the pause.
    """
    asked = []
    fetch = os.urandom

    def counted(size: int) -> bytes:
        asked.append(size)
        return fetch(size)

    monkeypatch.setattr(os, "urandom", counted)
    _draws(SystemBits())
    assert [-(-geometric.width(NOISE) // 8) + 2] * 64 == asked


def test_a_failing_kernel_is_no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the generator stops the draw."""

    def refuse(size: int) -> bytes:
        raise OSError(size)

    monkeypatch.setattr(os, "urandom", refuse)
    with pytest.raises(OSError, match="16"):
        geometric.perturb(NOISE, 0, SystemBits())


def test_pauses_are_of_all_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bit of the pause is one of the lanes, and no pause is without end."""
    paused = []

    def counted(count: int) -> list[None]:
        paused.append(count)
        return []

    monkeypatch.setattr(entropy, "range", counted, raising=False)
    monkeypatch.setattr(os, "urandom", lambda size: b"\xa5" * (size - 2) + b"\xff\x03")
    assert b"\xa5" * 12 == SystemBits().read((1, 2, 3), 0, 32)
    assert [127 + 3] == paused
