"""Runs the examples of a page in order, in a folder of their own.

The folder stands for the clone of the project, as far as pages use it. A ``console``
block shows commands after ``$`` and what they print; where a command goes to another
folder (``cd``), the next one starts there. A ``python`` block is a session. A
comment above a block says more about it:

    <!-- file: NAME -->   the block is the content of that file
    <!-- noisy -->        numbers, digests and keys differ from run to run
    <!-- exit: 1 -->      the last command of the block ends with that code

Run ``python tests/docs/blocks.py PAGE...`` to write what the commands print now.
"""

from __future__ import annotations

import doctest
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

_BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^>]*?) -->\n)?```(?P<kind>[a-z]+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_ELIDED = "…"
_MASKS = (
    (re.compile(r"(?m)^ *! .*\bsays? nothing: .*\n"), ""),
    (re.compile(r"(?m) +!$"), ""),
    (re.compile(r"SHA256:[A-Za-z0-9+/]{43}"), "KEY"),
    (re.compile(r"AAAA[A-Za-z0-9+/]+"), "KEY"),
    (re.compile(r"\b[0-9a-f]{8,64}\b"), "DIGEST"),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "DATE"),
    (re.compile(r"-?\d+(?: \d{3})*(?:\.\d+)?"), "N"),
    (re.compile(r" +"), " "),
)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page."""

    kind: str
    note: str
    body: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block and what the page says it prints."""

    line: str
    expected: str


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for match in _BLOCK.finditer(text):
        body = match.start("body"), match.end("body")
        yield Block(match["kind"], match["note"] or "", match["body"], *body)


def commands(body: str) -> list[Command]:
    """Return the commands of a console block."""
    found: list[Command] = []
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        while line.endswith("\\"):
            more, _, expected = expected.partition("\n")
            line += f"\n{more}"
        found.append(Command(line, expected))
    return found


_FOLLOW = "\nstatus=$?; pwd > {}; exit $status"
"""What is said after a command: where it has gone."""


class Folder:
    """A folder with the gallery of specs, in which a page is run.

    ``path`` is where the next command starts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.here = path.with_suffix(".pwd")
        self.python: subprocess.Popen[str] | None = None
        shutil.copytree(ROOT / "specs", path / "specs")

    def run(self, command: Command) -> tuple[str, int]:
        """Return what a command prints, both streams, and its exit code."""
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DPQL")}
        line = command.line + _FOLLOW.format(shlex.quote(str(self.here)))
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.path,
            env={
                **kept,
                "PATH": programs,
                "PYTHONIOENCODING": "utf-8",
                "NO_COLOR": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=900,
            check=False,
        )
        self.path = Path(self.here.read_text("utf-8").rstrip("\n"))
        return done.stdout, done.returncode

    def session(self, block: Block, name: str) -> None:
        """Run a python block; its names are there for the next one."""
        if self.python is None:
            # A process of its own keeps folder, imports and last words apart.
            self.python = subprocess.Popen(
                [sys.executable, __file__, "--session", name],
                cwd=self.path,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
        assert self.python.stdin is not None
        assert self.python.stdout is not None
        self.python.stdin.write(json.dumps(block.body) + "\n")
        self.python.stdin.flush()
        complaint = json.loads(self.python.stdout.readline())
        assert not complaint, complaint

    def close(self) -> None:
        """End the session, if there was one."""
        if self.python is not None:
            self.python.communicate(timeout=900)


def sessions(name: str) -> None:
    """Answer each block on stdin with what went wrong in it, nothing if all is well."""
    parser = doctest.DocTestParser()
    names: dict[str, Any] = {}
    for line in sys.stdin:
        test = parser.get_doctest(json.loads(line), names, name, name, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        words = io.StringIO()
        result = runner.run(test, clear_globs=False, out=words.write)
        names.update(test.globs)
        complaint = words.getvalue() if result.failed or not result.attempted else ""
        sys.stdout.write(json.dumps(complaint) + "\n")
        sys.stdout.flush()


def masked(text: str, note: str) -> str:
    """Return the text without what may differ between two runs."""
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    text = "\n".join(lines)
    if "noisy" not in note:
        return text
    for pattern, word in _MASKS:
        text = pattern.sub(word, text)
    return text


def agrees(expected: str, found: str, note: str) -> bool:
    """Tell whether the output is what the page says; `…` on a line stands for any."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == _ELIDED else re.escape(line + "\n")
        for line in masked(expected, note).split("\n")
    )
    return re.fullmatch(pattern, masked(found, note) + "\n") is not None


def expected_status(note: str) -> int:
    """Return the exit code that a block announces."""
    found = re.search(r"exit: (\d+)", note)
    return int(found[1]) if found else 0


def rewritten(page: Path) -> str:
    """Return the page with what its commands print now."""
    text = page.read_text("utf-8")
    output, position = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(Path(name) / "work")
        for block in blocks(text):
            body = block.body
            if block.note.startswith("file: "):
                _save(folder, block)
            elif block.kind == "console" and _ELIDED not in body:
                body = "".join(
                    _refreshed(folder, each, block) for each in commands(body)
                )
            elif block.kind == "console":
                for each in commands(body):
                    folder.run(each)
            elif block.kind == "python":
                folder.session(block, page.name)
            output += [text[position : block.start], body]
            position = block.end
        folder.close()
    return "".join([*output, text[position:]])


def _refreshed(folder: Folder, command: Command, block: Block) -> str:
    """Return a command with its output; what still agrees stays as it is."""
    found, _ = folder.run(command)
    kept = agrees(command.expected, found, block.note)
    return f"$ {command.line}\n{command.expected if kept else _block_end(found)}"


def _block_end(text: str) -> str:
    lines = [line.rstrip() for line in text.rstrip("\n").split("\n")]
    return "\n".join(lines) + "\n" if text.strip() else ""


def _save(folder: Folder, block: Block) -> None:
    target = folder.path / block.note.removeprefix("file: ").strip()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(block.body, "utf-8")


def play(page: Path, parent: Path) -> Iterator[str]:
    """Run a page in a new folder and yield what is not as it says."""
    folder = Folder(parent / "work")
    for block in blocks(page.read_text("utf-8")):
        if block.note.startswith("file: "):
            _save(folder, block)
        elif block.kind == "python":
            folder.session(block, page.name)
        elif block.kind == "console":
            listed = commands(block.body)
            for each in listed:
                found, status = folder.run(each)
                wanted = expected_status(block.note) if each is listed[-1] else 0
                if status != wanted:
                    yield f"$ {each.line}\nexit {status}, not {wanted}\n{found}"
                elif not agrees(each.expected, found, block.note):
                    yield f"$ {each.line}\n{found}\ninstead of\n{each.expected}"
    folder.close()


if __name__ == "__main__":
    if sys.argv[1] == "--session":
        sessions(sys.argv[2])
    else:
        for argument in sys.argv[1:]:
            target = Path(argument)
            target.write_text(rewritten(target), "utf-8")
