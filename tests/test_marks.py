"""What starts a process is found and marked, so that `make quick` leaves it out."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from subprocess import run
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marks import starts_a_process


def _direct() -> None:
    subprocess.run([sys.executable], check=True)


def _imported() -> None:
    run([sys.executable], check=True)


def _within() -> Any:
    return lambda: _direct()  # noqa: PLW0108  a function within another


@cache
def _cached() -> None:
    _direct()


@contextmanager
def _managed() -> Any:
    yield _imported()


class _Server:
    def start(self) -> None:
        _direct()


def _by_a_class() -> None:
    _Server().start()


@given(st.none())
def _property(_: None) -> None:
    _direct()


def _innocent() -> str:
    return f"{sys.executable} {_innocent.__name__}"


@pytest.mark.parametrize(
    "function",
    [_direct, _imported, _within, _cached, _managed, _by_a_class, _property],
    ids=lambda function: function.__name__,
)
def test_functions_that_start_a_process_are_found(function: Any) -> None:
    """It may stand in a helper, a class, a lambda, a property or behind a decorator."""
    assert starts_a_process(function)


def test_other_functions_are_not_found() -> None:
    """A function that names itself ends the search."""
    assert not starts_a_process(_innocent)
