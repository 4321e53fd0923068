"""`dpql fmt`: one layout for all specs."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.started import SPECS, WAGES, dpql, fine, refused

pytestmark = pytest.mark.cli


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    """A spec whose layout is not canonical."""
    path = tmp_path / "loose.yaml"
    text = WAGES.read_text("utf-8").replace(
        "epsilon: 1.0  # total", "epsilon:   1.0 # total"
    )
    path.write_text(text, "utf-8")
    return path


def test_the_gallery_is_laid_out() -> None:
    """Nothing would change, nothing is said."""
    assert fine(dpql("fmt", "--check", SPECS)) == ""


def test_check_says_what_would_change(loose: Path) -> None:
    """The file is left alone and the exit code is 1."""
    before = loose.read_bytes()
    refused(dpql("fmt", "--check", loose), 1, "DPQL805", "loose.yaml")
    assert before == loose.read_bytes()


def test_diff_shows_what_would_change(loose: Path) -> None:
    """The difference is unified."""
    before = loose.read_bytes()
    run = dpql("fmt", "--diff", loose)
    assert run.returncode == 1
    assert "-  epsilon:   1.0 # total" in run.stdout
    assert "+  epsilon: 1.0  # total" in run.stdout
    assert before == loose.read_bytes()


def test_files_are_laid_out_in_place(loose: Path) -> None:
    """Afterwards the file is canonical."""
    assert "formatted" in fine(dpql("fmt", loose))
    assert WAGES.read_text("utf-8") == loose.read_text("utf-8")
    assert fine(dpql("fmt", loose)) == ""


def test_the_other_form_is_printed() -> None:
    """The twin in the gallery is what `--to` prints, comments apart."""
    text = fine(dpql("fmt", "--to", "dpql", WAGES))
    assert text.splitlines()[-1].startswith("report signed by")
    refused(dpql("fmt", "--to", "yaml", "--check", WAGES), 2, "--to takes one spec")


def test_faulty_files_are_named_and_the_rest_is_done(loose: Path) -> None:
    """One bad file does not keep the others from being laid out."""
    bad = loose.parent / "bad.yaml"
    bad.write_text("dpql: 1\nrelease: [\n", "utf-8")
    run = dpql("fmt", bad, loose)
    assert run.returncode == 1
    assert "bad.yaml" in run.stderr
    assert WAGES.read_text("utf-8") == loose.read_text("utf-8")


def test_links_are_not_followed(loose: Path) -> None:
    """A link is refused rather than replaced."""
    link = loose.parent / "link.yaml"
    link.symlink_to(loose)
    run = dpql("fmt", link)
    assert run.returncode == 1
    assert "DPQL801" in run.stderr
    assert link.is_symlink()
