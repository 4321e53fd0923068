"""Finds tests that start a process, so that `make quick` leaves them out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

TESTS = str(Path(__file__).parent)
STARTERS = {"subprocess", "multiprocessing"}
"""Modules that start processes."""


def functions(item: pytest.Function) -> Iterator[Any]:
    """Yield a test and the fixtures that it uses."""
    yield item.function
    for found in item._fixtureinfo.name2fixturedefs.values():
        yield from (fixture.func for fixture in found)


_HARMLESS: set[Any] = set()
"""Functions that are known to lead to no starter."""


@cache
def starts_a_process(function: Any) -> bool:
    """Tell whether a function names a starter, or calls one of ours that does."""
    seen: set[Any] = set()
    found = _starts(function, seen)
    if not found:
        _HARMLESS.update(seen)
    return found


def _starts(function: Any, seen: set[Any]) -> bool:
    function = inspect.unwrap(getattr(function, "hypothesis", function))
    function = getattr(function, "inner_test", function)
    match function:
        case ModuleType():
            return function.__name__ in STARTERS
        case type() | FunctionType() if function.__module__ in STARTERS:
            return True
        case type():
            methods = [
                x for x in vars(function).values() if isinstance(x, FunctionType)
            ]
            return any(_starts(method, seen) for method in methods)
        case FunctionType() if _is_ours(function):
            if function in seen or function in _HARMLESS:
                return False
            seen.add(function)
            named = map(function.__globals__.get, _names(function.__code__))
            return any(_starts(one, seen) for one in named)
        case _:
            return False


def _is_ours(function: FunctionType) -> bool:
    return function.__code__.co_filename.startswith(TESTS)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names of a function and of the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
