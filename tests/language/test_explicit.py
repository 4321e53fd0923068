"""What a spec leaves to the language is written out, and means the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from language.samples import GALLERY, beside
from language.test_dataset import ASKING, OWNER, loaded

from dpql.language import format_text, load_text
from dpql.language.left_out import LEFT_OUT

SHORT = """\
dpql: 1
release: short
purpose: As little as can be said.
data:
  source: people
  rows: {at_most: 100}
  columns:
    age: {type: integer, bounds: [0, 99], nulls: drop}  # in years
privacy:
  unit: row
  epsilon: 1
statistics:
  ages: {mean: age, spend: {share: 1}}
"""


@pytest.mark.parametrize("form", ["yaml", "dpql"])
def test_every_default_is_written_and_nothing_else_changes(form: str) -> None:
    """The same spec, with nothing filled in; comments stay."""
    text = format_text(SHORT, form="yaml", to=form)
    full = format_text(text, form=form, explicit=True)
    spec = load_text(full, form=form)
    assert load_text(SHORT, form="yaml") == spec
    assert () == spec.filled_in
    assert "in years" in full
    assert "step" in full
    for word in LEFT_OUT.values():
        assert word in full
    assert full == format_text(full, form=form, explicit=True)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery_means_the_same(path: Path) -> None:
    """Whatever a spec uses."""
    text = path.read_text("utf-8")
    full = format_text(text, form="yaml", explicit=True)
    meaning = load_text(text, form="yaml", beside=beside)
    assert meaning == load_text(full, form="yaml", beside=beside)


def test_what_a_dataset_file_declares_is_no_default() -> None:
    """It stays in the owner's file, whose own defaults can be written out."""
    full = format_text(ASKING, form="yaml", explicit=True)
    assert "neighbours" not in full
    assert loaded(ASKING) == loaded(full)
    assert "neighbours: add_remove" in format_text(OWNER, form="yaml", explicit=True)
