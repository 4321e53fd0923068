"""Memory of arrays is kept from one to the next."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import resource
import numpy as np
from dpql.curator.engines.memory import keep_memory
if {keeps}:
    keep_memory()
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    one, two = np.ones(1 << 17), np.ones(1 << 17)
    del one, two
before = faults()
for _ in range(50):
    one, two = np.ones(1 << 17), np.ones(1 << 17)
    del one, two
print(faults() - before)
"""


def faults(*, keeps: bool) -> int:
    """Return how many pages a process asked for, again and again."""
    code = CODE.format(keeps=keeps)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is told how to behave")
def test_arrays_take_the_memory_of_earlier_ones() -> None:
    """Fewer pages are asked for than without, where the system counts them."""
    without = faults(keeps=False)
    if without < 50:
        pytest.skip("the allocator keeps memory by itself, or faults are not counted")
    assert faults(keeps=True) < without // 10
