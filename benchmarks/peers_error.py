"""Writes benchmarks/ERRORS.md: errors at equal epsilon, beside what OpenDP gives.

Run by hand: `make bench-errors`, a few minutes on one processor; `--quick` draws a
tenth. Rows are units, add_remove, n is private. OpenDP adds its own noise to the sums
that its users build means and variances of; both sides start from the same rows, and
exact sums are made once, since they are the same in every run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

from dpql import __version__, load, plan
from dpql.mechanisms import CHOOSERS, MECHANISMS
from dpql.model.plan import Step
from dpql.statistics.reading import reader_of
from dpql.testing import SeededBits

HERE = Path(__file__).parent
STEPS = 1_000
"""The column is 0..1000 by whole numbers, so its width is 1000."""

SIZES = (1_000, 100_000)
EPSILONS = (Fraction(1), Fraction(1, 10))
RUNS, CHOICES = 20_000, 2_000
Floats = NDArray[np.float64]

SPEC = """\
dpql: 1
release: errors
purpose: Errors beside those of others.
data:
  source: rows
  rows: {{at_most: {rows}}}
  columns:
    p: {{type: id}}
    g: {{type: category, keys: [{keys}]}}
    x: {{type: integer, bounds: [0, {steps}], nulls: drop}}
privacy:
  unit: {unit}
  {contributes}
  epsilon: {epsilon}
statistics:
  it: {{{asked}, spend: {{share: 1}}}}
"""


def planned(
    asked: str, rows: int, epsilon: Fraction, *, unit: str = "row", bound: str = ""
) -> Step:
    """Return the step that answers one statistic with the whole epsilon."""
    text = SPEC.format(
        rows=rows,
        keys=", ".join(f"k{i}" for i in range(36)),
        steps=STEPS,
        unit=unit,
        contributes=f"contributes: {bound}" if bound else "neighbours: add_remove",
        epsilon=float(epsilon),
        asked=asked,
    )
    (step,) = plan(load(text)).steps
    return step


def moments(values: NDArray[np.int64]) -> dict[str, int]:
    """Return the sums that a statistic of one column may need."""
    return {
        "n": len(values),
        "u": int(values.sum()),
        "uu": int((values * values).sum()),
    }


def ours(step: Step, sums: dict[str, int], runs: int) -> Floats:
    """Return what so many releases of one cell say."""
    bits = SeededBits(f"{step.statistic} {sums} {step.epsilon}")
    columns = []
    for part in step.parts:
        module: Any = MECHANISMS[part.noise.mechanism]
        noise = module.restore(dict(part.noise.parameters))
        measure = part.measure
        exact = 0
        for term in measure.terms:
            exact += term.coefficient * int(np.prod([sums[m] for m in term.moments]))
        value = int(exact * measure.scale)
        outcomes = module.perturb_many(
            noise, [value] * runs, bits, lower=measure.lower, upper=measure.upper
        )
        columns.append([module.outcome(noise, int(index)) for index in outcomes])
    read = reader_of(step)
    known: dict[Any, float] = {}
    found = []
    for noisy in zip(*columns, strict=True):
        if noisy not in known:
            known[noisy] = float(
                noisy[0] if step.statistic in ("count", "sum") else read(noisy).value
            )
        found.append(known[noisy])
    return np.array(found)


def laplace(exact: int, scale: float, runs: int) -> Floats:
    """Return OpenDP's noisy whole numbers."""
    measurement = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=scale
    )
    return np.array(measurement([exact] * runs), dtype=np.float64)


def rmse(found: Floats, truth: float) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def near(centre: float, rows: int) -> NDArray[np.int64]:
    """Return rows close to a centre of the range, with their mean there."""
    around = np.arange(rows) % 21 - 10
    return np.clip(np.int64(centre * STEPS) + around, 0, STEPS)


def theirs_mean(sums: dict[str, int], epsilon: float, runs: int) -> Floats:
    """Return means of a count and a centred sum, half of epsilon each."""
    count = laplace(sums["n"], 2 / epsilon, runs)
    centred = laplace(2 * sums["u"] - STEPS * sums["n"], 2 * STEPS / epsilon, runs)
    return STEPS / 2 + np.clip(centred / 2 / np.maximum(count, 1), -500, 500)


def theirs_variance(sums: dict[str, int], epsilon: float, runs: int) -> Floats:
    """Return variances of a count, a centred sum and centred squares, a third each."""
    n, u, uu = sums["n"], sums["u"], sums["uu"]
    count = np.maximum(laplace(n, 3 / epsilon, runs), 1)
    centred = laplace(2 * u - STEPS * n, 3 * STEPS / epsilon, runs)
    # Twice (2u - Q)^2 - Q^2/2 lies within Q^2 of 0.
    exact = 2 * (4 * uu - 4 * STEPS * u + STEPS**2 * n) - STEPS**2 * n
    squares = laplace(exact, 3 * STEPS**2 / epsilon, runs)
    second = (squares / count + STEPS**2) / 2
    return np.clip((second - (centred / count) ** 2) / 4, 0, STEPS**2 / 4)


Row = tuple[str, ...]


def figure(number: float) -> str:
    """Return a number as the tables have it."""
    return f"{number:.3g}" if number < 100 else f"{number:,.0f}"


def moments_table(runs: int) -> list[Row]:
    """Return the errors of means and variances in units of width / (n epsilon)."""
    table = []
    goals = {"mean": (1.03, 1.16, 1.32), "variance": (0.62, None, 1.2)}
    for kind, theirs in (("mean", theirs_mean), ("variance", theirs_variance)):
        for centre, goal in zip((0.5, 0.25, 0.1), goals[kind], strict=True):
            for rows in SIZES:
                sums = moments(near(centre, rows))
                mean = sums["u"] / rows
                truth = mean if kind == "mean" else sums["uu"] / rows - mean**2
                for epsilon in EPSILONS:
                    step = planned(f"{kind}: x", rows, epsilon)
                    power = 1 if kind == "mean" else 2
                    unit = STEPS**power / (rows * float(epsilon))
                    mine = rmse(ours(step, sums, runs // 4), truth) / unit
                    other = rmse(theirs(sums, float(epsilon), runs), truth) / unit
                    table.append(
                        (
                            kind,
                            f"{centre:g}",
                            f"{rows:,}",
                            f"{float(epsilon):g}",
                            figure(mine),
                            figure(other),
                            f"{mine / other:.2f}",
                            "" if goal is None else f"{goal:g}",
                        )
                    )
    return table


def counts_table(runs: int) -> list[Row]:
    """Return the errors of counts, sums and counts of people, in rows or steps."""
    table = []
    for name, asked, key, scale in (
        ("count", "count: rows", "n", 1),
        ("sum", "sum: x", "u", STEPS),
    ):
        for rows in SIZES:
            sums = moments(near(0.25, rows))
            for epsilon in EPSILONS:
                step = planned(asked, 2 * rows, epsilon)
                mine = rmse(ours(step, sums, runs), sums[key])
                noisy = laplace(sums[key], scale / float(epsilon), runs)
                table.append(_pair(name, rows, epsilon, mine, rmse(noisy, sums[key])))
    bound = "{rows: 50, groups: 36, total: 60}"
    for rows in SIZES:
        for epsilon in EPSILONS:
            step = planned(
                "count: rows, by: [g]", 2 * rows, epsilon, unit="p", bound=bound
            )
            mine = rmse(ours(step, {"n": rows}, runs), rows)
            noisy = laplace(rows, 60 / float(epsilon), runs)
            name = "rows of people, at most 60 in all"
            table.append(_pair(name, rows, epsilon, mine, rmse(noisy, rows)))
    return table


def _pair(name: str, rows: int, epsilon: Fraction, mine: float, other: float) -> Row:
    numbers = (figure(mine), figure(other), f"{mine / other:.2f}")
    return name, f"{rows:,}", f"{float(epsilon):g}", *numbers


def tables_of_rows(rows: int) -> dict[str, NDArray[np.int64]]:
    """Return how many rows each of the 1001 values has."""
    even = np.full(STEPS + 1, rows // (STEPS + 1))
    even[: rows - int(even.sum())] += 1
    five = np.zeros(STEPS + 1, dtype=np.int64)
    five[[100, 200, 300, 700, 900]] = np.array([10, 45, 15, 18, 12]) * rows // 100
    return {"even": even, "five values": five}


def distance(counts: NDArray[np.int64], at: Fraction, index: int) -> float:
    """Return how far the wanted rank is from those of a value, in rows."""
    upto = int(counts[: index + 1].sum())
    below, wanted = upto - int(counts[index]), float(at * int(counts.sum()))
    return max(0.0, below - wanted, wanted - upto)


def opendp_choices(
    counts: NDArray[np.int64], at: Fraction, epsilon: float, runs: int
) -> list[int]:
    """Return the candidates that OpenDP's private quantile chooses."""
    domain = dp.vector_domain(dp.atom_domain(T=int))
    score = dp.t.make_quantile_score_candidates(
        domain, dp.symmetric_distance(), list(range(STEPS + 1)), alpha=float(at)
    )

    def choice(scale: float) -> Any:
        return dp.m.make_noisy_max(
            score.output_domain,
            score.output_metric,
            dp.max_divergence(),
            scale=scale,
            negate=True,
        )

    low, high = 0.0, 1e9
    for _ in range(80):
        middle = (low + high) / 2
        too_loud = choice(middle).map(score.map(1)) <= epsilon
        low, high = (low, middle) if too_loud else (middle, high)
    scores = score(np.repeat(np.arange(STEPS + 1), counts).tolist())
    chosen = choice(high)
    return [chosen(scores) for _ in range(runs)]


def our_choices(step: Step, counts: NDArray[np.int64], runs: int) -> Sequence[int]:
    """Return the candidates that a plan's quantile chooses."""
    (pick,) = step.picks
    chooser: Any = CHOOSERS[pick.noise.mechanism]
    noise = chooser.restore(dict(pick.noise.parameters))
    bits = SeededBits(f"{counts.sum()} {pick.epsilon}")
    found: Sequence[int] = chooser.choose_many(noise, [counts] * runs, bits)
    return found


def quantiles_table(runs: int) -> list[Row]:
    """Return the mean distance of ranks, in rows."""
    table = []
    for rows in SIZES:
        for name, counts in tables_of_rows(rows).items():
            for at in (Fraction(1, 2), Fraction(9, 10)):
                for epsilon in EPSILONS:
                    asked = f"quantile: x, at: [{at}]"
                    step = planned(asked, 2 * rows, epsilon)
                    errors = [
                        np.mean([distance(counts, at, index) for index in choices])
                        for choices in (
                            our_choices(step, counts, runs),
                            opendp_choices(counts, at, float(epsilon), runs),
                        )
                    ]
                    mine, other = map(float, errors)
                    ratio = f"{mine / other:.2f}" if other else ""
                    table.append(
                        (
                            f"{at}",
                            name,
                            f"{rows:,}",
                            f"{float(epsilon):g}",
                            figure(mine),
                            figure(other),
                            ratio,
                        )
                    )
    return table


def written(title: str, note: str, heads: Row, rows: list[Row]) -> str:
    """Return a section with its table."""
    lines = [f"## {title}", "", note, "", f"| {' | '.join(heads)} |"]
    lines.append(f"| {' | '.join(['---'] * len(heads))} |")
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


SECTIONS: tuple[tuple[str, str, Row, Callable[[int], list[Row]], int], ...] = (
    (
        "Means and variances",
        (
            "rmse in units of width / (n epsilon), of width squared for variances. The "
            "rows lie close to a centre. OpenDP: a count and sums about the "
            "middle of the range, equal shares of epsilon, which is also how PyDP, "
            "PipelineDP and Tumult Analytics make them."
        ),
        ("", "centre", "n", "epsilon", "dpql", "OpenDP", "ratio", "goal"),
        moments_table,
        RUNS,
    ),
    (
        "Counts and sums",
        (
            "rmse, goal 1.03 times the best; 1.05 for people. Tumult Analytics bounds "
            "the total of a person's rows, too; its noise is that of the column beside."
        ),
        ("", "n", "epsilon", "dpql", "OpenDP", "ratio"),
        counts_table,
        RUNS,
    ),
    (
        "Quantiles",
        (
            "Mean distance, in rows, of the wanted rank from those that the answer "
            "has, among 1,001 candidates. Goal: 1.05 times OpenDP where values are "
            "even, far below where there are five. OpenDP 0.16 permutes and flips, "
            "which is nearer by a fraction of a row; it cannot be composed as tightly."
        ),
        ("at", "rows", "n", "epsilon", "dpql", "OpenDP", "ratio"),
        quantiles_table,
        CHOICES,
    ),
)


def main() -> None:
    """Write the tables."""
    dp.enable_features("contrib")
    part = 10 if "--quick" in sys.argv[1:] else 1
    start = time.monotonic()
    sections = []
    for title, note, heads, make, runs in SECTIONS:
        sections.append(written(title, note, heads, make(runs // part)))
        print(sections[-1], flush=True)
    made = (
        f"`python benchmarks/peers_error.py`, {datetime.now(UTC):%Y-%m-%d}, "
        f"{time.monotonic() - start:.0f} s: dpql {__version__}, "
        f"OpenDP {version('opendp')}.\n"
        f"{RUNS // part:,} runs a figure ({RUNS // part // 4:,} of dpql's means and "
        f"variances), {CHOICES // part:,} of quantiles.\n"
        "PyDP, diffprivlib and Tumult Analytics are not installed beside dpql; what is "
        "said of them is their documented design.\n"
    )
    text = "\n".join(["# Errors at equal epsilon\n", made, *sections])
    if part == 1:
        (HERE / "ERRORS.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
