"""Commands import what they need and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli.released import RUN, project, release_in
from cli.started import ROOT, WAGES, dpql, surroundings

pytestmark = pytest.mark.cli

HEAVY = (
    "polars",
    "numpy",
    "lark",
    "yaml",
    "gmpy2",
    "jsonschema",
    "cryptography",
    "rich",
    "pyarrow",
    "obstore",
    "duckdb",
    "urllib.request",
    "ssl",
)

MOST_MODULES = 275
"""Of dpql, in a whole run with ledger and approvals."""

PROGRAM = """
import contextlib, io, sys
from dpql.cli.main import run
with contextlib.redirect_stdout(io.StringIO()):
    assert run(sys.argv[2:]) == 0
print(*[name for name in sys.argv[1].split(",") if name in sys.modules])
"""


def _imported(*arguments: str) -> set[str]:
    """Return the heavy packages that a command has imported."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, ",".join(HEAVY), *arguments],
        cwd=ROOT,
        env=surroundings(),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(found.stdout.split())


def test_help_imports_nothing_heavy() -> None:
    """The overview comes from a table."""
    assert _imported("--help") == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", str(WAGES)),
        ("plan", str(WAGES)),
        ("diff", str(WAGES), str(WAGES)),
        ("fmt", "--check", str(WAGES)),
        ("ledger", "--help"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_reviewing_imports_no_engine(arguments: tuple[str, ...]) -> None:
    """No polars, and none of what only a run or a signature needs."""
    unneeded = {"polars", "cryptography", "jsonschema", "rich"}
    assert unneeded.isdisjoint(_imported(*arguments))


def test_verifying_imports_no_engine(tmp_path: Path) -> None:
    """A release is verified, and its ledger asked, without polars, lark or yaml."""
    folder = project(tmp_path / "project")
    assert dpql(*RUN, "--yes", folder=folder).returncode == 0
    release, ledger = str(release_in(folder)), str(folder / "ledger.sqlite")
    trust = str(folder / "allowed_signers")
    unneeded = {"polars", "numpy", "lark", "yaml", "jsonschema", "rich"}
    verify = ("verify", release, "--trust", trust, "--ledger", ledger)
    assert unneeded.isdisjoint(_imported(*verify))
    assert unneeded.isdisjoint(_imported("ledger", "show", "--ledger", ledger))


def test_yaml_specs_need_no_parser_generator() -> None:
    """A spec in YAML without a condition is read without lark."""
    assert "lark" not in _imported("check", "specs/smallest_mean.yaml")


def test_importing_dpql_is_next_to_nothing() -> None:
    """`import dpql` binds names when they are used; only forks are watched at once."""
    program = "import sys, dpql; print(*[n for n in sys.modules if n[:5] == 'dpql.'])"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "dpql.forks"


def test_a_run_on_local_text_imports_what_it_computes_with(tmp_path: Path) -> None:
    """No reader of other formats, no network, and no language for a plan."""
    folder = project(tmp_path / "project")
    # Beside its plan, the spec would be read to see whether they still agree.
    (folder / "wages.yaml").unlink()
    counted = (
        PROGRAM + "print(len([name for name in sys.modules if name[:5] == 'dpql.']))"
    )
    found = subprocess.run(
        [sys.executable, "-c", counted, ",".join(HEAVY), *RUN, "--yes"],
        cwd=folder,
        env=surroundings(),
        capture_output=True,
        text=True,
        check=True,
    )
    heavy, modules = found.stdout.splitlines()
    # Arrow is how the bytes of ids that are texts are kept until all are read.
    computing = {"polars", "numpy", "gmpy2", "pyarrow", "cryptography"}
    assert computing == set(heavy.split())
    assert int(modules) <= MOST_MODULES
