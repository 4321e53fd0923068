"""What the commands write: results on stdout, everything else on stderr.

A closed pipe changes nothing but what is seen: the command goes on to its end and
keeps its exit code, so that a run is never cut short by ``| head``.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_PLAIN = str.maketrans(
    {
        "ε": "eps",
        "δ": "delta",
        "α": "alpha",
        "Σ": "sum",
        "±": "+/-",
        "→": "->",
        "≈": "~",
        "…": "...",
        "─": "-",
        "━": "=",
        "█": "#",
        "░": ".",
        "·": "-",
        "✓": "ok",
        "\u00a0": " ",
        "\u202f": " ",
    }
)


_GAP = re.compile(r"( {2,})")


def prepare() -> None:
    """Reopen every closed stream, before a file takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def write(text: str) -> None:
    """Write a result to stdout."""
    _write(sys.stdout, text)


@contextmanager
def output_to_stderr() -> Iterator[None]:
    """Send results to stderr too, as long as stdout waits for a document."""
    kept, sys.stdout = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout = kept


def note(text: str) -> None:
    """Write something that is no result to stderr."""
    _write(sys.stderr, text)


def write_json(document: Any) -> None:
    """Write a JSON document to stdout."""
    plain = not _can_encode(sys.stdout)
    write(json.dumps(document, indent=2, ensure_ascii=plain) + "\n")


def styled(text: str, **style: Any) -> str:
    """Return the text with colours if stdout is a terminal that wants them."""
    if not has_colour(sys.stdout):
        return text
    import click

    return click.style(text, **style)


def has_colour(stream: TextIO) -> bool:
    """Tell whether the stream is a terminal whose owner has not declined colours."""
    return (
        is_terminal(stream)
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person is looking."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def width() -> int | None:
    """Return the columns of the terminal, None where the output goes elsewhere."""
    if not is_terminal(sys.stdout):
        return None
    import shutil

    return max(20, shutil.get_terminal_size().columns)


def encodable(text: str, stream: TextIO) -> str:
    """Return the text in characters that the stream can carry."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        words = "\n".join(map(_plain, text.split("\n")))
        return words.encode(encoding, "backslashreplace").decode(encoding)
    return text


def _plain(line: str) -> str:
    """Return a line in plain characters; gaps between columns give way to them."""
    parts = _GAP.split(line)
    for index in range(0, len(parts), 2):
        cell = parts[index].translate(_PLAIN)
        grown = len(cell) - len(parts[index])
        parts[index] = cell
        # What stands last in a line pushes nothing.
        for beside in (index + 1, index - 1) if index + 1 < len(parts) else ():
            if beside > 0:
                given = min(grown, max(0, len(parts[beside]) - 2))
                parts[beside] = parts[beside][given:]
                grown -= given
    return "".join(parts)


def confirm(question: str) -> bool:
    """Ask a person on the terminal; anything but yes is no."""
    import click

    return click.confirm(encodable(question, sys.stderr), err=True)


def finish() -> None:
    """Flush both streams; a reader who has left is no reason to complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _mute(stream)


def _can_encode(stream: TextIO) -> bool:
    return encodable("ε", stream) == "ε"


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(encodable(text, stream))
        stream.flush()
    except BrokenPipeError:
        _mute(stream)


def _mute(stream: TextIO) -> None:
    """Point a stream whose reader has left at nothing, for good."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        pass
