"""The text form of a spec."""

from __future__ import annotations

import pytest
from language.diagnostics import diagnose
from language.samples import REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load_text


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        (' "Monthly wage tables by district."', "", "the spec has no `purpose`"),
        (" with at most 2_000_000 rows", "", "DPQL340 there is no dataset file"),
        ("default alpha", "default alpha 1/2, alpha", "DPQL103 `alpha` is given twice"),
        (" spend share 2", "", "DPQL201 `wage_mean` has no `spend`"),
        ("spend share 2", "spend share 2 spend share 1", "`spend` is given twice"),
        ("age >= 18", "\n or ".join(["not " * 40 + "age >= 18"] * 2), "DPQL125"),
    ],
)
def test_poor_query_texts_are_explained_in_plain_words(
    right: str, wrong: str, expected: str
) -> None:
    """The text form shares the checks of YAML."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    assert right in text
    assert expected in diagnose(text.replace(right, wrong, 1), "dpql")


def test_faults_of_the_text_form_have_spans_too() -> None:
    """The caret is as good in query text as in YAML."""
    text = format_text(REFERENCE, form="yaml", to="dpql").replace("== north", "== nort")
    expected = (
        "f:12:55: DPQL319 `nort` is not a key of `district` (did you mean `north`?)"
    )
    assert expected == diagnose(text, "dpql")


def test_a_fault_in_an_expression_over_several_lines_has_its_own_line() -> None:
    """Remarks between the lines, and quotes with dashes in them, move no word."""
    text = format_text(REFERENCE, form="yaml", to="dpql").replace(
        "where age >= 18 and district == north",
        "where age >= 18 -- adults\n  and district in ['a--b',\n    north] -- 'x\n"
        "  and agee > 1",
    )
    with pytest.raises(SpecError) as caught:
        load_text(text, form="dpql")
    marked = [
        fault.span.first_line[fault.span.column - 1 : fault.span.end_column - 1]
        for fault in caught.value.diagnostics
        if fault.span is not None
    ]
    assert ["'a--b'", "agee"] == marked
