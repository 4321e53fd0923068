"""Faults of shape, in plain words."""

from __future__ import annotations

import pytest
from language.samples import REFERENCE

from dpql.diagnostics import render_concise
from dpql.errors import SpecError
from dpql.language import load_text


def diagnose(text: str, form: str = "yaml") -> str:
    """Return the faults of a text, one to a line."""
    with pytest.raises(SpecError) as caught:
        load_text(text, source="f", form=form)
    return render_concise(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        ("{type: id}", "{}", "`person_id` has no `type`"),
        ("{type: id}", "5", "DPQL203 `person_id` is not a block of keys"),
        ("{alpha: 0.05, gamma: 1e-9}", "{}", "DPQL210 `defaults` has no entries"),
        ("by: [district]", "by: [a, b, c, d, e, f, g, h, i]", "at most 8 belong"),
        ("by: [district]", "by: []", "at least 1 belong"),
        ("mean: wage", "mean: [wage]", "`mean` is a list, where a column name belongs"),
        ("spend: {share: 2}", "spend: {}", "has none of `share`, `epsilon` or"),
        ("spend: {share: 2}", "spend: all", "`spend` is not a block of keys"),
        ("nulls: {as: 0}", "nulls: {as: [0]}", "`as` is a list, where a number"),
        ("nulls: {as: 0}", "nulls: keep", "`keep` is not a rule for nulls"),
        ("[north,", "[nor\tth,", "DPQL208 `nor th` is not a key (a key has no tabs"),
        ("step: 0.01", "step: 50_000", "for example `bounds: [0, ...]`"),
    ],
)
def test_poor_shapes_are_explained_in_plain_words(
    right: str, wrong: str, expected: str
) -> None:
    """Each poor shape is named, never by a schema's own message."""
    assert right in REFERENCE
    assert expected in diagnose(REFERENCE.replace(right, wrong, 1))
