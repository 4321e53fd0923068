"""The golden vectors, reached through the text of a spec and its plan."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from exact_parts import evaluate
from golden import TOLERANCE, cases, close, label
from spec_text import ID, decimal_column, integer, make_spec, number

from dpql.errors import PlanFault, SpecError
from dpql.exact import round_up_to_digits
from dpql.mechanisms import MECHANISMS, Query, snapping
from dpql.mechanisms.snapping import SnappingNoise
from dpql.model.plan import Grid, Plan, Step
from dpql.model.spec import Spec
from dpql.planner import plan, read
from dpql.planner.compiler import compiled
from dpql.planner.rules import FORMAT_1, NOW, Rules
from dpql.statistics import STATISTICS, Setting

pytestmark = pytest.mark.golden

Case = dict[str, Any]
COLUMNS = {
    "count": {"count": "rows", "where": "k == 0"},
    "sum": {"sum": "x"},
    "mean": {"mean": "x"},
    "variance": {"variance": "x"},
    "covariance": {"covariance": "[x, y]"},
    "histogram": {"histogram": "k", "bins": "[0, 1, 2, 3, 4, 5, 6, 7, 8]"},
}
GROUPED = {"by": "[g]"}


def column(lower: str, upper: str) -> str:
    """Return a column on whose grid of a thousand steps nothing is lost."""
    return decimal_column(lower, upper, (Fraction(upper) - Fraction(lower)) / 1000)


def spec_of(case: Case, spend: str, **options: str) -> Spec:
    """Return the spec that asks for the statistic of a case, with snapping."""
    inputs = case["input"]
    replace = inputs["relation"] == "replace"
    rows, groups = inputs.get("rows", 1), inputs.get("groups", 1)
    columns = {"k": integer(0, 8), "p": ID}
    statistic = dict(COLUMNS[inputs["statistic"]])
    if groups > 1 and inputs["statistic"] != "histogram":
        columns["g"] = "{type: category, keys: [a, b, c, d]}"
        statistic |= GROUPED
    if "lower" in inputs:
        columns["x"] = column(inputs["lower"], inputs["upper"])
    if "lower2" in inputs:
        columns["y"] = column(inputs["lower2"], inputs["upper2"])
    if rows > 1 or groups > 1:
        options |= {
            "unit": "p",
            "contributes": f"{{rows: {rows}, groups: {groups}}}",
        }
    return make_spec(
        columns,
        {"it": statistic | {"spend": spend}},
        rows=f"{{{'exactly' if replace else 'at_most'}: {inputs['n']}}}",
        neighbours="replace_one" if replace else "add_remove",
        alpha=inputs["alpha"],
        gamma=inputs["gamma"],
        mechanism="snapping",
        **options,
    )


def planned(spec: Spec, rules: Rules = NOW) -> Plan:
    """Return the plan, after a journey through its canonical bytes."""
    return read(compiled(spec, rules).to_json())


def noise_of(step: Step) -> SnappingNoise:
    """Return the noise of the only part, restored from the plan's parameters."""
    (part,) = step.parts
    return snapping.restore(dict(part.noise.parameters))


SNAPPING = cases("snapping_plans")
THROUGH_SPECS = [c for c in SNAPPING if c["input"]["statistic"] != "raw"]
RAW = [c for c in SNAPPING if c["input"]["statistic"] == "raw"]


def test_most_snapping_cases_go_through_specs() -> None:
    """Only the six raw cases, which belong to no statistic, are left out."""
    assert (len(THROUGH_SPECS), len(RAW)) == (38, 6)


@pytest.mark.parametrize("case", THROUGH_SPECS, ids=label)
def test_a_plan_has_every_number_of_a_snapping_vector(case: Case) -> None:
    """Sensitivity, range, l0 and every parameter of the noise are the golden ones.

    A public n beside units of several rows was format 1's; its plans are tested still.
    """
    inputs, expect = case["input"], case["expect"]
    spec = spec_of(case, "{share: 1}", epsilon=number(inputs["epsilon"]))
    public = inputs["relation"] == "replace" and spec.privacy.unit is not None
    (step,) = planned(spec, FORMAT_1 if public else NOW).steps
    (part,) = step.parts
    parameters = dict(part.noise.parameters)
    noise = noise_of(step)
    alpha = Fraction(inputs["alpha"])
    scale = step.readout.scale
    rescale = noise.sensitivity * scale
    assert Fraction(expect["delta"]) == step.sensitivity == rescale
    assert int(expect["l0"]) == step.l0 == part.measure.l0
    assert Fraction(expect["epsilon_each"]) == Fraction(parameters["epsilon"])
    assert Fraction(expect["range_lo"]) == step.lower
    assert Fraction(expect["range_hi"]) == step.upper
    assert Fraction(expect["shift"]) == step.readout.offset + scale * noise.shift
    assert Fraction(expect["B_prime"]) == Fraction(parameters["B_prime"])
    assert close(expect["B"], Fraction(parameters["B"]), TOLERANCE)
    assert int(expect["precision_p"]) == int(parameters["precision"])
    assert Fraction(2) ** expect["Lambda_prime_log2"] == noise.Lambda_prime
    for name in ("epsilon_prime", "lambda_prime"):
        assert close(expect[name], Fraction(parameters[name]), TOLERANCE)
    plain = snapping.plain_accuracy(noise, alpha) * scale
    assert close(expect["accuracy_user"], plain, TOLERANCE)
    capped = min(Fraction(expect["accuracy_tight"]) * rescale, step.upper - step.lower)
    assert step.accuracy is not None
    assert abs(step.accuracy - capped) <= TOLERANCE * capped
    assert step.quantisation == 0
    worst = Fraction(expect["bind_probability_worst"])
    assert part.clamp_probability is not None
    assert worst <= part.clamp_probability <= max(worst, Fraction(1, 10**40)) * 2


@pytest.mark.parametrize("case", RAW, ids=label)
def test_a_raw_vector_is_reached_through_a_query(case: Case) -> None:
    """A raw case has no statistic, hence no spec: its query goes to the mechanism."""
    inputs, expect = case["input"], case["expect"]
    query = Query(
        sensitivity=Fraction(inputs["delta"]),
        lower=Fraction(inputs["lo"]),
        upper=Fraction(inputs["hi"]),
    )
    noise = MECHANISMS["snapping"].calibrate(
        query, Fraction(inputs["epsilon"]), gamma=Fraction(inputs["gamma"])
    )
    assert close(expect["B"], noise.B, TOLERANCE)
    assert int(expect["precision_p"]) == noise.precision
    assert close(expect["lambda_prime"], noise.lambda_prime, TOLERANCE)


@pytest.mark.parametrize("case", cases("accuracy_to_epsilon"), ids=label)
def test_a_target_costs_at_most_the_golden_epsilon(case: Case) -> None:
    """The planned epsilon reaches the target, and the plain form's is the golden one.

    Golden vectors price by the plain accuracy, as plans of format 1 did; a plan states
    the tight one, so the least epsilon is no larger.

    Targets as wide as the statistic's range are refused as vacuous; that they are is
    what is tested of them here, the mechanism's tests have their number. A target that
    has no finite decimal is asked for rounded up to 40 digits.
    """
    inputs, expect = case["input"], case["expect"]
    within = round_up_to_digits(Fraction(inputs["accuracy_user"]), 40)
    spec = spec_of(case, f"{{accuracy: {number(within)}}}", epsilon="1000")
    try:
        (plain_step,) = planned(spec, FORMAT_1).steps
    except PlanFault as fault:
        codes = [diagnostic.code for diagnostic in fault.diagnostics]
        assert codes == ["DPQL411"]
        loose = plan(spec_of(case, "{epsilon: 1}", epsilon="1000")).steps[0]
        assert within >= loose.upper - loose.lower
        return
    smallest = Fraction(expect["epsilon_min"])
    assert smallest * (1 - Fraction(1, 10**15)) <= plain_step.epsilon
    assert plain_step.epsilon <= smallest * (1 + Fraction(1, 10**12))
    wide = snapping.plain_accuracy(noise_of(plain_step), plain_step.alpha)
    assert wide * plain_step.readout.scale <= within
    (step,) = planned(spec).steps
    assert step.epsilon <= plain_step.epsilon
    assert step.accuracy is not None
    assert step.accuracy <= within


def geometric_spec(theta: Fraction, size: int, alpha: str, spend: str | None) -> Spec:
    """Return a count whose noise has this theta; shares make any rational epsilon."""
    epsilon = theta * size
    statistics = {"it": {"count": "rows", "spend": spend or "{share: 1}"}}
    total = epsilon
    if spend is not None:
        total = Fraction(1000)
    elif 10**20 % epsilon.denominator:
        total = Fraction(epsilon.numerator)
        rest = epsilon.denominator - 1
        statistics["rest"] = {"count": "rows", "spend": f"{{share: {rest}}}"}
    return make_spec(
        {"p": ID},
        statistics,
        rows="{at_most: 1_000_000_000_000}",
        unit="p",
        contributes=f"{{rows: {size}, groups: 1}}",
        epsilon=number(total),
        alpha=alpha,
    )


def reachable(case: Case) -> tuple[Fraction, int]:
    """Return theta and the sensitivity at which a spec can ask for it.

    Where the case's epsilon is beyond the ceiling of 1000, the same theta is asked for
    at a sensitivity of 1: the law of the noise depends on theta alone.
    """
    epsilon = Fraction(case["input"]["epsilon"])
    size = int(case["input"]["delta_int"])
    theta = epsilon / size
    return (theta, size) if epsilon <= 1000 else (theta, 1)


GEOMETRIC = cases("geometric")
CERTAIN = [case for case in GEOMETRIC if Fraction(case["input"]["alpha"]) == 1]


@pytest.mark.parametrize(
    "case", [case for case in GEOMETRIC if case not in CERTAIN], ids=label
)
def test_a_plan_has_the_golden_geometric_accuracy(case: Case) -> None:
    """Theta and the exact accuracy are the golden ones."""
    inputs, expect = case["input"], case["expect"]
    theta, size = reachable(case)
    spec = geometric_spec(theta, size, inputs["alpha"], None)
    step = planned(spec).step("it")
    parameters = dict(step.parts[0].noise.parameters)
    assert Fraction(expect["theta"]) == theta == Fraction(parameters["theta"])
    assert Fraction(1) == Fraction(parameters["lattice"])
    assert int(expect["accuracy_exact"]) == step.accuracy


@pytest.mark.parametrize(
    "case", [case for case in GEOMETRIC if case not in CERTAIN], ids=label
)
def test_a_count_within_a_target_costs_the_golden_epsilon(case: Case) -> None:
    """The smallest epsilon for an integer accuracy is found; 0 cannot be asked for."""
    inputs, expect = case["input"], case["expect"]
    theta, size = reachable(case)
    within = int(expect["accuracy_exact"])
    # A margin below one row is the same promise as a margin of nothing.
    within_text = str(within) if within else "0.5"
    spec = geometric_spec(theta, size, inputs["alpha"], f"{{accuracy: {within_text}}}")
    step = planned(spec).step("it")
    smallest = Fraction(expect["epsilon_min_for_accuracy"])
    smallest = smallest / int(inputs["delta_int"]) * size
    assert smallest * (1 - Fraction(1, 10**15)) <= step.epsilon
    assert step.epsilon <= smallest * (1 + Fraction(1, 10**12))
    assert step.accuracy == within


def test_no_spec_can_ask_for_certain_error() -> None:
    """The vectors with alpha 1 have no spec: alpha lies strictly between 0 and 1."""
    assert len(CERTAIN) == 6
    with pytest.raises(SpecError, match="DPQL312"):
        geometric_spec(Fraction(1), 1, "1", None)


def moments_of(expect: Case) -> dict[str, int]:
    """Return the engine's sums over the rows of a case."""
    u, v = expect["u"], expect["v"]
    return {
        "n": len(u),
        "u": sum(u),
        "v": sum(v),
        "uu": sum(x * x for x in u),
        "uv": sum(x * y for x, y in zip(u, v, strict=True)),
    }


def integers_of(case: Case, known: bool) -> Spec:  # noqa: FBT001  which of two specs
    """Return a spec whose grids are those of the case."""
    inputs, expect = case["input"], case["expect"]
    columns = {}
    for name, suffix in (("x", ""), ("y", "2")):
        width = Fraction(inputs[f"upper{suffix}"]) - Fraction(inputs[f"lower{suffix}"])
        step = width / inputs[f"Q{suffix}"]
        columns[name] = decimal_column(
            inputs[f"lower{suffix}"], inputs[f"upper{suffix}"], step
        )
    share = {"spend": "{share: 1}"}
    statistics = {"mean": {"mean": "x"} | share}
    if known:
        statistics |= {
            "total": {"sum": "x"} | share,
            "variance": {"variance": "x"} | share,
            "covariance": {"covariance": "[x, y]"} | share,
        }
    return make_spec(
        columns,
        statistics,
        rows=f"{{{'exactly' if known else 'at_most'}: {len(expect['u'])}}}",
        neighbours="replace_one" if known else "add_remove",
        mechanism="snapping",
    )


@pytest.mark.parametrize("case", cases("statistics"), ids=label)
def test_the_planned_measures_give_the_golden_integers(case: Case) -> None:
    """Sums, centred sums, variances and covariances are exact on the planned grid."""
    expect, moments = case["expect"], moments_of(case["expect"])
    steps = {step.name: step for step in planned(integers_of(case, known=True)).steps}
    mean = steps["mean"]
    assert case["input"]["Q"] == mean.grids[0].steps
    total = evaluate(mean.parts[0].measure, moments)
    assert int(expect["sum_u"]) == total
    assert int(expect["delta_sum"]) == mean.parts[0].measure.sensitivity
    user = mean.readout.offset + mean.readout.scale * total
    assert Fraction(expect["mean_user"]) == user
    loose = planned(integers_of(case, known=False)).step("mean")
    centred = evaluate(loose.parts[1].measure, moments)
    assert int(expect["centred_sum"]) == centred
    ratio = loose.readout.middle + loose.readout.scale * Fraction(centred, moments["n"])
    assert Fraction(expect["mean_user"]) == ratio
    for name, golden, delta in (
        ("variance", "N", "delta_N"),
        ("covariance", "C", "delta_C"),
    ):
        step = steps[name]
        wanted = [case["input"]["Q"], case["input"]["Q2"]][: len(step.grids)]
        if [grid.steps for grid in step.grids] != wanted:
            # No plan multiplies numbers of more than 31 bits; below, without a plan.
            assert max(wanted) > 2**31
            continue
        value = evaluate(step.parts[0].measure, moments)
        assert int(expect[golden]) == value
        assert int(expect[delta]) == step.parts[0].measure.sensitivity
        user = step.readout.offset + step.readout.scale * value
        assert Fraction(expect[f"{name}_user"]) == user


@pytest.mark.parametrize("case", cases("statistics"), ids=label)
def test_the_statistics_give_the_golden_integers_on_any_grid(case: Case) -> None:
    """What no plan would choose is checked on the statistics: grids and their error."""
    inputs, expect = case["input"], case["expect"]
    grids = tuple(
        Grid(
            column=name,
            lower=Fraction(inputs[f"lower{suffix}"]),
            upper=Fraction(inputs[f"upper{suffix}"]),
            steps=inputs[f"Q{suffix}"],
            error=Fraction(1, 2),
        )
        for name, suffix in (("x", ""), ("y", "2"))
    )
    moments = moments_of(expect)
    for name, count, golden, delta in (
        ("mean", 1, "sum_u", "delta_sum"),
        ("variance", 1, "N", "delta_N"),
        ("covariance", 2, "C", "delta_C"),
    ):
        setting = Setting(
            replace=True,
            known=True,
            rows=moments["n"],
            rows_each=1,
            cells_each=1,
            cells=1,
            grids=grids[:count],
            unit_names=(None,) * count,
        )
        found = STATISTICS[name].describe(setting)  # type: ignore[index]
        (measure,) = found.measures
        value = evaluate(measure, moments)
        assert int(expect[golden]) == value
        assert int(expect[delta]) == measure.sensitivity
        assert Fraction(expect[f"quant_error_{name}"]) == found.quantisation
        if name != "mean":
            coarse = (Fraction(value << inputs["r"], measure.sensitivity)) + Fraction(
                1, 2
            )
            assert int(expect[f"G_{name}"]) == coarse.__floor__()
