"""The page of curves: the planner's numbers, inert text, a strict policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cli.started import SPECS, WAGES, dpql

import dpql as library
from dpql.cli.curves import page
from dpql.cli.curves.grid import drawn, totals
from dpql.planner.alternatives import error_at
from dpql.planner.figures import within_text

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def _data(text: str) -> Any:
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_every_point_is_the_planners() -> None:
    """Each error on the page is what the planner states for its epsilon."""
    plan = library.plan(WAGES)
    shown = _data(page(plan))["statistics"]
    for each, series in zip(drawn(plan), shown, strict=True):
        curve = next(c for c in each.curves if c.mechanism == each.step.mechanism)
        assert len(curve.points) == len(series["points"])
        for (epsilon, _), point in zip(curve.points, series["points"], strict=True):
            step = each.step
            error = error_at(
                plan, step, step.mechanism, epsilon, rows=step.at_least or 1_000
            )
            assert error is not None
            assert point["within"] == within_text(error, step.unit)


def test_the_plan_itself_is_on_every_grid() -> None:
    """The sliders start at what is planned."""
    plan = library.plan(WAGES)
    assert plan.epsilon in totals(plan)
    for each in drawn(plan):
        for curve in each.curves:
            assert each.step.epsilon in dict(curve.points)


@pytest.mark.parametrize("name", ["smallest_mean", "energy_use", "waiting_times"])
def test_specs_of_every_kind_are_drawn(name: str) -> None:
    """Known and unknown counts, floats and shares all have curves inside the axes."""
    plan = library.plan(SPECS / f"{name}.yaml")
    for series in _data(page(plan))["statistics"]:
        assert len(series["points"]) > 50
        assert all(0 <= point["x"] <= 460 for point in series["points"])
        assert all(0 <= point["y"] <= 250 for point in series["points"])


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


def test_hostile_words_are_inert() -> None:
    """Markup, braces and an end of script in names stay text."""
    plan = library.plan(WAGES)
    hostile = "</script><script>alert(1)</script>{{script}}\u202e"
    step = replace(plan.steps[0], name=hostile, unit=hostile)
    spec = replace(plan.spec, release=hostile, purpose=hostile)
    asks = (replace(spec.statistics[0], name=hostile), *spec.statistics[1:])
    forged = replace(
        plan,
        spec=replace(spec, statistics=asks),
        steps=(step, *plan.steps[1:]),
    )
    sober, text = _Reader(), page(forged)
    reader = _Reader()
    sober.feed(page(plan))
    reader.feed(text)
    assert sober.tags == reader.tags
    assert "\u202e" not in text


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_sliders_move_in_a_browser(tmp_path: Path) -> None:
    """Half the total shows the planner's error at half the shares, never a better."""
    plan = library.plan(WAGES)
    text = page(plan)
    offered = totals(plan)
    index = offered.index(plan.epsilon / 2)
    move = (
        f'const t=document.getElementById("total");t.value={index};'
        't.dispatchEvent(new Event("input"));'
    )
    digest = base64.b64encode(hashlib.sha256(move.encode()).digest()).decode()
    text = text.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    text = text.replace("</body>", f"<script>{move}</script></body>")
    target = tmp_path / "page.html"
    target.write_text(text, "utf-8")
    assert CHROMIUM is not None
    dom = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            target.as_uri(),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    ).stdout
    shown = re.findall(r'class="within">([^<]*)<', dom)
    ages = plan.step("ages")
    fixed = plan.step("headcount").epsilon
    epsilon = (plan.epsilon / 2 - fixed) / 3
    exact = error_at(plan, ages, ages.mechanism, epsilon, rows=None)
    assert exact is not None
    assert shown[0] == within_text(plan.step("headcount").accuracy or exact, None)
    assert exact <= int(shown[2].removeprefix("± ")) <= exact * 5 / 4


@pytest.mark.cli
def test_the_page_is_written(tmp_path: Path) -> None:
    """The command writes the page and still shows the table."""
    target = tmp_path / "wages.html"
    run = dpql("plan", WAGES, "--html", target)
    assert (0, True) == (run.returncode, run.stdout.startswith(str(WAGES)))
    assert page(library.plan(WAGES)) == target.read_text("utf-8")
