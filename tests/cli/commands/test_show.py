"""`dpql show`: plans and releases in every form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.released import release_in
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_release_is_shown_in_every_form(released: Path) -> None:
    """Text, Markdown, HTML, CSV and JSON; showing says that it verifies nothing."""
    name = release_in(released)
    for form, word in (
        ("text", "release district_wages_2025"),
        ("markdown", "district"),
        ("html", "<!doctype html>"),
        ("csv", "statistic,district,"),
        ("json", '"predicate"'),
    ):
        run = dpql("show", name, "--format", form, folder=released)
        assert run.returncode == 0
        assert "not verified" in run.stderr
        assert word in run.stdout
    csv = dpql("show", name, "--format", "csv", folder=released).stdout
    assert (name / "release.csv").read_text("utf-8") == csv


def test_a_plan_is_shown(released: Path) -> None:
    """The same command shows plans; a picture is refused."""
    assert "headcount" in fine(dpql("show", "wages.plan.json", folder=released))
    assert json.loads(
        fine(dpql("show", "wages.plan.json", "--format", "json", folder=released))
    )
    picture = released / "photo.png"
    picture.write_bytes(b"\x89PNG")
    refused(dpql("show", picture, folder=released), 1, "DPQL803")
    refused(dpql("show", "wages.plan.json", "--format", "csv", folder=released), 2)
