"""Derived columns as a reviewer reads them."""

from __future__ import annotations

from review.derived_plans import FAR, GAINED, LATE, LONG, MONTH, MUCH, planned

from dpql.review.derived import derived_lines, expression_text

PLAN = planned({"gained": GAINED, "late": LATE, "much": MUCH, "far": FAR, "m": MONTH})
LINES = derived_lines(PLAN.spec.data)


def test_a_line_says_what_can_come_out_and_what_is_read() -> None:
    """Numbers have bounds and steps, keys are counted, and nulls are told."""
    assert [
        (
            "gained = left - arrived: [-100, 100] in Q = 200 steps of 1, or null; "
            "reads arrived, left"
        ),
        "late = arrived > 15: true or false, or null; reads arrived",
        "much = gained > 15: true or false, or null; reads gained",
        (
            'far = bands(left, [0, 50, 100]): 2 keys "[0, 50)", "[50, 100]", or null; '
            "reads left"
        ),
        (
            'm = month(when): 12 keys "2013-01", "2013-02", "2013-03", ..., "2013-12", '
            "or null; reads when"
        ),
    ] == [str(line) for line in LINES]


def test_a_document_has_the_exact_numbers() -> None:
    """Bounds, step and Q are exact texts; keys are all there."""
    gained, late, *_, month = (line.document() for line in LINES)
    assert {
        "name": "gained",
        "expression": "left - arrived",
        "kind": "number",
        "nullable": True,
        "reads": ["arrived", "left"],
        "lower": "-100",
        "upper": "100",
        "step": "1",
        "Q": "200",
    } == gained
    assert ("boolean", "1") == (late["kind"], late["Q"])
    assert ["2013-01", "2013-12"] == [month["keys"][0], month["keys"][-1]]


def test_of_a_long_map_the_beginning_is_shown() -> None:
    """What is left out is counted."""
    text = expression_text(LONG)
    assert text.startswith('map(region, {"R1": "R1')
    assert text.endswith("... (37 characters more in the plan)")
