"""The pages that `dpql explain` shows: codes, keys of a spec, functions, terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill, indent

from dpql.language.keys import SPEC
from dpql.manual import CODES
from dpql.manual.code import Code
from dpql.manual.functions import FUNCTIONS, Function
from dpql.manual.terms import TERMS
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

WIDTH = 78


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of the manual."""

    name: str
    title: str
    text: str


def page(word: str, width: int = WIDTH) -> Page | None:
    """Return the page of a code, a term or a key, in whatever case it is written."""
    code = CODES.get(word.upper()) or CODES.get(f"DPQL{word}")
    if code is not None:
        name = word.upper() if word.upper() in CODES else f"DPQL{word}"
        return Page(name=name, title=code.title, text=_code_text(code, width))
    lowered = word.lower()
    keys = [key for key in keys_of_spec() if key.field.name == lowered]
    term, function = TERMS.get(lowered), FUNCTIONS.get(lowered)
    if term is None and function is None and not keys:
        return None
    parts = [fill(term.text, width)] if term else []
    parts += [_function_text(function, width)] if function else []
    parts += [_key_text(key, width) for key in keys]
    titled = term or function
    title = titled.title if titled else f"a key of {keys[0].parent}"
    return Page(name=lowered, title=title, text="\n\n".join(parts) + "\n")


def titles() -> dict[str, str]:
    """Return every page with its title: terms, keys and functions, then codes."""
    keys = {key.field.name: f"a key of {key.parent}" for key in keys_of_spec()}
    terms = {name: term.title for name, term in TERMS.items()}
    functions = {name: function.title for name, function in FUNCTIONS.items()}
    codes = {name: code.title for name, code in CODES.items()}
    return {**dict(sorted({**keys, **functions, **terms}.items())), **codes}


def close_to(word: str) -> str | None:
    """Return the page that was probably meant."""
    from difflib import get_close_matches

    names = titles()
    found = get_close_matches(word.lower(), names, n=1) or get_close_matches(
        word.upper(), names, n=1
    )
    return found[0] if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of a spec and where it stands."""

    parent: str
    field: Field


def keys_of_spec() -> Iterator[Key]:
    """Yield every key of a spec, in canonical order, each parent once."""
    seen: set[tuple[str, str]] = set()
    for key in _keys(SPEC, "the spec"):
        mark = (key.field.name, key.field.summary)
        if mark not in seen:
            seen.add(mark)
            yield key


def _keys(shape: Shape, parent: str) -> Iterator[Key]:
    match shape:
        case Record(fields=fields):
            for field in fields:
                yield Key(parent=parent, field=field)
                yield from _keys(field.shape, _what(field.shape, f"`{field.name}`"))
        case Variants(records=records):
            for record in records.values():
                yield from _keys(record, record.what)
        case Table(value=value):
            yield from _keys(value, _what(value, parent))
        case Either(record=record):
            yield from _keys(record, record.what)
        case ListOf(item=item):
            yield from _keys(item, parent)
        case Text() | Number() | Choice():
            return


def _what(shape: Shape, otherwise: str) -> str:
    return shape.what if isinstance(shape, Record | Variants) else otherwise


def _code_text(code: Code, width: int) -> str:
    parts = [fill(code.cause, width)]
    if code.wrong:
        parts.append("Wrong:\n" + indent(code.wrong, "    "))
    if code.right:
        parts.append("Right:\n" + indent(code.right, "    "))
    return "\n\n".join(parts) + "\n"


def _function_text(function: Function, width: int) -> str:
    parts = [
        "Written:\n" + indent(function.form, "    "),
        fill(function.text, width),
        "For example:\n" + indent(function.example, "    "),
    ]
    return "\n\n".join(parts)


def _key_text(key: Key, width: int) -> str:
    need = "required" if key.field.required else "optional"
    lines = [
        fill(f"`{key.field.name}` in {key.parent} ({need})", width),
        fill(key.field.summary, width),
    ]
    if key.field.examples:
        examples = [f"    {key.field.name}: {flow(e)}" for e in key.field.examples]
        lines.append("\n".join(examples))
    return "\n".join(lines)


def flow(example: object) -> str:
    """Return an example as one line of YAML."""
    if isinstance(example, dict):
        return "{" + ", ".join(f"{k}: {flow(v)}" for k, v in example.items()) + "}"
    if isinstance(example, list | tuple):
        return "[" + ", ".join(map(flow, example)) + "]"
    return str(example).lower() if isinstance(example, bool) else str(example)
