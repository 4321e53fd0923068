"""Rules of the house that a linter does not know."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dpql.statistics import STATISTICS

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
    "mechanisms/gaussian_vector.py",
    "mechanisms/vector.py",
    "curator/grid.py",
    "curator/engines/progression.py",
    "curator/engines/sql/cells.py",
    "curator/engines/sql/dialect.py",
    "curator/engines/sql/expressions.py",
    "curator/engines/sql/nodes.py",
    "curator/engines/sql/postgres.py",
    "statistics/guess.py",
    "review/curves/chart.py",
    "review/curves/page.py",
}
"""Doubles that a proof covers: lanes settled within bounds, cells put on a grid,
by SQL, too.

Beside them those that place ink, the curves of a what-if, and those that guess where an
exact search begins.
"""
KINDS_OF_TESTS = ("", "_formula", "_vectors", "_contract")
"""What may follow the name of a module in the name of a file with its tests."""

TESTED_ELSEWHERE = {
    # every sampler and every law by one file, so that all mechanisms meet all tests
    "mechanisms/geometric_draw.py": "mechanisms/test_samplers.py",
    "mechanisms/geometric_law.py": "mechanisms/test_law.py",
    "mechanisms/snapping_draw.py": "mechanisms/test_samplers.py",
    "mechanisms/snapping_law.py": "mechanisms/test_law.py",
    "mechanisms/quantile_law.py": "mechanisms/test_quantile_contract.py",
    "mechanisms/quantile_score.py": "mechanisms/test_quantile_draw.py",
    # with the other searches for keys
    "mechanisms/key_names.py": "mechanisms/test_key_privacy.py",
    "mechanisms/key_threshold.py": "mechanisms/test_key_privacy.py",
    # one view in three forms, with the same hostile names
    "reports/render_html.py": "reports/test_render.py",
    "reports/render_markdown.py": "reports/test_render.py",
    "reports/render_text.py": "reports/test_render.py",
    # intervals, by the law of the parts that they are read from
    "statistics/inversion.py": "statistics/test_parts_reading.py",
    "statistics/spread_reading.py": "statistics/test_parts_reading.py",
    "statistics/joint.py": "curator/test_parts_of_one.py",
    "statistics/reading.py": "curator/test_parts_of_one.py",
    "statistics/ranks.py": "curator/test_quantiles.py",
}
"""Modules without a file of tests that bears their name, and where their tests are.

Beside them the statistics of the table, which the contract tries one and all.
"""
LONGEST = 400
"""Lines; beyond 300 a module may hold two ideas, but an idea is not cut to fit."""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _modules(*folders: str) -> dict[str, ast.Module]:
    """Return the trees of all modules, or of those in some folders or files."""
    return {
        path.relative_to(PACKAGE).as_posix(): _tree(path)
        for folder in folders or (".",)
        for path in sorted(
            (PACKAGE / folder).rglob("*.py")
            if (PACKAGE / folder).is_dir()
            else [PACKAGE / folder]
        )
    }


def _floats(tree: ast.AST) -> Iterator[str]:
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


def test_no_float_takes_part_in_a_guarantee() -> None:
    """No float literal, no float() and no math in the exact packages."""
    found = [
        f"{name}, {fault}"
        for name, tree in _modules(*EXACT).items()
        if name not in FLOATS_ALLOWED
        for fault in _floats(tree)
    ]
    assert [] == found


@pytest.mark.parametrize(
    "line", ["x = 0.5", "float(3)", "import math", "from math import exp"]
)
def test_planted_floats_are_noticed(line: str) -> None:
    """The rule above can fail."""
    assert len(list(_floats(ast.parse(line)))) == 1


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


def test_coins_are_drawn_in_one_module() -> None:
    """Only curator/entropy.py names a source of randomness."""
    drawing = {name for name, tree in _modules().items() if _draws(tree)}
    assert {"curator/entropy.py"} == drawing


@pytest.mark.parametrize(
    "line", ["os.urandom(8)", "import secrets", "from numpy.random import default_rng"]
)
def test_planted_draws_are_noticed(line: str) -> None:
    """The rule above can fail."""
    assert _draws(ast.parse(line))


def test_modules_are_short() -> None:
    """A module fits in one reading."""
    lengths = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    assert {} == {name: lines for name, lines in lengths.items() if lines > LONGEST}


def _does_something(tree: ast.AST) -> bool:
    """Tell whether any function has a body: types, texts and numbers do nothing."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return any(ast.unparse(one.body[-1]) != "..." for one in functions)


def _has_tests(name: str) -> bool:
    """Tell whether a file of tests bears the name of a module, in its folder."""
    module = ROOT / "tests" / name
    names = (f"test_{module.stem}{kind}.py" for kind in KINDS_OF_TESTS)
    return any(module.with_name(name).is_file() for name in names)


def test_every_module_has_a_file_of_tests() -> None:
    """Tests mirror the tree: what does something is tested under its name."""
    statistics = {f"statistics/{name}.py" for name in STATISTICS}
    untested = {
        name
        for name, tree in _modules().items()
        if not Path(name).stem.startswith("__")
        and _does_something(tree)
        and not _has_tests(name)
    }
    assert {*TESTED_ELSEWHERE, *statistics} == untested
    assert all((ROOT / "tests" / path).is_file() for path in TESTED_ELSEWHERE.values())


def test_modules_say_what_they_are() -> None:
    """A module opens with a sentence."""
    silent = [name for name, tree in _modules().items() if not ast.get_docstring(tree)]
    assert [] == silent


def test_modules_are_named_after_what_they_hold() -> None:
    """No module is called utils or the like."""
    vague = {"utils", "helpers", "common", "misc", "base", "manager"}
    assert [] == [name for name in _modules() if Path(name).stem in vague]


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
