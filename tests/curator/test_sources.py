"""No record changes how a source is opened, and no setting makes an engine talk."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from spec_text import make_spec

from dpql.curator.engines import polars_engine
from dpql.curator.wall import engines_muted
from dpql.model.plan import Plan
from dpql.planner import plan

SALT = b"s" * 32
LINE = b'{"x":50}\n'
COUNT = {"count": "rows", "spend": "{share: 1}"}
NUMBER = "{type: integer, bounds: [0, 100], nulls: {as: 0}}"


def _counts(decided: Plan, place: Path | str) -> list[int]:
    opened = polars_engine.open_frame(str(place), decided.spec.data)
    sums = polars_engine.add_up(decided, opened, salt=SALT, tick=None)
    return list(sums.moments[0]["n"])


def _partitioned(folder: Path, parts: Iterable[str]) -> Path:
    for part in parts:
        (folder / part).mkdir(parents=True)
        pl.DataFrame({"x": [1, 2]}).write_parquet(folder / part / "rows.parquet")
    return folder


@pytest.mark.parametrize(
    "first",
    [
        zlib.compress(b""),
        zlib.compress(b'{"x":1}\n' * 5000).replace(b"\n", b""),
        gzip.compress(LINE, mtime=0).replace(b"\n", b""),
        b"\x28\xb5\x2f\xfd",
        b"\x1f\x1f",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r",
        b"",
    ],
)
def test_a_first_line_of_json_is_one_row_whatever_its_bytes(
    first: bytes, tmp_path: Path
) -> None:
    """A first line that looks compressed or broken adds one row and no more."""
    decided = plan(make_spec({"x": NUMBER}, {"c": COUNT}))
    file = tmp_path / "rows.ndjson"
    file.write_bytes(LINE * 100)
    assert _counts(decided, file) == [100]
    file.write_bytes(first + b"\n" + LINE * 100)
    assert _counts(decided, file) == [101]


@pytest.mark.parametrize("keys", [("01", "02"), ("2024-01-01", "2024-01-02")])
@pytest.mark.parametrize("other", ["zz", "a=b", "%ff", "%2F", "", "1.5", "[a]*"])
def test_a_folder_of_another_name_changes_no_other_group(
    keys: tuple[str, str], other: str, tmp_path: Path
) -> None:
    """The values of folders stay text whatever the others are called."""
    words = ", ".join(f'"{key}"' for key in keys)
    decided = plan(
        make_spec(
            {"region": f"{{type: category, keys: [{words}]}}", "x": NUMBER},
            {"c": {**COUNT, "by": "[region]"}},
        )
    )
    folder = _partitioned(tmp_path / "table", [f"region={key}" for key in keys])
    assert _counts(decided, folder) == [2, 2]
    _partitioned(folder, [f"region={other}"])
    assert _counts(decided, folder) == [2, 2]


def test_ids_of_folders_that_are_equal_as_numbers_stay_apart(tmp_path: Path) -> None:
    """Units are told apart by the text of their folders."""
    decided = plan(
        make_spec(
            {"person": "{type: id}", "x": NUMBER},
            {"c": COUNT},
            unit="person",
            contributes="{rows: 1, groups: 1}",
        )
    )
    names = [f"person={'0' * zeros}7" for zeros in range(5)]
    assert _counts(decided, _partitioned(tmp_path / "table", names)) == [5]


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
