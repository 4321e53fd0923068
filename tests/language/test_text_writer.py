"""A tree becomes query text, one statement to a line, each with its path."""

from __future__ import annotations

from language.samples import REFERENCE

from dpql.language import format_text
from dpql.language.source import Source
from dpql.language.text_reader import read
from dpql.language.text_writer import text_lines

EXPECTED = {
    ("release",): 'release district_wages_2025 "Monthly wage tables by district."',
    ("data",): "from wages with at most 2_000_000 rows",
    ("data", "columns", "person_id"): "  person_id  id",
    ("data", "columns", "age"): ("  age        integer [16, 100] year, drop nulls"),
    ("data", "columns", "district"): (
        "  district   category {north, east, south, west}"
    ),
    ("privacy",): "protect person_id giving at most 3 rows in at most 1 group",
    ("privacy", "epsilon"): "  under add_remove spending epsilon 1.0, delta 0",
    ("defaults",): "default alpha 0.05, gamma 1e-9",
    ("statistics", "headcount"): (
        "headcount = count rows by district spend accuracy 60"
    ),
    ("statistics", "ages"): (
        "ages      = histogram age bins [16, 25, 65, 100] using geometric spend share 1"
    ),
}


def test_every_unit_is_a_line() -> None:
    """Names are aligned, and nothing that was left out is written."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    lines = text_lines(read(Source("spec.dpql", text)))
    assert text == "".join(f"{line}\n" for _, line in lines)
    found = dict(lines)
    assert EXPECTED == {path: found[path] for path in EXPECTED}
