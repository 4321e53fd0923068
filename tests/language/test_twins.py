"""The two forms say the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from language.samples import GALLERY
from language.strategies import specs

from dpql.language import format_text, load, load_text, print_spec
from dpql.model.spec import Spec

relaxed = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery_twins_are_equal(path: Path) -> None:
    """A spec of the gallery and its twin mean the same."""
    assert load(path) == load(path.with_suffix(".dpql"))
    assert hash(load(path)) == hash(load(path.with_suffix(".dpql")))


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
@pytest.mark.parametrize("suffix", [".yaml", ".dpql"])
def test_gallery_is_in_canonical_layout(path: Path, suffix: str) -> None:
    """Formatting changes nothing in the gallery, and says who asks first."""
    text = path.with_suffix(suffix).read_text(encoding="utf-8")
    assert text == format_text(text, form=suffix[1:])
    assert "Asked by" in "".join(text.splitlines()[:2])


def test_gallery_has_ten_specs() -> None:
    """The gallery is as large as promised."""
    assert len(GALLERY) >= 10


@pytest.mark.property
@relaxed
@given(specs())
def test_any_spec_survives_both_forms(spec: Spec) -> None:
    """Spec to text and back is the same spec, in both forms."""
    assert spec == load_text(print_spec(spec, "yaml"), form="yaml")
    assert spec == load_text(print_spec(spec, "dpql"), form="dpql")


@pytest.mark.property
@relaxed
@given(specs())
def test_conversion_there_and_back_changes_nothing(spec: Spec) -> None:
    """YAML to text to YAML is the same text."""
    text = print_spec(spec, "yaml")
    there = format_text(text, form="yaml", to="dpql")
    assert text == format_text(there, form="dpql", to="yaml")
    assert print_spec(spec, "dpql") == there
