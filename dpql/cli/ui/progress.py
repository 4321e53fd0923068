"""How far a run has come, for the person at the terminal; nothing of it is recorded.

The bar counts stages, whose number is public, and its motion follows the clock. Rows,
bytes and batches move nothing: their number is nobody's business, not even here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpql.cli.ui import console

if TYPE_CHECKING:
    from rich.progress import Progress

    from dpql.api.listener import Stage

ShowStage = Callable[["Stage"], None]

_WORDS = {
    "reading": "aggregating rows",
    "drawing": "drawing noise",
    "sealing": "signing and sealing",
    "writing": "writing the folder",
}
_LEAD = " running     "
_BESIDE = 48
_WIDEST = 32


@contextmanager
def stage_bar() -> Iterator[ShowStage]:
    """Yield what shows a stage; a bar appears with the first."""
    if not console.is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    bar = _bar()
    task = bar.add_task("", total=len(_WORDS))

    def show(stage: Stage) -> None:
        bar.start()
        step = list(_WORDS).index(stage)
        bar.update(task, completed=step, description=_WORDS[stage], refresh=True)

    try:
        yield show
        bar.update(task, completed=len(_WORDS), description="done")
    finally:
        bar.stop()


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
    )

    screen = Console(stderr=True)
    width = max(4, min(_WIDEST, screen.width - _BESIDE))
    return Progress(
        TextColumn(_LEAD),
        BarColumn(bar_width=width),
        TaskProgressColumn(),
        SpinnerColumn("line", finished_text=" "),
        TextColumn("{task.description}"),
        console=screen,
    )
