"""Faults as documents: JSON, annotations of GitHub, SARIF."""

from __future__ import annotations

from dpql.cli.ui.faults import as_github, as_json, as_sarif
from dpql.errors import Diagnostic, Span

SPAN = Span(source="a,b.yaml", line=3, column=5, end_line=3, end_column=9)
FAULT = Diagnostic("DPQL301", "no column `x`\n%", span=SPAN, hint="say y")


def test_json_holds_every_member() -> None:
    """Positions are numbers; what a fault lacks is null."""
    assert as_json([FAULT, Diagnostic("DPQL800", "refused")]) == [
        {
            "code": "DPQL301",
            "message": "no column `x`\n%",
            "hint": "say y",
            "path": "a,b.yaml",
            "line": 3,
            "column": 5,
            "end_line": 3,
            "end_column": 9,
        },
        {
            "code": "DPQL800",
            "message": "refused",
            "hint": None,
            "path": None,
            "line": None,
            "column": None,
            "end_line": None,
            "end_column": None,
        },
    ]


def test_annotations_cannot_be_forged() -> None:
    """A line break, a comma or a per cent sign of an author ends no property."""
    text = as_github([FAULT])
    assert text.startswith("::error file=a%2Cb.yaml,line=3,endLine=3,col=5,")
    assert (1, True) == (text.count("\n"), text.endswith("\n"))
    assert "%25" in text


def test_sarif_names_each_rule_once() -> None:
    """Two faults of one code refer to one rule."""
    (run,) = as_sarif([FAULT, FAULT])["runs"]
    assert ["DPQL301"] == [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [0, 0] == [result["ruleIndex"] for result in run["results"]]
