"""Specs with a mistake, and the faults that an author gets.

A case is a few lines of a text file; a blank line ends it:

    -what the sample has
    +what stands there instead
    =the fault, or a part of it
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpql.diagnostics import render_concise
from dpql.errors import SpecError
from dpql.language import load_text


def cases(name: str) -> list[tuple[str, str, str]]:
    """Return what is replaced, by what, and the fault, for each case of a file."""
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    found = []
    for block in text.rstrip("\n").split("\n\n"):
        parts = {
            mark: "\n".join(
                line[1:] for line in block.split("\n") if line.startswith(mark)
            )
            for mark in "-+="
        }
        found.append((parts["-"], parts["+"], parts["="]))
    return found


def diagnose(text: str, form: str = "yaml") -> str:
    """Return the faults of a text, one to a line."""
    with pytest.raises(SpecError) as caught:
        load_text(text, source="f", form=form)
    return render_concise(caught.value.diagnostics)
