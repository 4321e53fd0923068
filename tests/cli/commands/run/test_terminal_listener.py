"""How the debit of a failed run ended is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.released import RUN
from cli.started import dpql, fine, refused

from dpql.api.listener import Ending, Fate
from dpql.cli.commands.run.debit_prompt import DebitPrompt
from dpql.cli.commands.run.terminal_listener import TerminalListener

pytestmark = pytest.mark.cli


def test_a_debit_that_is_given_back_is_said_to_be(folder: Path) -> None:
    """The lines name the entry that held it back and the one that gave it back."""
    # A file that is missing here is noticed before; one elsewhere when it is fetched.
    nowhere = [
        word.replace("wages.csv", "http://127.0.0.1:1/wages.csv") for word in RUN
    ]
    run = refused(dpql(*nowhere, "--yes", folder=folder), 5, "DPQL501")
    lines = run.stderr.splitlines()
    assert lines[1:3] == [
        " reserved     ledger #2",
        " given back   ledger #3   nothing was drawn, nothing is spent",
    ]
    assert "spent 0 of 2" in fine(dpql("ledger", "show", folder=folder))


@pytest.mark.parametrize(
    ("fate", "words"),
    [(Fate.SPENT, " spent        ledger #3 "), (Fate.HELD_BACK, "ledger recover")],
)
def test_a_debit_that_stays_is_said_to_stay(
    fate: Fate, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each end has its words."""
    listener = TerminalListener(DebitPrompt("ε = 1"), lambda _: None)
    listener.ended(Ending(fate=fate, entry=3))
    assert words in capsys.readouterr().err
