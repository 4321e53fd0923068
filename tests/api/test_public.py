"""The public names: few, lazy, typed, documented, and nothing else raised."""

from __future__ import annotations

import ast
import doctest
import os
import pydoc
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpql
import dpql.api
from dpql.api import plans, releases

ROOT = Path(__file__).parents[2]


@pytest.fixture
def at_root() -> Iterator[None]:
    """Examples name files of the gallery by their path in the repository."""
    before = Path.cwd()
    os.chdir(ROOT)
    yield
    os.chdir(before)


@pytest.mark.usefixtures("at_root")
def test_docstring_examples_run() -> None:
    """What the docstrings show is what happens."""
    results = [doctest.testmod(module) for module in (plans, releases)]
    assert [0, 0] == [result.failed for result in results]
    assert all(result.attempted >= 8 for result in results)


def test_public_names_are_those_of_the_stub() -> None:
    """What mypy sees and what Python binds are the same names."""
    stub = ast.parse((ROOT / "dpql" / "__init__.pyi").read_text("utf-8"))
    typed = {
        alias.asname
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed | {"__version__"} == set(dpql.__all__)
    assert sorted(dpql.__all__) == dir(dpql)
    for name in dpql.__all__:
        assert getattr(dpql, name) is not None


def test_help_shows_the_verbs_and_nothing_else() -> None:
    """No module, import or helper that happens to be bound is shown."""
    text = pydoc.plain(pydoc.render_doc(dpql))
    for name in dpql.api.__all__:
        assert f"\n    {name}(" in text
    for inner in ("_forks", "__getattr__", "__dir__", "SUBMODULES"):
        assert inner not in text


@pytest.mark.usefixtures("at_root")
def test_nothing_prints_internals() -> None:
    """What the verbs return has a short repr."""
    spec = dpql.load("specs/smallest_mean.yaml")
    plan = dpql.plan(spec)
    assert "<spec of class_age, 1 statistic>" == repr(spec)
    assert f"<plan {plan.digest[:8]} of class_age>" == repr(plan)
    same = dpql.diff(plan, plan)
    assert f"<SAME: plan {plan.digest[:8]} → {plan.digest[:8]}>" == repr(same)
    made = dpql.rehearse(plan, rows=plan.spec.data.rows.count, seed=1)
    assert "<rehearsal of class_age, plan " in repr(made)
    assert "<mean_age, 1 value>" == repr(made["mean_age"])
    for shown in (spec, plan, same, made, made["mean_age"]):
        assert "Fraction(" not in repr(shown) + str(shown)


def test_unknown_names_are_attribute_errors() -> None:
    """A lazy module still says what it has not."""
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        dpql.lod  # type: ignore[attr-defined]  # noqa: B018  that is the point


def test_every_verb_is_documented() -> None:
    """Each verb has a docstring with an example or arguments."""
    for name in dpql.api.__all__:
        text = getattr(dpql.api, name).__doc__
        assert text
        assert "Args:" in text
