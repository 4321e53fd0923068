"""Rules of the house for the pure packages of planning and review."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PURE = [
    path
    for package in ("statistics", "planner", "review")
    for path in sorted((ROOT / "dpql" / package).glob("*.py"))
]


def offences(tree: ast.AST) -> Iterator[str]:
    """Yield what would let a rounded number into a guarantee."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=float() | complex()):
                yield f"float literal on line {node.lineno}"
            case ast.Call(func=ast.Name(id="float")):
                yield f"float( on line {node.lineno}"
            case ast.Import(names=names):
                yield from (n.name for n in names if n.name in FORBIDDEN)
            case ast.ImportFrom(module=str() as module) if module in FORBIDDEN:
                yield module


FORBIDDEN = {"math", "random", "secrets", "numpy", "polars", "gmpy2", "os", "time"}


@pytest.mark.parametrize(
    "path", PURE, ids=lambda path: f"{path.parent.name}.{path.stem}"
)
def test_planning_is_exact_and_pure(path: Path) -> None:
    """No float, no foreign arithmetic, no coins, no clock."""
    assert list(offences(ast.parse(path.read_text("utf-8")))) == []


def test_the_rule_would_find_an_offence() -> None:
    """The walk sees literals, calls and imports."""
    bad = "import math\nfrom random import choice\nx = 0.5\ny = float('1')\n"
    assert len(list(offences(ast.parse(bad)))) == 4
