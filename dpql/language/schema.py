"""JSON Schema from the table of keys, so that an editor's hover is the manual.

Run ``python -m dpql.language.schema DIRECTORY`` to write the schemas anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_never

from dpql.language import numbers
from dpql.language.keys import ASKING, DATASET, SPEC
from dpql.model.limits import LONGEST_NUMBER
from dpql.model.shape import (
    Choice,
    Either,
    Field,
    ListOf,
    Number,
    Record,
    Shape,
    Table,
    Text,
    Variants,
)

Schema = dict[str, Any]

_TRUTHS = ("true", "false")
_NAMES_DATASET = {"type": "object", "required": ["dataset"]}

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> Schema:
    """Return the JSON Schema of a spec in YAML."""
    return {
        "$schema": DIALECT,
        "$id": "urn:dpql:schema:spec:v1",
        "title": "dpql spec, version 1",
        "description": "Statistics to release under differential privacy.",
        # Data of a dataset file are named, and whom to protect is the owner's word.
        "if": {
            "properties": {
                "data": {"anyOf": [{"not": {"type": "object"}}, _NAMES_DATASET]}
            },
            "required": ["data"],
        },
        "then": schema_of(ASKING),
        "else": schema_of(SPEC),
    }


def dataset_schema() -> Schema:
    """Return the JSON Schema of a dataset file."""
    return {
        "$schema": DIALECT,
        "$id": "urn:dpql:schema:dataset:v1",
        "title": "dpql dataset file, version 1",
        "description": "What the owner of data declares once, for all specs.",
        **schema_of(DATASET),
    }


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "spec.v1": spec_schema,
    "dataset.v1": dataset_schema,
}
"""The schemas that this package generates, by the name of their file."""


def schema_of(shape: Shape) -> Schema:  # noqa: PLR0911  one return per shape
    """Return the schema that accepts exactly the trees of the shape.

    A number may be a JSON number, as an editor sees it, or a text, as dpql reads it.
    """
    match shape:
        case Text():
            return {
                "type": ["string", "number", "boolean"],
                "minLength": 1,
                "maxLength": shape.longest,
                "pattern": _whole(shape.pattern),
            }
        case Number():
            return _number(shape)
        case Choice():
            words: list[object] = list(shape.words)
            words += [int(word) for word in shape.words if word.isdigit()]
            words += [word == "true" for word in shape.words if word in _TRUTHS]
            return {"enum": words}
        case ListOf():
            schema: Schema = {
                "type": "array",
                "items": schema_of(shape.item),
                "minItems": shape.shortest,
            }
            return schema if shape.longest is None else schema | _longest(shape.longest)
        case Record():
            return _record(shape)
        case Variants():
            return _variants(shape)
        case Table():
            return {
                "type": "object",
                "propertyNames": schema_of(shape.key),
                "additionalProperties": schema_of(shape.value),
                "minProperties": 1,
            }
        case Either():
            word = schema_of(shape.word)
            if shape.items is not None:
                listed = {"if": {"type": "array"}, "then": schema_of(shape.items)}
                word = {**listed, "else": word}
            return {
                "if": {"type": "object"},
                "then": schema_of(shape.record),
                "else": word,
            }
        case _:
            assert_never(shape)


def write(directory: Path) -> None:
    """Write every schema into the directory."""
    for name, schema in SCHEMAS.items():
        path = directory / f"{name}.schema.json"
        path.write_text(rendered(schema()), encoding="utf-8")


def rendered(schema: Schema) -> str:
    """Return the schema as it is checked in."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _longest(count: int) -> Schema:
    return {"maxItems": count}


def _number(shape: Number) -> Schema:
    number: Schema = {"type": "integer" if shape.whole else "number"}
    if shape.above is not None:
        number["exclusiveMinimum"] = shape.above
    pattern = numbers.WHOLE_PATTERN if shape.whole else numbers.NUMBER_PATTERN
    text = {
        "type": "string",
        "maxLength": LONGEST_NUMBER,
        "pattern": _whole(pattern),
    }
    return {"if": {"type": "string"}, "then": text, "else": number}


def _field(field: Field) -> Schema:
    return {
        "description": field.summary,
        "examples": list(field.examples),
        **schema_of(field.shape),
    }


def _record(shape: Record) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {field.name: _field(field) for field in shape.fields},
        "required": [field.name for field in shape.fields if field.required],
        "additionalProperties": False,
    }
    if shape.fewest:
        schema["minProperties"] = shape.fewest
    rules: list[Schema] = [
        {"oneOf": [{"required": [name]} for name in names]} for names in shape.one_of
    ]
    rules += [
        {
            "if": {"required": [name]},
            "then": {"anyOf": [{"required": [other]} for other in others]},
        }
        for name, others in shape.needs
    ]
    return schema | {"allOf": rules} if rules else schema


def _variants(shape: Variants) -> Schema:
    words = list(shape.records)
    return {
        "type": "object",
        "required": [shape.tag],
        "properties": {
            shape.tag: {"description": f"One of {', '.join(words)}.", "enum": words}
        },
        "allOf": [
            {
                "if": {"properties": {shape.tag: {"const": word}}},
                "then": _record(record),
            }
            for word, record in shape.records.items()
        ],
    }


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "schemas"))
