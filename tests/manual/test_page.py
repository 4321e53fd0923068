"""The reference page of all codes."""

from __future__ import annotations

from language.samples import ROOT

from dpql.manual import CODES
from dpql.manual.code import Code
from dpql.manual.page import page, section


def test_page_is_fresh() -> None:
    """The checked-in page is what the tables say."""
    path = ROOT / "docs" / "reference" / "errors.md"
    assert page() == path.read_text(encoding="utf-8")


def test_every_code_has_its_section_below_its_family() -> None:
    """One heading a code, and one for each first digit."""
    lines = page().splitlines()
    sections = [f"### {name}: {code.title}" for name, code in CODES.items()]
    assert sections == [line for line in lines if line.startswith("### ")]
    families = {name[: len("DPQL1")] for name in CODES}
    assert len(families) == len([line for line in lines if line.startswith("## ")])


def test_a_section_leaves_out_examples_that_are_not_there() -> None:
    """Title and cause always stand, each example in a fence of its own."""
    bare = Code(title="a title", cause="A cause.")
    assert "### DPQL000: a title\n\nA cause.\n" == section("DPQL000", bare)
    full = Code(title="a title", cause="A cause.", wrong="bad", right="good")
    assert section("DPQL000", full).endswith(
        "Wrong:\n\n```text\nbad\n```\n\nRight:\n\n```text\ngood\n```\n"
    )
