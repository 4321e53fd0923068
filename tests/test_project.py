"""Rules of the house that a linter does not know."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dpql"

EXACT = (
    "exact.py",
    "model/figures.py",
    "statistics",
    "mechanisms",
    "planner",
    "review",
    "curator",
)
FLOATS_ALLOWED = {
    "mechanisms/vector.py",
    "curator/grid.py",
    "review/curves/chart.py",
    "review/curves/page.py",
}
"""Doubles that a proof covers: lanes settled within bounds, cells put on a grid.

Beside them those that place ink: the curves of a what-if.
"""
LONGEST = 400
"""Lines; beyond 300 a module may hold two ideas, but an idea is not cut to fit."""


def _modules(*places: str) -> list[Path]:
    found: list[Path] = []
    for place in places or (".",):
        path = PACKAGE / place
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return found


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _faults(tree: ast.AST) -> Iterator[str]:
    """Yield every use of floats or of `math` in a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=float()):
                yield f"line {node.lineno}: float literal"
            case ast.Call(func=ast.Name(id="float")):
                yield f"line {node.lineno}: float()"
            case ast.Import(names=names) if any(n.name == "math" for n in names):
                yield f"line {node.lineno}: math"
            case ast.ImportFrom(module="math"):
                yield f"line {node.lineno}: math"
            case _:
                pass


@pytest.mark.parametrize("path", _modules(*EXACT), ids=_name)
def test_no_float_takes_part_in_a_guarantee(path: Path) -> None:
    """No float literal, no float() and no math in the exact packages."""
    if _name(path) not in FLOATS_ALLOWED:
        assert [] == list(_faults(ast.parse(path.read_text("utf-8"))))


@pytest.mark.parametrize(
    "line", ["x = 0.5", "float(3)", "import math", "from math import exp"]
)
def test_planted_floats_are_noticed(line: str) -> None:
    """The rule above can fail."""
    assert len(list(_faults(ast.parse(line)))) == 1


def _draws(tree: ast.AST) -> bool:
    """Say whether a module names a source of randomness."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="urandom" | "getrandom" | "random"):
                return True
            case ast.Import(names=names) if any(
                n.name in {"random", "secrets"} for n in names
            ):
                return True
            case ast.ImportFrom(module="random" | "secrets" | "numpy.random"):
                return True
            case _:
                pass
    return False


def test_coins_are_drawn_in_one_place() -> None:
    """Only curator/entropy.py names a source of randomness."""
    places = {
        _name(path) for path in _modules() if _draws(ast.parse(path.read_text("utf-8")))
    }
    assert places == {"curator/entropy.py"}


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_modules_are_short(path: Path) -> None:
    """A module fits in one reading."""
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_modules_say_what_they_are(path: Path) -> None:
    """A module opens with a sentence, and none is called utils or the like."""
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert path.stem not in {"utils", "helpers", "common", "misc", "base", "manager"}


def test_every_test_says_what_it_shows() -> None:
    """Each test function has a docstring."""
    silent = [
        f"{path.name}::{node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []
