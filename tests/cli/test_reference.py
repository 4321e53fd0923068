"""The reference pages are made of the commands and keys as they are."""

from __future__ import annotations

from pathlib import Path

from dpql.cli.main import COMMANDS
from dpql.cli.reference import PAGES, cli_page, main, spec_page


def test_every_command_has_a_section() -> None:
    """So have the subcommands of a group, below it."""
    lines = cli_page().splitlines()
    assert [f"## dpql {name}" for name in COMMANDS] == [
        line for line in lines if line.startswith("## ")
    ]
    assert "### dpql ledger raise-cap" in lines


def test_every_key_is_shown_with_its_kind() -> None:
    """The page of keys says what each is and whether it is required."""
    page = spec_page()
    assert "### `epsilon`\n\nA number above 0, required.\n" in page


def test_pages_are_written(tmp_path: Path) -> None:
    """A folder gets every page."""
    main(tmp_path)
    assert set(PAGES) == {path.name for path in tmp_path.iterdir()}
