"""`dpql.toml`: the settings that an owner's commands would otherwise need as flags.

It is looked for in the working directory and the folders above it, never beside a spec:
whoever writes a spec must not choose the owner's ledger, key or data.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from dpql.cli.inputs.locations import beside, key_beside
from dpql.cli.ui.exit_codes import CommandFault
from dpql.diagnostics import is_hidden, shown
from dpql.errors import Diagnostic, Span

FILE_NAME = "dpql.toml"

_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_LARGEST = 1 << 16
_LONGEST = 4_096
_MOST_DATA = 1_000
_SETTINGS = {
    "key": "the key that signs, a name in keys/ or a file",
    "trust": "the file that says whose signatures count",
    "ledger": "a file, or postgresql://…",
    "dataset": "the owner's name of the data, where it is not the source's",
    "spark": "sc://HOST:PORT, or a master such as local[4]",
}
_TABLE = "data"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}", re.ASCII)
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_PLAIN = re.compile(r"[^\x00-\x1f\x7f]+")
_EXAMPLES = {
    "key": 'key = "steward"',
    "trust": 'trust = "allowed_signers"',
    "ledger": 'ledger = "ledger.sqlite"',
    "dataset": 'dataset = "wages"',
    "spark": 'spark = "sc://localhost:15002"',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What a project file says; every path is relative to the working directory."""

    path: Path
    key: str | None = None
    trust: str | None = None
    ledger: str | None = None
    dataset: str | None = None
    spark: str | None = None
    data: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def folder(self) -> Path:
        """Where the file lies, and with it `keys`, `datasets` and `releases`."""
        return self.path.parent


def current_project() -> Project | None:
    """Return the project of the command that runs, read once; None without one.

    Raises:
        CommandFault: the file is not to be trusted or not to be read (82x).
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return find_project(Path.cwd())
    known = context.find_root().meta
    if "dpql.project" not in known:
        known["dpql.project"] = find_project(Path.cwd())
    found: Project | None = known["dpql.project"]
    return found


def find_project(start: Path) -> Project | None:
    """Return the nearest project at a folder or above it.

    Raises:
        CommandFault: the file is not to be trusted or not to be read (82x).
    """
    for folder in (start, *start.parents):
        path = folder / FILE_NAME
        if os.path.lexists(path):
            return read_project(path, start)
    return None


def read_project(path: Path, start: Path) -> Project:
    """Return what a project file says, seen from the folder ``start``.

    Raises:
        CommandFault: it is a link, belongs to somebody else or is open to all
            (DPQL820), is no TOML (DPQL821), or says something else than it may
            (DPQL822, DPQL823).
    """
    text = _text(path, start)
    name = os.path.relpath(path, start)
    return _Reader(name, text, Path(name)).project()


def _text(path: Path, start: Path) -> str:
    """Return the text of a file that its owner alone can have written."""
    name = shown(os.path.relpath(path, start), limit=400)
    try:
        with open(path, "rb", opener=_no_link) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise _untrusted(f"`{name}` is not a regular file")
            _refuse_stranger(name, found, start)
            content = file.read(_LARGEST + 1)
    except OSError as error:
        if path.is_symlink():
            raise _untrusted(f"`{name}` is a link to another file") from error
        reason = (error.strerror or "no reason given").lower()
        raise _untrusted(f"cannot read `{name}`: {reason}") from error
    if len(content) > _LARGEST:
        raise _untrusted(f"`{name}` is larger than {_LARGEST // 1024} KiB")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _untrusted(f"`{name}` is not UTF-8 text") from error
    if any(is_hidden(character) for character in text if character not in "\r\n\t"):
        raise _untrusted(f"`{name}` holds a hidden character")
    return text


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | _NO_LINK)


def _refuse_stranger(name: str, found: os.stat_result, start: Path) -> None:
    """Refuse a file that somebody else has put in the way, or can change."""
    if not hasattr(os, "geteuid"):
        return
    owners = {0, os.geteuid()}
    if os.geteuid() == 0:
        # Of a container, where the folder of somebody is mounted.
        owners.add(start.stat().st_uid)
    if found.st_uid not in owners:
        raise _untrusted(f"`{name}` belongs to another user")
    if found.st_mode & stat.S_IWOTH:
        raise _untrusted(f"`{name}` can be changed by every user of this machine")


def _untrusted(why: str) -> CommandFault:
    return CommandFault.of(
        "DPQL820",
        why,
        hint="it names your key, your ledger and your data: keep a plain text file of "
        "your own that nobody else can change (`chmod o-w`), or delete it",
    )


class _Reader:
    """Reads a project file, and notes every fault in it with its position."""

    def __init__(self, name: str, text: str, path: Path) -> None:
        self._name = name
        self._lines = text.replace("\r\n", "\n").split("\n")
        self._text = text
        self._path = path
        self._faults: list[Diagnostic] = []

    def project(self) -> Project:
        """Return what the file says.

        Raises:
            CommandFault: with every fault of the file.
        """
        table = self._parsed()
        for key in table:
            if key not in (*_SETTINGS, _TABLE):
                self._unknown(key)
        found = {key: self._setting(key, table.get(key)) for key in _SETTINGS}
        data = self._data(table.get(_TABLE, {}))
        if self._faults:
            raise CommandFault(sorted(self._faults, key=_order))
        folder = self._path.parent
        signing, trust, ledger = found["key"], found["trust"], found["ledger"]
        # A bare name of a key is looked for where the environment says, if it does.
        bare = signing and os.sep not in signing and "DPQL_KEYS" in os.environ
        return Project(
            path=self._path,
            key=signing if not signing or bare else key_beside(folder, signing),
            trust=None if trust is None else beside(folder, trust),
            ledger=None if ledger is None else beside(folder, ledger),
            dataset=found["dataset"],
            spark=found["spark"],
            data=MappingProxyType(
                {name: beside(folder, location) for name, location in data.items()}
            ),
        )

    def _parsed(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self._text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise CommandFault([self._syntax(str(error))]) from error
        except ValueError as error:
            raise CommandFault([self._syntax("a number is too long")]) from error

    def _syntax(self, words: str) -> Diagnostic:
        at = _AT.search(words)
        line, column = (int(x) for x in at.groups()) if at and at[1] else self._end()
        said = _AT.sub("", words)
        return Diagnostic(
            "DPQL821",
            f"this is not TOML: {said[:1].lower()}{shown(said[1:], limit=200)}",
            self._span(line, column, column + 1),
            'write `NAME = "TEXT"`, one on a line, and where data are below a line '
            "`[data]`",
        )

    def _end(self) -> tuple[int, int]:
        return len(self._lines), len(self._lines[-1]) + 1

    def _unknown(self, key: str) -> None:
        from difflib import get_close_matches

        close = get_close_matches(key, [*_SETTINGS, _TABLE], n=1)
        self._faults.append(
            Diagnostic(
                "DPQL822",
                f"there is no setting `{shown(key)}`",
                self._where(key),
                f"did you mean `{close[0]}`?"
                if close
                else f"the settings are {', '.join(_SETTINGS)} and the table [data]",
            )
        )

    def _setting(self, key: str, value: Any) -> str | None:
        if value is None:
            return None
        if self._is_text(value) and (key != "dataset" or _NAME.fullmatch(value)):
            text: str = value
            return text
        self._misfit(key, f"`{key}` is {_SETTINGS[key]}", f"write `{_EXAMPLES[key]}`")
        return None

    def _data(self, table: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        example = 'write `[data]`, and below it `NAME = "FILE"` for each source'
        if not isinstance(table, dict) or len(table) > _MOST_DATA:
            self._misfit(
                _TABLE, "`data` is a table of sources and their locations", example
            )
            return found
        for name, location in table.items():
            if not _NAME.fullmatch(name):
                words = f"`{shown(name)}` cannot be the name of a source"
                hint = "a source has the name that specs give it: letters, digits, `_`"
                self._misfit(name, words, f"{hint}, `-` and `.`", _TABLE)
            elif not self._is_text(location):
                words = f"the location of `{name}` is a text"
                hint = f'write `{name} = "data/{name}.csv"`, or a pattern or a URL'
                self._misfit(name, words, hint, _TABLE)
            else:
                found[name] = location
        return found

    def _is_text(self, value: object) -> bool:
        return (
            isinstance(value, str)
            and len(value) <= _LONGEST
            and _PLAIN.fullmatch(value) is not None
        )

    def _misfit(self, key: str, words: str, hint: str, table: str = "") -> None:
        span = self._where(key, table)
        self._faults.append(Diagnostic("DPQL823", words, span, hint))

    def _where(self, key: str, table: str = "") -> Span:
        """Return the span of a key, or of the first line that may have set it."""
        for number, inside, line in self._of_tables():
            head = re.match(
                r"\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s=.\"'\[]+))\s*[=.]", line
            )
            if head and inside == table and key in head.groups():
                start = line.index(key)
                return self._span(number, start + 1, start + 1 + len(key))
            if not table and inside == key and line.lstrip().startswith("["):
                start = line.index("[")
                return self._span(number, start + 1, len(line.rstrip()) + 1)
        return self._span(1, 1, 2)

    def _of_tables(self) -> Iterator[tuple[int, str, str]]:
        """Yield every line with its number and the table that it stands in."""
        inside = ""
        for number, line in enumerate(self._lines, 1):
            head = re.match(r"\s*\[+\s*[\"']?([^\"'\].]*)", line)
            if head:
                inside = head[1].strip()
            yield number, inside, line

    def _span(self, line: int, column: int, end: int) -> Span:
        content = self._lines[line - 1] if line <= len(self._lines) else ""
        return Span(self._name, line, column, line, end, content)


def _order(fault: Diagnostic) -> tuple[int, int]:
    return (fault.span.line, fault.span.column) if fault.span else (0, 0)
