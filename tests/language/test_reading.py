"""Specs from files and texts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from language.samples import GALLERY

from dpql.language import load


def test_reading_imports_no_engine() -> None:
    """Neither polars nor numpy nor jsonschema is loaded to read a spec."""
    code = (
        "import sys; from dpql.language import load; load(sys.argv[1]);"
        "print([m for m in ('polars', 'numpy', 'jsonschema', 'cryptography', 'gmpy2')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(GALLERY[0])],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_gallery_twins_are_equal(path: Path) -> None:
    """A spec of the gallery and its twin mean the same."""
    assert load(path) == load(path.with_suffix(".dpql"))
    assert hash(load(path)) == hash(load(path.with_suffix(".dpql")))


def test_gallery_has_ten_specs() -> None:
    """The gallery is as large as promised."""
    assert len(GALLERY) >= 10
