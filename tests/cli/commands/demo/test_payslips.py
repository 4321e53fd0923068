"""The made-up payslips."""

from __future__ import annotations

import pytest

from dpql.cli.commands.demo.payslips import wages

pytestmark = pytest.mark.cli


def test_the_sample_is_the_same_at_every_making() -> None:
    """It has several rows a person, missing cells and typing errors."""
    text = wages(2_000)
    assert text == wages(2_000)
    lines = text.splitlines()[1:]
    people = {line.split(",")[0] for line in lines}
    assert 2 * len(people) < len(lines) < 4 * len(people)
    assert any(line.endswith(",") for line in lines)
    assert any(line.endswith("n/a") for line in lines)
    assert any("abroad" in line for line in lines)
