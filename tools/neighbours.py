"""Tries many pairs of tables that differ in one unit, in every format.

    python tools/neighbours.py 10000

For each pair the exact numbers keep to the change that the plan declares, both tables
run or none does, and drawing asks for the same coins. The pairs are those of
tests/curator/test_neighbours.py, which tries a few hundred.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests" / "curator" / "test_neighbours.py"


def main() -> int:
    """Try the pairs; return what pytest returns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=int, help="how many, about")
    pairs = parser.parse_args().pairs
    command = [sys.executable, "-m", "pytest", "-q", "-k", "no_unit_shows", str(TESTS)]
    environment = os.environ | {"DPQL_NEIGHBOURS": str(pairs)}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)  # noqa: S603  our own tests
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
