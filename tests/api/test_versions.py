"""A report names what computed it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError

import pytest

import dpql
from dpql.api import versions


def test_versions_of_what_computes_are_stated() -> None:
    """dpql, Python and the packages that take part."""
    stated = versions.stated_versions()
    assert (dpql.__version__, platform.python_version()) == (
        stated["dpql"],
        stated["python"],
    )
    assert {"cryptography", "gmpy2", "numpy", "polars"} <= set(stated)


def test_packages_that_are_not_installed_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A report is not refused because a package has no metadata."""

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", missing)
    assert {"dpql", "python"} == set(versions.stated_versions())
