"""What a spec means, or why it cannot."""

from __future__ import annotations

import pytest
from language.diagnostics import cases, diagnose
from language.samples import REFERENCE

from dpql.errors import SpecError
from dpql.language import load_text
from dpql.model.limits import MOST_ROWS


@pytest.mark.parametrize(("right", "wrong", "expected"), cases("common"))
def test_common_mistakes_are_answered(right: str, wrong: str, expected: str) -> None:
    """Each has its span, its code, and what to write instead."""
    assert expected == diagnose(REFERENCE.replace(right, wrong, 1))


def test_all_faults_come_at_once_and_in_order() -> None:
    """Faults of shape and meaning in different parts are reported together."""
    text = (
        REFERENCE.replace("type: id", "type: di")
        .replace("epsilon: 1.0", "epsilon: 0")
        .replace("mean: wage", "mean: wages")
        .replace("age between", "agee between")
    )
    codes = [line.split()[1] for line in diagnose(text).split("\n")]
    assert codes == ["DPQL209", "DPQL310", "DPQL301", "DPQL301"]


def test_one_mistake_is_reported_once() -> None:
    """A column whose declaration is at fault is still a column."""
    lines = diagnose(REFERENCE.replace("bounds: [16, 100]", "bounds: [16]")).split("\n")
    assert len(lines) == 1


def test_later_stages_can_point_at_the_text() -> None:
    """The spec knows where its parts were written, without being another value."""
    spec = load_text(REFERENCE, source="f", form="yaml")
    span = spec.spans.span("statistics", "wage_mean", "spend", "share")
    assert span is not None
    assert (span.line, span.column) == (28, 20)
    above = spec.spans.span("statistics", "wage_mean", "nothing")
    assert above is not None
    assert above.line == 24
    assert spec.spans.span("nothing") is None


def codes(text: str, form: str = "yaml") -> set[str]:
    """Return the codes that a text provokes."""
    with pytest.raises(SpecError) as caught:
        load_text(text, form=form)
    return {fault.code for fault in caught.value.diagnostics}


def test_rows_fit_in_sixty_two_bits() -> None:
    """The ceiling itself can be declared, one more cannot."""
    load_text(REFERENCE.replace("2_000_000", str(MOST_ROWS)), form="yaml")
    assert codes(REFERENCE.replace("2_000_000", str(MOST_ROWS + 1))) == {"DPQL325"}
