"""Sources are bound by --data, else by `dpql.toml`."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from cli.started import WAGES

import dpql
from dpql.cli.inputs.bindings import bound_data, with_location
from dpql.cli.inputs.project import FILE_NAME
from dpql.cli.ui.exit_codes import UsageFault
from dpql.errors import RunFault

PLAN = dpql.plan(WAGES)


def test_flags_win_over_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project is asked where no flag says anything."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE_NAME).write_text("[data]\nwages = 'a.csv'\n", "utf-8")
    assert {"wages": "a.csv"} == bound_data((), PLAN)
    assert {"wages": "b.csv"} == bound_data(("wages=b.csv",), PLAN)


def test_what_nobody_says_is_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint has the flag and the line of the project file."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageFault, match="DPQL812") as caught:
        bound_data((), PLAN)
    hint = caught.value.diagnostics[0].hint or ""
    assert "`--data wages=FILE`" in hint
    assert '`wages = "FILE"`' in hint


@pytest.mark.parametrize(
    "words", [("other=a",), ("wages=a", "wages=b"), ("wages",), ("=a",)]
)
def test_other_bindings_are_refused(words: tuple[str, ...]) -> None:
    """Each name once, and only that of the plan's source."""
    with pytest.raises(click.UsageError):
        bound_data(words, PLAN)


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("nowhere.csv", "there is no file `nowhere.csv`"),
        ("data/*.csv", "no file has a name like `data/*.csv`"),
        (".", "nothing can be read from `.`"),
        ("s3://user:password@bucket/x", ""),
    ],
)
def test_a_missing_file_is_named_as_it_was_typed(location: str, words: str) -> None:
    """A URL is not repeated: it may hold a password."""
    fault = RunFault.of("DPQL501", "no file", hint="look")
    (found,) = with_location(fault, {"wages": location}).diagnostics
    assert ("no file: " + words if words else "no file") == found.message
