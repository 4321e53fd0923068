"""Who may import what: the contracts hold, and each one notices a planted violation."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PLANTED = {
    "stages meet only in the model": ("planner/planted.py", "import dpql.language"),
    "only sources and engines import polars": ("curator/planted.py", "import polars"),
    "only the reports import cryptography": (
        "planner/planted.py",
        "import cryptography",
    ),
    "planning sees no rows, no engine and no coins": (
        "statistics/planted.py",
        "import secrets",
    ),
    "the library for tests stays out of the product": (
        "mechanisms/planted.py",
        "import dpql.testing",
    ),
    "the library for tests needs only the exact core": (
        "testing/planted.py",
        "import dpql.planner",
    ),
}


def _verdicts(root: Path) -> dict[str, str]:
    """Return KEPT or BROKEN for each contract of the tree below ``root``."""
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command as c; c()",
            "--no-cache",
        ],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"},
    )
    return dict(re.findall(r"^(.+) (KEPT|BROKEN)\b", found.stdout, re.MULTILINE))


def _copy(root: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", root)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dpql", root / "dpql", ignore=ignored)
    return root


def test_every_contract_has_a_planted_violation() -> None:
    """The table of planted violations covers the contracts of pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    assert {contract["name"] for contract in contracts} == set(PLANTED)


def test_contracts_hold(tmp_path: Path) -> None:
    """The tree as it stands keeps every contract."""
    assert dict.fromkeys(PLANTED, "KEPT") == _verdicts(_copy(tmp_path))


@pytest.mark.parametrize("name", PLANTED)
def test_planted_violation_is_noticed(name: str, tmp_path: Path) -> None:
    """One wrong import breaks the contract that forbids it."""
    place, line = PLANTED[name]
    root = _copy(tmp_path)
    (root / "dpql" / place).write_text(f'"""Planted."""\n\n{line}\n', "utf-8")
    assert _verdicts(root)[name] == "BROKEN"
