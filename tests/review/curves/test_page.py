"""The page of curves: the planner's numbers, inert text, a strict policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cli.started import SPECS, WAGES, dpql

import dpql as library
from dpql.model.figures import equal_to, rational, within_text
from dpql.model.plan import Plan
from dpql.model.spec import Epsilon
from dpql.review.alternatives import error_at
from dpql.review.curves import page
from dpql.review.curves.points import (
    StepCurves,
    row_counts,
    step_curves,
    totals,
    variants,
)
from dpql.review.explain import guarantee

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def _data(text: str) -> Any:
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.heavy
def test_a_promised_number_of_rows_is_said() -> None:
    """A curve that rests on `at_least` says so below it."""
    text = page(library.plan(SPECS / "waiting_times.yaml"))
    words = (
        "holds only if every group has at least 5 000 rows; dpql does not check that."
    )
    assert 1 == text.count(words)


@pytest.mark.heavy
def test_a_curve_of_a_private_count_says_for_how_many_rows_it_is() -> None:
    """Where no count is promised, the note below the curve names the one used."""
    text = page(library.plan(WAGES))
    words = 'Shown for <output class="rows">1 000</output> rows.'
    assert 1 == text.count(words)


@pytest.mark.heavy
def test_derived_columns_are_told_and_errors_that_nobody_knows() -> None:
    """The page says what the plan says; without an error there is no curve."""
    text = unescape(page(library.plan(SPECS / "sensor_hours.yaml")))
    assert "<dt>derived</dt><dd>warmer = inside - outside: [-55, 70] in Q = " in text
    assert 1 == text.count("Its error is known after a run only.")
    shown = _data(page(library.plan(SPECS / "sensor_hours.yaml")))["statistics"]
    assert [False] == [bool(one["points"]) for one in shown if not one["points"]]
    assert text.count("<section") == len(shown) == text.count("<svg") + 1


@pytest.mark.heavy
def test_every_point_is_the_planners() -> None:
    """Each error on the page is what the planner states for its epsilon."""
    plan = library.plan(WAGES)
    shown = _data(page(plan))["statistics"]
    for each, series in zip(step_curves(plan), shown, strict=True):
        curve = next(c for c in each.curves if c.mechanism == each.step.mechanism)
        assert len(curve.points) == len(series["points"])
        for (epsilon, _), point in zip(curve.points, series["points"], strict=True):
            step = each.step
            error = error_at(
                plan, step, step.mechanism, epsilon, rows=step.at_least or 1_000
            )
            assert error is not None
            assert point["within"] == within_text(error, step.unit)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", ["smallest_mean", "energy_use", "waiting_times", "train_punctuality"]
)
def test_specs_of_every_kind_are_drawn(name: str) -> None:
    """Known and unknown counts, floats and shares all have curves inside the axes."""
    plan = library.plan(SPECS / f"{name}.yaml")
    for series in _data(page(plan))["statistics"]:
        assert len(series["points"]) > 50
        assert all(0 <= point["x"] <= 400 for point in series["points"])
        assert all(0 <= point["y"] <= 236 for point in series["points"])


class _Reader(HTMLParser):
    """Notes what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = ""
        self.references: list[str] = []
        self.handlers: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at every attribute."""
        self.tags.append(tag)
        named = dict(attrs)
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"] or ""
        for name, value in attrs:
            if name in {"src", "href", "srcset", "action", "data", "poster"}:
                self.references.append(value or "")
            if name.startswith("on") or name == "style":
                self.handlers.append(name)


@pytest.mark.heavy
def test_the_page_loads_nothing_and_runs_one_script() -> None:
    """The policy names the hashes of the style and the script, and nothing else."""
    text = page(library.plan(WAGES))
    reader = _Reader()
    reader.feed(text)
    assert ([], []) == (reader.references, reader.handlers)
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in reader.policy
    assert "default-src 'none'" in reader.policy
    assert "unsafe" not in reader.policy


@pytest.mark.heavy
def test_hostile_words_are_inert() -> None:
    """Markup, braces and an end of script in names stay text."""
    plan = library.plan(WAGES)
    hostile = "</script><script>alert(1)</script>{{script}}\u202e"
    step = replace(plan.steps[0], name=hostile, unit=hostile)
    spec = replace(plan.spec, release=hostile, purpose=hostile)
    renamed = (replace(spec.statistics[0], name=hostile), *spec.statistics[1:])
    forged = replace(
        plan,
        spec=replace(spec, statistics=renamed),
        steps=(step, *plan.steps[1:]),
    )
    sober, text = _Reader(), page(forged)
    reader = _Reader()
    sober.feed(page(plan))
    reader.feed(text)
    assert sober.tags == reader.tags
    assert "\u202e" not in text


browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def _browsed(folder: Path, text: str, script: str = "") -> tuple[str, str]:
    """Open a page in a browser without a network; return its end and the console.

    A script of ours is let in by its hash, beside the page's own.
    """
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        text = text.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
        text = text.replace("</body>", f"<script>{script}</script></body>")
    target = folder / "page.html"
    target.write_text(text, "utf-8")
    assert CHROMIUM is not None
    run = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--proxy-server=127.0.0.1:9",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            target.as_uri(),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=True,
    )
    said = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return run.stdout, "\n".join(said)


MOVES = """
const total = document.getElementById("total");
const slide = (input, value) => {
  input.value = value;
  input.dispatchEvent(new Event("input"));
};
const seen = POSITIONS.map(([step, shares]) => {
  slide(total, step);
  document.querySelectorAll("input.share").forEach((s, i) => slide(s, shares[i]));
  return {
    total: document.getElementById("total-text").textContent,
    warning: !document.getElementById("warning").hidden,
    within: [...document.querySelectorAll(".within")].map((o) => o.textContent),
    epsilon: [...document.querySelectorAll(".epsilon")].map((o) => o.textContent),
  };
});
document.getElementById("back").click();
const back = [...document.querySelectorAll(".within")].map((o) => o.textContent);
const box = document.createElement("pre");
box.id = "seen";
box.textContent = JSON.stringify({ seen, back });
document.body.append(box);
"""


def _looked_up(each: StepCurves, plan: Plan, epsilon: Fraction) -> tuple[str, str]:
    """Return what a card must show: the planner's error on its grid, never a better."""
    step = each.step
    curve = next(c for c in each.curves if c.mechanism == step.mechanism)
    point = max((e for e, _ in curve.points if e <= epsilon), default=None)
    if point is None:
        return "too little", "0"
    error = error_at(plan, step, step.mechanism, point, rows=step.at_least or 1_000)
    assert error is not None
    return within_text(error, step.unit), rational(point)


@browser
@pytest.mark.parametrize("name", ["district_wages", "energy_use"])
def test_sliders_show_the_planners_numbers(name: str, tmp_path: Path) -> None:
    """Total and shares are moved in a browser; every reading is on a planner's grid."""
    plan = library.plan(SPECS / f"{name}.yaml")
    offered, cards = totals(plan), step_curves(plan)
    open_ = [each for each in cards if each.weight is not None]
    fixed = sum(each.step.epsilon for each in cards if each.weight is None)
    positions = [
        (step, [notch * (-1) ** n for n in range(len(open_))])
        for step in range(0, len(offered), 4)
        for notch in (0, 2, 4)
    ]
    script = MOVES.replace("POSITIONS", json.dumps(positions))
    dom, said = _browsed(tmp_path, page(plan), script)
    assert said == ""
    found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None
    shown = json.loads(unescape(found[1]))
    for (step, notches), seen in zip(positions, shown["seen"], strict=True):
        total = offered[step]
        assert f"ε {equal_to(total)}: {guarantee(plan, total)}" == seen["total"]
        left = offered[step] - fixed
        assert seen["warning"] == (left <= 0)
        weights = {
            each.step.name: (each.weight or 0) * Fraction(2) ** (notch // 2)
            for each, notch in zip(open_, notches, strict=True)
        }
        for each, *reading in zip(cards, seen["within"], seen["epsilon"], strict=True):
            share = weights.get(each.step.name)
            if share is None:
                epsilon = each.step.epsilon
            else:
                epsilon = left * share / sum(weights.values())
            assert tuple(reading) == _looked_up(each, plan, epsilon)
    planned = [_looked_up(each, plan, each.step.epsilon)[0] for each in cards]
    assert planned == shown["back"]


SLIDES = """
const slide = (id, value) => {
  const input = document.getElementById(id);
  input.value = value;
  input.dispatchEvent(new Event("input"));
};
const seen = POSITIONS.map(([rows, contributes]) => {
  slide("rows", rows);
  slide("contributes", contributes);
  return {
    rows: document.getElementById("rows-text").textContent,
    contributes: document.getElementById("contributes-text").textContent,
    within: [...document.querySelectorAll(".within")].map((o) => o.textContent),
    epsilon: [...document.querySelectorAll(".epsilon")].map((o) => o.textContent),
    weight: [...document.querySelectorAll(".weight")].map((o) => o.textContent),
  };
});
const box = document.createElement("pre");
box.id = "seen";
box.textContent = JSON.stringify(seen);
document.body.append(box);
"""


@browser
def test_rows_and_contributions_slide_along_plans(tmp_path: Path) -> None:
    """What is shown for other contributions is what another plan would state."""
    plan = library.plan(WAGES)
    counts, varied = row_counts(plan), variants(plan)
    positions = [(row, number) for row in (0, 2) for number in range(len(varied))]
    script = SLIDES.replace("POSITIONS", json.dumps(positions))
    dom, said = _browsed(tmp_path, page(plan), script)
    assert said == ""
    found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None
    for (row, number), seen in zip(
        positions, json.loads(unescape(found[1])), strict=True
    ):
        made = varied[number].plan
        assert counts[row] == int(seen["rows"].replace(" ", ""))
        assert varied[number].rows == int(seen["contributes"])
        assert ["2", "1"] == seen["weight"]
        for step, *reading in zip(
            made.steps, seen["within"], seen["epsilon"], strict=True
        ):
            error = error_at(made, step, step.mechanism, step.epsilon, rows=counts[row])
            assert error is not None
            words = within_text(error, step.accuracy_unit), rational(step.epsilon)
            assert words == tuple(reading)


@browser
def test_the_policy_holds_in_a_browser(tmp_path: Path) -> None:
    """The page breaks no rule of its own; a script, handler or picture put in does."""
    text = page(library.plan(WAGES))
    dom, said = _browsed(tmp_path, text)
    assert ("", True) == (said, "scripted" in dom)
    for planted in (
        "<script>document.body.id='bad'</script>",
        "<img src=x onerror=\"document.body.id='bad'\">",
        "<style>body{color:red}</style>",
    ):
        dom, said = _browsed(tmp_path, text.replace("</body>", f"{planted}</body>"))
        assert "Content Security Policy" in said
        assert 'id="bad"' not in dom


def test_pages_without_shares_say_so() -> None:
    """No slider where nothing can slide, none for a share that has no rival."""
    plan = library.plan(SPECS / "smallest_mean.yaml")
    assert ("total" in page(plan), 'class="share"' in page(plan)) == (True, False)
    still = replace(plan.steps[0], spend=Epsilon(value=plan.epsilon))
    text = page(replace(plan, steps=(still,)))
    assert "no slider can change it" in text
    assert 'id="total"' not in text


@pytest.mark.cli
def test_the_page_is_written(tmp_path: Path) -> None:
    """The command writes the page and still shows the table."""
    target = tmp_path / "wages.html"
    run = dpql("plan", WAGES, "--html", target)
    assert (0, True) == (run.returncode, run.stdout.startswith(str(WAGES)))
    assert page(library.plan(WAGES)) == target.read_text("utf-8")
