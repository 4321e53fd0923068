"""Tables are cut to the width of the terminal."""

from __future__ import annotations

import re

import pytest
from cli.started import dpql, fine
from cli.terminal import shown_on_a_terminal

from dpql.cli.ui.table_width import fit_width

pytestmark = pytest.mark.cli


@pytest.mark.parametrize("width", [200, 100, 84, 70, 50, 40])
def test_narrow_terminals_get_narrow_tables(width: int) -> None:
    """No line is wider than the terminal, and no word is lost but the bars."""
    text = fine(dpql("plan", "specs/district_wages.yaml"))
    narrow = fit_width(text, width)
    assert max(map(len, narrow.splitlines())) <= width
    words = {word for word in text.split() if not set(word) & set("█░─")}
    assert words - {"statistic"} <= {*narrow.split()}


@pytest.mark.parametrize(
    ("width", "bars", "rule"),
    [(200, True, True), (80, False, True), (60, False, False)],
)
def test_a_table_gives_up_as_little_as_it_must(
    *, width: int, bars: bool, rule: bool
) -> None:
    """A usual terminal gets a table, without bars; a narrow one gets lists."""
    narrow = fit_width(fine(dpql("plan", "specs/district_wages.yaml")), width)
    assert (bars, rule) == ("█" in narrow, "─" in narrow)
    if rule:
        heading, _, *rows = narrow.splitlines()[2:7]
        column = heading.index("within")
        assert ["± 60", "known after the run", "± 32"] == [row[column:] for row in rows]


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "specs/district_wages.yaml"),
        ("plan", "specs/district_wages.yaml", "--set", "epsilon=1/2"),
        ("show", "specs/income.plan.json"),
        ("diff", "specs/income.yaml", "specs/district_wages.yaml"),
        ("explain", "epsilon"),
    ],
    ids=" ".join,
)
def test_a_terminal_is_measured(columns: int, arguments: tuple[str, ...]) -> None:
    """Whatever is shown fits the columns that the terminal has."""
    text = shown_on_a_terminal(columns, *arguments)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(len, plain.splitlines())) <= columns
