"""Who may import what: the contracts hold, and each one notices a planted violation."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

import dpql
from dpql.cli.main import COMMANDS
from dpql.cli.main import dpql as group
from dpql.curator.engines import ENGINES

ROOT = Path(__file__).parent.parent

PLANTED = {
    "stages meet only in the model": [
        ("planner/planted_language.py", "import dpql.language"),
        ("planner/planted_review.py", "import dpql.review.explain"),
        ("reports/planted_review.py", "import dpql.review.names"),
        ("model/planted_review.py", "def show():\n    import dpql.review.render"),
        ("planted_unlisted.py", ""),
    ],
    "only sources and engines import polars": [
        ("curator/planted_polars.py", "import polars"),
        ("reports/planted_polars.py", "import polars"),
    ],
    "only the reports import cryptography": [
        ("planner/planted_cryptography.py", "import cryptography"),
    ],
    "planning sees no rows, no engine and no coins": [
        ("statistics/planted_coins.py", "import secrets"),
        ("review/planted_rows.py", "import dpql.curator.run"),
    ],
    "only the owner's command makes a preflight": [
        ("api/planted_preflight.py", "import dpql.curator.preflight"),
    ],
    "only the command line reads the manual": [
        ("language/planted_manual.py", "from dpql.manual import CODES"),
    ],
    "the library for tests stays out of the product": [
        ("mechanisms/planted_testing.py", "import dpql.testing"),
    ],
    "the library for tests needs only the exact core": [
        ("testing/planted_planner.py", "import dpql.planner"),
    ],
}
"""For each contract, modules that break it: where they stand, and what they hold."""

TABLES = {"__init__.py", "cli/main.py", "curator/engines/__init__.py"}
"""The only modules that import others of ours by name: public names, commands, engines.

import-linter sees none of these imports, so their targets are checked here.
"""

_BY_NAME = {"import_module", "__import__", "find_spec", "resolve_name", "run_module"}


def _report(root: Path) -> str:
    """Return what import-linter says of the tree below ``root``."""
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
    return found.stdout


def _verdicts(report: str) -> dict[str, str]:
    """Return KEPT or BROKEN for each contract."""
    return dict(re.findall(r"^(.+) (KEPT|BROKEN)\b", report, re.MULTILINE))


def _reason(report: str, name: str) -> str:
    """Return why a contract is broken: the section below its name."""
    _, _, rest = report.partition(f"\n{name}\n{'-' * len(name)}\n")
    return re.split(r"^.+\n-+\n", rest, maxsplit=1, flags=re.MULTILINE)[0]


def test_every_contract_has_a_planted_violation() -> None:
    """The table of planted violations covers the contracts of pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    assert {contract["name"] for contract in contracts} == set(PLANTED)


def test_contracts_hold() -> None:
    """The tree as it stands keeps every contract."""
    assert dict.fromkeys(PLANTED, "KEPT") == _verdicts(_report(ROOT))


def test_planted_violations_are_noticed(tmp_path: Path) -> None:
    """Each wrong import is named by the contract that forbids it.

    All are planted in one copy of the tree: what import-linter does takes its time.
    """
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dpql", tmp_path / "dpql", ignore=ignored)
    cases = [(name, *case) for name, found in PLANTED.items() for case in found]
    for _, path, lines in cases:
        (tmp_path / "dpql" / path).write_text(f'"""Planted."""\n\n{lines}\n', "utf-8")
    report = _report(tmp_path)
    assert dict.fromkeys(PLANTED, "BROKEN") == _verdicts(report)
    missed = [
        (name, path)
        for name, path, _ in cases
        if Path(path).stem not in _reason(report, name)
    ]
    assert [] == missed


def _imports_by_name(tree: ast.AST) -> Iterator[str]:
    """Yield every import of a module of ours, or of an unknown one, by a string."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id=function) | ast.Attribute(attr=function),
                args=[named, *_],
            ) if function in _BY_NAME and not _is_foreign(named):
                yield f"line {node.lineno}: {function}"
            case ast.ImportFrom(names=names):
                # Under another name the call would not be found.
                yield from (
                    f"line {node.lineno}: {each.name} as {each.asname}"
                    for each in names
                    if each.name in _BY_NAME and each.asname not in {None, each.name}
                )
            case _:
                pass


def _is_foreign(named: ast.expr) -> bool:
    """Tell whether a name is written out and is that of somebody else's module."""
    match named:
        case ast.Constant(value=str() as name):
            return name.partition(".")[0] not in {"", "dpql"}
        case _:
            return False


def test_only_the_tables_import_our_modules_by_name() -> None:
    """Everywhere else an import is a statement, which the contracts see."""
    found = {
        path.relative_to(ROOT / "dpql").as_posix(): list(
            _imports_by_name(ast.parse(path.read_text("utf-8")))
        )
        for path in sorted((ROOT / "dpql").rglob("*.py"))
    }
    assert {path for path, imports in found.items() if imports} == TABLES


@pytest.mark.parametrize(
    "line",
    [
        'import_module("dpql.language")',
        'importlib.import_module("dpql.language").load',
        'import_module(f"dpql.reports.render_{form}")',
        "import_module(PLACE)",
        'import_module(".views", "dpql.review")',
        '__import__("dpql.language")',
        'find_spec("dpql.language")',
        "from importlib import import_module as load",
    ],
)
def test_planted_import_by_name_is_noticed(line: str) -> None:
    """The walk sees literals, f-strings, constants, relative names and aliases."""
    assert len(list(_imports_by_name(ast.parse(line)))) == 1


@pytest.mark.parametrize(
    "line", ['import_module("pyarrow.fs")', "from importlib import import_module"]
)
def test_modules_of_others_may_be_imported_by_name(line: str) -> None:
    """The contracts are about our modules."""
    assert list(_imports_by_name(ast.parse(line))) == []


@pytest.mark.parametrize("name", dpql.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """What `dpql.NAME` is bound to on first use exists."""
    assert getattr(dpql, name) is not None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there(name: str) -> None:
    """The module that the table of commands leads to has the command of that name."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    assert command.name == name


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_is_there(name: str) -> None:
    """The module that the table of engines names exists."""
    assert find_spec(ENGINES[name]) is not None
