"""A source text that is safe to parse: bounded, UTF-8, free of hidden characters."""

from __future__ import annotations

import errno
import re
import stat
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath

from dpql.diagnostics import is_hidden, shown
from dpql.errors import Diagnostic, Span, SpecError
from dpql.model.text_hints import in_text_form

LARGEST = 1 << 20
"""The most bytes a spec may have."""

_BREAK = re.compile(r"\n")
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]")
_BYTE_ORDER_MARK = "\ufeff"


class Form(StrEnum):
    """The two ways to write a spec."""

    YAML = "yaml"
    DPQL = "dpql"


_DATA = re.compile(r"\.(csv|tsv|ndjson|jsonl|parquet|arrow|ipc)(\.gz|\.zst)?$")
"""Names of files that a run reads."""

_SUFFIXES = {".yaml": Form.YAML, ".yml": Form.YAML, ".dpql": Form.DPQL}


Beside = Callable[[str], bytes]
"""Returns what a file below the folder of a text holds, or raises OSError."""


class Source:
    """A named text with its lines, and the faults found in it so far.

    ``beside`` reads the files that it names; None where it lies in no folder.
    """

    def __init__(self, name: str, text: str, beside: Beside | None = None) -> None:
        self.name = name
        self.beside = beside
        self.text = text.replace("\r\n", "\n")
        self.lines = self.text.split("\n")
        self.form = Form.YAML
        self.faults: list[Diagnostic] = []
        self.starts = [0, *(match.end() for match in _BREAK.finditer(self.text))]

    def span(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        """Return a span; lines and columns count from 0 here, from 1 in the span."""
        content = self.lines[line] if line < len(self.lines) else ""
        return Span(
            self.name, line + 1, column + 1, end_line + 1, end_column + 1, content
        )

    def stretch(self, start: int, end: int) -> Span:
        """Return the span of ``text[start:end]``."""
        line, end_line = (
            bisect_right(self.starts, index) - 1 for index in (start, end)
        )
        column, end_column = start - self.starts[line], end - self.starts[end_line]
        return self.span(line, column, end_line, end_column)

    def add(
        self, code: str, message: str, span: Span | None, hint: str | None = None
    ) -> None:
        """Note a fault; its hint is written in the form of the source."""
        if hint is not None and self.form is Form.DPQL:
            hint = in_text_form(hint)
        self.faults.append(Diagnostic(code, message, span, hint))

    def fail(
        self, code: str, message: str, span: Span | None, hint: str | None = None
    ) -> SpecError:
        """Note a fault and return the error that ends the reading."""
        self.add(code, message, span, hint)
        return self.error()

    def error(self) -> SpecError:
        """Return the error of all faults, in the order of the text."""
        # The same may be wrong for every statistic that takes a default.
        return SpecError(sorted(dict.fromkeys(self.faults), key=self._order))

    def _order(self, fault: Diagnostic) -> tuple[bool, int, int]:
        """Sort by the text; what a dataset file says comes after it."""
        span = fault.span
        return (
            (span.source != self.name, span.line, span.column)
            if span
            else (False, 0, 0)
        )

    def check(self) -> None:
        """Raise the error if there is any fault."""
        if self.faults:
            raise self.error()


def form_named(word: str) -> Form:
    """Return the form of that name, or raise DPQL102."""
    if word in frozenset(Form):
        return Form(word)
    raise SpecError.of(
        "DPQL102", f"there is no form `{shown(word)}`", hint="take `yaml` or `dpql`"
    )


def form_of(path: Path) -> Form:
    """Return the form that the file's suffix names, or raise DPQL102."""
    form = _SUFFIXES.get(path.suffix.lower())
    if form is None:
        hint = "name the file NAME.yaml or NAME.dpql"
        if _DATA.search(path.name.lower()):
            hint = f"these are data: name a spec, and --data NAME={shown(str(path))}"
        raise SpecError.of(
            "DPQL102",
            f"`{shown(path.name)}` is neither a .yaml nor a .dpql file",
            hint=hint,
        )
    return form


def read(path: Path) -> Source:
    """Return the checked source in a file, of which at most 1 MiB is read."""
    name = str(path)
    try:
        content = _content(path)
    except (OSError, ValueError) as error:
        raise _unreadable(name, _reason(error)) from error
    return decoded(content, name, partial(_below, path.parent))


def read_beside(source: Source, name: str) -> tuple[Source, str]:
    """Return the checked text of a file that a text names, and the file's sha256.

    Raises:
        SpecError: it cannot be read (DPQL350), or is no text (DPQL104 to DPQL107).
    """
    path = PurePosixPath(name)
    if source.beside is None:
        reason = "the text that names it lies in no folder"
    elif path.is_absolute() or ".." in path.parts:
        reason = "a spec names files below its own folder only"
    else:
        try:
            content = source.beside(name)
        except (OSError, ValueError) as error:
            reason = _reason(error)
        else:
            label = str(PurePosixPath(source.name).parent / path)
            return decoded(content, label), sha256(content).hexdigest()
    raise SpecError.of(
        "DPQL350",
        f"cannot read `{shown(name)}`: {reason}",
        hint="name a file beside the text or in a folder there, such as "
        "`keys/carriers.txt`",
    )


_SECRET = b" PRIVATE KEY-----"
"""What every private key in a file holds, whatever the file is called."""


def _below(folder: Path, name: str) -> bytes:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        # A link may lead anywhere, and what it leads to would be published.
        raise OSError(errno.EACCES, "it lies outside the folder")
    content = _content(path)
    if _SECRET in content:
        raise OSError(errno.EACCES, "it is a key that signs")
    return content


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or "no such file").lower()


def decoded(content: bytes, name: str, beside: Beside | None = None) -> Source:
    """Return the source of the content of a file, or raise."""
    if len(content) > LARGEST:
        raise _too_large(name)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise SpecError.of(
            "DPQL104",
            "the file is not UTF-8 text",
            span=Span(name, line, column, line, column + 1),
            hint="save the file as UTF-8",
        ) from error
    return examine(text, name, beside)


def examine(text: str, name: str, beside: Beside | None = None) -> Source:
    """Return the source of a text, or raise when it is too large or hides something."""
    if len(text) > LARGEST or len(text.encode("utf-8", "replace")) > LARGEST:
        raise _too_large(name)
    source = Source(name, text, beside)
    if source.text.startswith(_BYTE_ORDER_MARK):
        raise source.fail(
            "DPQL105",
            "the text starts with a byte order mark",
            source.span(0, 0, 0, 1),
            "save the file as UTF-8 without a byte order mark",
        )
    _refuse_hidden(source)
    return source


def hidden(text: str) -> Iterable[re.Match[str]]:
    """Yield the characters of a text that do not show or that reorder others."""
    for match in _SUSPECT.finditer(text):
        if is_hidden(match[0]):
            yield match


def _refuse_hidden(source: Source) -> None:
    for match in hidden(source.text):
        index = match.start()
        name = unicodedata.name(match[0], "control character").lower()
        raise source.fail(
            "DPQL106",
            f"the text holds a hidden character, U+{ord(match[0]):04X} ({name})",
            source.stretch(index, index + 1),
            "delete it; a reviewer could not see it",
        )


def _unreadable(name: str, reason: str) -> SpecError:
    return SpecError.of(
        "DPQL101", f"cannot read `{shown(name)}`: {reason}", hint=_beside(Path(name))
    )


def _beside(path: Path) -> str:
    """Return a hint with the spec that was probably meant, of those in the folder."""
    try:
        names = [
            each.name for each in path.parent.iterdir() if each.suffix in _SUFFIXES
        ]
    except (OSError, ValueError):
        return "check the path; there is no such folder that can be read"
    close = get_close_matches(path.name, names, n=1)
    if close:
        return f"did you mean `{shown(str(path.parent / close[0]))}`?"
    return "check the path, and who may read it"


def _too_large(name: str) -> SpecError:
    return SpecError.of(
        "DPQL107",
        f"`{shown(name)}` is larger than 1 MiB",
        hint="split it into several",
    )
