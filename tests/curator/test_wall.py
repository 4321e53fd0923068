"""Nothing that an engine prints gets through the wall."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpql.curator.wall import engines_muted

SETTINGS = (
    "POLARS_LOG_METRICS",
    "POLARS_OOC_LOG_METRICS",
    "POLARS_TRACK_METRICS",
    "POLARS_VERBOSE",
    "POLARS_VERBOSE_SENSITIVE",
    "RUST_BACKTRACE",
)
TALK = """
import os, sys
import polars as pl
from dpql.curator.wall import behind_wall
rows = pl.scan_csv(sys.argv[1]).group_by("x").len()
print("from here on", file=sys.stderr, flush=True)
behind_wall(lambda: rows.collect(engine="streaming"))
print("until here", file=sys.stderr, flush=True)
assert all(os.environ[name] == "1" for name in sys.argv[2:])
"""


def test_no_variable_makes_the_engine_print_behind_the_wall(tmp_path: Path) -> None:
    """An engine told to print its counts is silent, and the setting is restored."""
    file = tmp_path / "rows.csv"
    file.write_text("x\n1\n2\n")
    done = subprocess.run(
        [sys.executable, "-c", TALK, str(file), *SETTINGS],
        env={**os.environ, **dict.fromkeys(SETTINGS, "1")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "from here on\nuntil here\n" in done.stderr


PANIC = """
import os, sys
import polars as pl
from dpql.curator.wall import behind_wall, engines_muted
from dpql.errors import RunFault

def panic():
    os.write(2, b"SECRET of an engine")
    pl.DataFrame({"a": [1]}).lazy().map_batches(lambda _: 1 / 0).collect()

print("before", file=sys.stderr)
with engines_muted():
    print("ours", file=sys.stderr)
    try:
        behind_wall(panic)
    except RunFault as fault:
        print(fault.diagnostics[0].code, file=sys.stderr)
print("after", file=sys.stderr)
os.write(2, b"descriptor")
with engines_muted():
    sys.stderr.write("unfinished")
"""


def test_a_muted_engine_cannot_print_while_we_can() -> None:
    """What native code writes is lost, what Python writes is not; all comes back."""
    done = subprocess.run(
        [sys.executable, "-c", PANIC], capture_output=True, text=True, check=True
    )
    assert "before\nours\nDPQL510\nafter\ndescriptorunfinished" == done.stderr


def test_muting_leaves_other_streams_alone(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A standard error that is no descriptor, or none at all, stays as it is."""
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        with engines_muted():
            assert sys.stderr is stream
            os.write(2, b"SECRET of an engine")
        assert sys.stderr is stream
    os.write(2, b"heard")
    assert "heard" == capfd.readouterr().err
