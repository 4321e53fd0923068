"""A spec as a mapping of Python: it becomes a text, so that faults have a place in it.

JSON is YAML of the strict subset, and it keeps apart what matters: `1` and `"1"` are
two kinds of keys. A float is refused: 0.1 of Python is not one tenth.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpql.diagnostics import shown
from dpql.errors import SpecError

NAME = "<mapping>"
"""What the text is called in faults."""

_DEEPEST = 16


def text_of(spec: Mapping[str, Any]) -> str:
    """Return a mapping as a text in the form of YAML.

    Raises:
        SpecError: it holds something that no spec can (DPQL118).
    """
    return json.dumps(_plain(spec, ()), indent=2, ensure_ascii=False)


def _plain(node: object, path: tuple[str, ...]) -> object:
    match node:
        case Mapping():
            return {
                _key(key, path): _plain(node[key], (*path, str(key))) for key in node
            }
        case list() | tuple():
            return [_plain(item, path) for item in node]
        case bool() | int() | str():
            return node
        case Fraction() | Decimal():
            return str(node)
        case datetime():
            return node.isoformat(" ", "seconds")
        case date():
            return node.isoformat()
        case float():
            raise _refused(
                path,
                f"the float {node!r}",
                f'write "{node!r}", a Fraction or a Decimal: a float is rarely the '
                "number that was typed",
            )
        case None:
            raise _refused(path, "None", "leave the key out")
        case _:
            kind = type(node).__name__
            raise _refused(path, f"a {kind}", "write it as text")


def _key(key: object, path: tuple[str, ...]) -> str:
    if not isinstance(key, str):
        raise _refused(path, f"the key {key!r}", "keys are texts")
    if len(path) >= _DEEPEST:
        raise _refused(
            path[:4], "more levels than a spec has", "see `dpql schema spec`"
        )
    return key


def _refused(path: tuple[str, ...], what: str, hint: str) -> SpecError:
    where = f"`{shown('.'.join(path))}` holds" if path else "the mapping holds"
    return SpecError.of("DPQL118", f"{where} {shown(what)}", hint=hint)
