"""The JSON Schema of frozen values, derived from their types."""

from __future__ import annotations

from dataclasses import is_dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, get_args, get_origin

from dpql.model.codec import ARRAYS, Members, alternatives, kind_of, layout
from dpql.model.lean import Lean

_WHOLE = {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)$"}
_EXACT = {"type": "string", "pattern": "^-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?$"}


def schema_of(  # noqa: PLR0911  one per type
    hint: Any, definitions: dict[str, Any]
) -> dict[str, Any]:
    """Return the schema of a type; classes go into ``definitions``."""
    if hint is str:
        return {"type": "string"}
    if hint is bool:
        return {"type": "boolean"}
    if hint is int:
        return _WHOLE
    if hint is Fraction:
        return _EXACT
    if hint == Members:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if get_origin(hint) in ARRAYS:
        return {"type": "array", "items": schema_of(get_args(hint)[0], definitions)}
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return {"enum": [word.value for word in hint]}
    if is_dataclass(hint) and isinstance(hint, type):
        return _object(hint, definitions)
    return _union(alternatives(hint), definitions)


def _object(
    cls: type, definitions: dict[str, Any], kind: str | None = None
) -> dict[str, Any]:
    name = kind_of(cls) if kind is None else f"{kind}_tagged"
    if name not in definitions:
        definitions[name] = {}
        tag = {} if kind is None else {"kind": {"const": kind}}
        members = {member: schema_of(hint, definitions) for member, hint in layout(cls)}
        left_out = cls.LEFT_OUT if issubclass(cls, Lean) else {}
        definitions[name] = {
            "type": "object",
            "description": (cls.__doc__ or "").strip().splitlines()[0],
            "properties": tag | members,
            "required": [*tag, *(x for x in members if x not in left_out)],
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


def _union(options: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    real = [option for option in options if option is not type(None)]
    if len(real) == 1:
        choices = [schema_of(real[0], definitions)]
    else:
        choices = [_tagged(option, definitions) for option in real]
    if len(real) < len(options):
        choices.append({"type": "null"})
    return {"anyOf": choices}


def _tagged(option: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    kind = kind_of(option)
    if is_dataclass(option) and isinstance(option, type):
        return _object(option, definitions, kind)
    return {
        "type": "object",
        "properties": {
            "kind": {"const": kind},
            "value": schema_of(option, definitions),
        },
        "required": ["kind", "value"],
        "additionalProperties": False,
    }
