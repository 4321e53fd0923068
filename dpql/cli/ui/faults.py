"""Faults for people and for machines: text, JSON, annotations of GitHub, SARIF."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TextIO

from dpql import __version__
from dpql.cli.ui import console
from dpql.diagnostics import render_concise, render_text, shown
from dpql.errors import Diagnostic, DpqlError

_CODE = re.compile(r"^(|\S.*?: )(DPQL\d{3})(?= )", re.MULTILINE)
_CARET = re.compile(r"^( +\| +)(\^+)$", re.MULTILINE)
_HINT = re.compile(r"^( *= )(hint:)(?= )", re.MULTILINE)

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def report(fault: DpqlError, status: int, *, document: bool) -> None:
    """Write a fault that ends a command: in words, and as a document if one is due."""
    console.note(as_text(fault.diagnostics, sys.stderr) + "\n")
    if document:
        # Whoever reads the document may be what failed.
        with suppress(OSError):
            console.write_json(
                {"status": status, "diagnostics": as_json(fault.diagnostics)}
            )


def as_text(diagnostics: Iterable[Diagnostic], stream: TextIO) -> str:
    """Return the faults in full, coloured where the stream is a willing terminal."""
    text = render_text(diagnostics)
    if not console.has_colour(stream):
        return text
    import click

    text = _CODE.sub(lambda m: m[1] + click.style(m[2], fg="red", bold=True), text)
    text = _CARET.sub(lambda m: m[1] + click.style(m[2], fg="red"), text)
    return _HINT.sub(lambda m: m[1] + click.style(m[2], fg="cyan"), text)


def as_todo(diagnostics: Sequence[Diagnostic]) -> str:
    """Return what a file still lacks as a short list, without its lines."""
    source = next((each.span.source for each in diagnostics if each.span), "")
    lines = [f"{shown(source, limit=400)} is not finished; what is missing:"]
    for fault in diagnostics:
        where = f"line {fault.span.line}: " if fault.span else ""
        hint = f"; {fault.hint}" if fault.hint else ""
        lines.append(f" - {where}{shown(fault.message + hint, limit=600)}")
    return "\n".join(lines)


def as_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return the faults as a JSON document."""
    return [
        {
            "code": fault.code,
            "message": fault.message,
            "hint": fault.hint,
            "path": fault.span.source if fault.span else None,
            "line": fault.span.line if fault.span else None,
            "column": fault.span.column if fault.span else None,
            "end_line": fault.span.end_line if fault.span else None,
            "end_column": fault.span.end_column if fault.span else None,
        }
        for fault in diagnostics
    ]


def as_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return workflow commands that mark the faults in a pull request."""
    return "".join(_workflow_command(fault) + "\n" for fault in diagnostics)


def as_sarif(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """Return the faults as SARIF 2.1.0, for code scanning."""
    faults = list(diagnostics)
    codes = sorted({fault.code for fault in faults})
    driver = {
        "name": "dpql",
        "version": __version__,
        "rules": [_rule(code) for code in codes],
    }
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(fault, codes) for fault in faults],
            }
        ],
    }


def _workflow_command(fault: Diagnostic) -> str:
    properties = {"title": fault.code}
    if fault.span:
        properties = {
            "file": fault.span.source,
            "line": str(fault.span.line),
            "endLine": str(fault.span.end_line),
            "col": str(fault.span.column),
            "endColumn": str(fault.span.end_column),
            **properties,
        }
    listed = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    hint = f"\nhint: {shown(fault.hint, limit=600)}" if fault.hint else ""
    return f"::error {listed}::{_data(shown(fault.message, limit=600) + hint)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _rule(code: str) -> dict[str, Any]:
    from dpql.manual import CODES

    title = CODES[code].title if code in CODES else code
    return {"id": code, "shortDescription": {"text": title}}


def _result(fault: Diagnostic, codes: list[str]) -> dict[str, Any]:
    words = fault.message + (f" (hint: {fault.hint})" if fault.hint else "")
    result: dict[str, Any] = {
        "ruleId": fault.code,
        "ruleIndex": codes.index(fault.code),
        "level": "error",
        "message": {"text": words},
    }
    if fault.span:
        region = {
            "startLine": fault.span.line,
            "startColumn": fault.span.column,
            "endLine": fault.span.end_line,
            "endColumn": fault.span.end_column,
        }
        location = {
            "artifactLocation": {"uri": _uri(fault.span.source)},
            "region": region,
        }
        result["locations"] = [{"physicalLocation": location}]
    return result


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path.replace("\\", "/"))


LINES: dict[str, Callable[[Iterable[Diagnostic]], str]] = {
    "concise": lambda faults: render_concise(faults) + "\n",
    "github": as_github,
}
"""The formats that write one line a fault."""
