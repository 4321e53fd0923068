"""Any valid spec: within budget, on target, and the same whatever the order."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from spec_text import ID, make_spec, number

from dpql.errors import DpqlError, PlanFault
from dpql.language import load
from dpql.model.plan import Plan
from dpql.model.spec import Spec
from dpql.planner import plan, read
from dpql.planner.audit import audit_loss

SPECS = Path(__file__).parents[2] / "specs"
KINDS = ("count", "sum", "mean", "variance", "covariance", "histogram")
CALM = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

decimals = st.integers(1, 10**5).map(lambda n: number(Fraction(n, 1000)))


@st.composite
def columns(draw: st.DrawFn) -> dict[str, str]:
    """Return two number columns, two categories and an id."""
    lower = draw(st.integers(-1000, 1000))
    upper = lower + draw(st.integers(1, 10**6))
    kind = draw(
        st.sampled_from(["integer", "decimal", "float"]),
    )
    step = {"integer": ", step: 1", "decimal": ", step: 0.01", "float": ""}[kind]
    bounds = f"bounds: [{lower}, {upper}]"
    keys = ", ".join(f"k{i}" for i in range(draw(st.integers(1, 5))))
    return {
        "p": ID,
        "x": f"{{type: {kind}, {bounds}{step}, nulls: {{as: {lower}}}}}",
        "y": "{type: float, bounds: [-0.1, 2.7], nulls: {as: 0}}",
        "g": f"{{type: category, keys: [{keys}]}}",
    }


@st.composite
def statistics(draw: st.DrawFn, *, delta: bool = False) -> dict[str, str]:
    """Return one statistic."""
    kind = draw(st.sampled_from(KINDS))
    statistic = {
        "count": {"count": "rows"},
        "covariance": {"covariance": "[x, y]"},
        "histogram": {"histogram": "g"},
    }.get(kind, {kind: draw(st.sampled_from(["x", "y"]))})
    if draw(st.booleans()):
        statistic["where"] = "x >= 0 or y < 0.5"
    if draw(st.booleans()):
        statistic["by"] = "[g]"
    if kind in ("mean", "variance") and draw(st.booleans()):
        statistic["at_least"] = str(draw(st.integers(1, 50)))
    names, ways = ["geometric", "snapping", "auto"], ["share", "share", "epsilon"]
    if delta:
        names, ways = [*names, "gaussian", "auto"], [*ways, "rho"]
    statistic["mechanism"] = draw(st.sampled_from(names))
    way = draw(st.sampled_from([*ways, "accuracy"]))
    statistic["spend"] = f"{{{way}: {draw(decimals)}}}"
    return statistic


@st.composite
def specs(draw: st.DrawFn, *, delta: bool = False) -> Spec:
    """Return any spec that reads well; with a delta, if it may have one."""
    replacing = draw(st.booleans())
    options = {}
    if draw(st.booleans()):
        rows, groups = draw(st.integers(1, 9)), draw(st.integers(1, 9))
        options = {"unit": "p", "contributes": f"{{rows: {rows}, groups: {groups}}}"}
    word = "exactly" if replacing else "at_most"
    bag = draw(st.lists(statistics(delta=delta), min_size=1, max_size=4))
    if delta:
        options["delta"] = draw(st.sampled_from(["1e-9", "1e-6", "0.01"]))
    try:
        return make_spec(
            draw(columns()),
            {f"s{i}": statistic for i, statistic in enumerate(bag)},
            rows=f"{{{word}: {draw(st.integers(50, 10**7))}}}",
            neighbours="replace_one" if replacing else "add_remove",
            epsilon=draw(decimals),
            alpha=draw(st.sampled_from(["0.05", "0.5", "1e-9", "0.999"])),
            gamma=draw(st.sampled_from(["1e-9", "1", "0.05"])),
            **options,
        )
    except DpqlError:
        assume(False)
        raise


def planned(spec: Spec) -> Plan:
    """Return the plan, or give the example up when there is none."""
    try:
        return plan(spec)
    except PlanFault as fault:
        faults = fault.diagnostics
    assert all(d.hint and d.code.startswith("DPQL4") for d in faults)
    assume(False)
    raise AssertionError


@pytest.mark.property
@CALM
@given(specs() | specs(delta=True))
def test_no_plan_loses_more_than_its_total(spec: Spec) -> None:
    """The audited loss is within the total, and targets are met."""
    made = planned(spec)
    assert audit_loss(made) <= made.spent <= spec.privacy.epsilon
    assert read(made.to_json()) == made
    for statistic, step in zip(spec.statistics, made.steps, strict=True):
        within = getattr(statistic.spend, "within", None)
        if within is not None:
            assert step.accuracy is not None
            assert step.accuracy <= within
        if step.accuracy is not None:
            assert step.accuracy_all is not None
            assert step.accuracy <= step.accuracy_all <= step.upper - step.lower


@pytest.mark.property
@CALM
@given(specs() | specs(delta=True), st.randoms(use_true_random=False))
def test_the_order_of_statistics_changes_no_number(spec: Spec, shuffle: object) -> None:
    """A permuted spec has the same steps, permuted."""
    made = planned(spec)
    order = list(spec.statistics)
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    other = plan(replace(spec, statistics=tuple(order)))
    assert Counter(other.steps) == Counter(made.steps)
    assert (other.spent, other.loss) == (made.spent, made.loss)


SLACK = 1 + Fraction(12, 10**15)
"""A step of precision may raise the error by 1.0e-15; the tight form a little more."""


@pytest.mark.property
@CALM
@given(specs(), st.fractions(min_value=Fraction(1001, 1000), max_value=20))
def test_more_epsilon_is_never_less_accurate(spec: Spec, factor: Fraction) -> None:
    """Every statistic that only shares gets no worse when the total grows."""
    made = planned(spec)
    assume(spec.privacy.epsilon * factor <= 1000)
    privacy = replace(spec.privacy, epsilon=spec.privacy.epsilon * factor)
    for before, after in zip(
        made.steps, plan(replace(spec, privacy=privacy)).steps, strict=True
    ):
        if before.accuracy is None or before.mechanism != after.mechanism:
            continue
        if after.epsilon > before.epsilon:
            assert after.accuracy is not None
            assert after.accuracy <= before.accuracy * SLACK


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_bytes_do_not_depend_on_the_hash_seed(seed: str) -> None:
    """Another process with another hash seed writes the same bytes."""
    path = SPECS / "district_wages.yaml"
    code = (
        "import sys; from dpql.language import load; from dpql.planner import plan; "
        f"sys.stdout.write(plan(load({str(path)!r})).digest)"
    )
    environment = os.environ | {"PYTHONHASHSEED": seed}
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    assert plan(load(path)).digest == found.stdout


@pytest.mark.heavy
def test_both_forms_of_a_spec_have_one_plan() -> None:
    """The YAML and the text twin give the same digest."""
    for path in sorted(SPECS.glob("*.yaml")):
        assert plan(load(path)).digest == plan(load(path.with_suffix(".dpql"))).digest


def test_planning_loads_no_engine_and_no_coins() -> None:
    """A process that plans has loaded neither an engine nor the curator's coins.

    `random` itself is dragged in by the package metadata that gmpy2 reads; that no
    module of ours imports it is an import contract.
    """
    code = (
        "import sys; import dpql.planner, dpql.review.render, dpql.review.diff; "
        "bad = {'polars', 'numpy', 'secrets', 'dpql.curator', 'dpql.language'}; "
        "sys.exit(', '.join(bad & set(sys.modules)) or 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True
    )
    assert (found.returncode, found.stderr) == (0, "")


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


DIRECTED = {
    "decisions",
    "format3",
    "inversion",
    "normal_inversion",
    "normal_tails",
    "parts_reading",
    "spread_reading",
    "tails",
    "totals",
}
"""Modules of intervals: MPFR with its rounding directed, so that they only widen."""

GUESSES = {"guess"}
"""Modules of doubles that say where an exact search begins."""

FORBIDDEN = {"math", "random", "secrets", "numpy", "polars", "gmpy2", "os", "time"}


@pytest.mark.parametrize(
    "path", PURE, ids=lambda path: f"{path.parent.name}.{path.stem}"
)
def test_planning_is_exact_and_pure(path: Path) -> None:
    """No float, no foreign arithmetic, no coins, no clock."""
    if path.stem in GUESSES:
        return
    found = list(offences(ast.parse(path.read_text("utf-8"))))
    assert (["gmpy2"] if path.stem in DIRECTED else []) == found


def test_the_rule_would_find_an_offence() -> None:
    """The walk sees literals, calls and imports."""
    bad = "import math\nfrom random import choice\nx = 0.5\ny = float('1')\n"
    assert len(list(offences(ast.parse(bad)))) == 4
