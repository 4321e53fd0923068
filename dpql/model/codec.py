"""Frozen values to canonical JSON and back, strictly, led by their type hints.

Numbers become exact text (``"3/20"``), a member of a union of classes gets the member
``kind`` that names its class, tuples become arrays. Reading is total: whatever the
bytes are, the answer is a value of the type or `Malformed`.

A class whose older formats are still read says how its document differs in them: it has
the two functions of `Formatted`.
"""

from __future__ import annotations

import gc
import json
import re
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any, Protocol, Union, get_args, get_origin, get_type_hints

Members = tuple[tuple[str, str], ...]
"""Pairs of texts, sorted by the first; an object in JSON."""

ARRAYS = (tuple, Sequence)
"""Origins of types that are arrays in JSON; they are read as tuples."""

_DEPTH = 100
_DIGITS = 4_000
_QUOTED = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A text, also one that the end cuts off: so no byte is looked at twice."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class Malformed(ValueError):
    """The bytes or the document are not a value of the type."""


class Formatted(Protocol):
    """A class that is read and written in more than one format."""

    @classmethod
    def as_now(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document of any format with today's members."""
        ...

    def as_then(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return today's document with the members of the value's own format."""
        ...


def canonical(document: object) -> bytes:
    """Return the one text of a JSON document: that of ``jq -S .``."""
    return _laid_out(document, "\n").encode() + b"\n"


def parse(data: bytes, *, limit: int) -> Any:
    """Return the JSON document, refusing what two readers could read differently."""
    if len(data) > limit:
        raise Malformed("it is too large")
    _require_shallow(data)
    try:
        with no_cycles():
            document = json.loads(
                data.decode(),
                object_pairs_hook=_distinct,
                parse_float=_no_number,
                parse_int=_no_number,
                parse_constant=_no_number,
            )
        if b"\\u" in data:
            # Half of a character can be escaped, and is no UTF-8 text.
            canonical(document)
    except UnicodeError:
        raise Malformed("it is not UTF-8 text") from None
    except json.JSONDecodeError:
        raise Malformed("it is not JSON") from None
    return document


def encode(hint: Any, value: Any) -> Any:
    """Return the JSON document of a value of the type."""
    with no_cycles():
        return _encoder(hint)(value)


def decode(hint: Any, document: Any) -> Any:
    """Return the value of the type that the document encodes."""
    with no_cycles():
        return _decoder(hint)(document)


@contextmanager
def no_cycles() -> Iterator[None]:
    """Keep Python from searching for cycles in what is being made: there are none.

    Otherwise it walks over a large document again and again while it grows.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@cache
def layout(cls: type) -> tuple[tuple[str, Any], ...]:
    """Return the fields of a class that take part in equality, with their types."""
    hints = get_type_hints(cls)
    return tuple((f.name, hints[f.name]) for f in fields(cls) if f.compare)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union; nothing for any other type."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()


def kind_of(hint: Any) -> str:
    """Return the text that names a member of a union."""
    named = {Fraction: "number", str: "text"}.get(hint)
    if named:
        return named
    letters = (f"_{c.lower()}" if c.isupper() else c for c in hint.__name__)
    return "".join(letters).lstrip("_")


@cache
def _encoder(hint: Any) -> Callable[[Any], Any]:  # noqa: PLR0911  one per type
    if hint in (str, bool):
        return lambda value: value
    if hint in (int, Fraction):
        return str
    if hint == Members:
        return dict
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return lambda value: value.value
    if get_origin(hint) in ARRAYS:
        return _array_encoder(get_args(hint)[0])
    if is_dataclass(hint) and isinstance(hint, type):
        return _object_encoder(hint)
    return _union_encoder(alternatives(hint))


def _array_encoder(element: Any) -> Callable[[Any], Any]:
    if element is str:
        return list

    def write(values: Any) -> list[Any]:
        return list(map(_encoder(element), values))

    return write


def _object_encoder(cls: type) -> Callable[[Any], Any]:
    @cache
    def members() -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        # A type may hold itself, so its encoders are found when there is a value.
        return tuple((name, _encoder(hint)) for name, hint in layout(cls))

    def write(value: Any) -> dict[str, Any]:
        return {name: encoder(getattr(value, name)) for name, encoder in members()}

    if not hasattr(cls, "as_then"):
        return write
    return lambda value: value.as_then(write(value))


def _union_encoder(options: tuple[Any, ...]) -> Callable[[Any], Any]:
    real = tuple(option for option in options if option is not type(None))

    def write(value: Any) -> Any:
        if value is None:
            return None
        if len(real) == 1:
            return _encoder(real[0])(value)
        option: Any = type(value)
        document = _encoder(option)(value)
        if not isinstance(document, dict):
            document = {"value": document}
        return {"kind": kind_of(option), **document}

    return write


@cache
def _decoder(hint: Any) -> Callable[[Any], Any]:  # noqa: PLR0911  one per type
    if hint is str:
        return _text
    if hint is bool:
        return _flag
    if hint is int:
        return _integer
    if hint is Fraction:
        return _number
    if hint == Members:
        return _members
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return lambda document: _word(hint, document)
    if get_origin(hint) in ARRAYS:
        element = get_args(hint)[0]
        return lambda document: tuple(map(_decoder(element), _list(document)))
    if is_dataclass(hint) and isinstance(hint, type):
        return _object_decoder(hint)
    return _union_decoder(alternatives(hint))


def _union_decoder(options: tuple[Any, ...]) -> Callable[[Any], Any]:
    real = tuple(option for option in options if option is not type(None))
    by_kind = {kind_of(option): option for option in real}

    def read(document: Any) -> Any:
        if document is None and len(real) < len(options):
            return None
        if len(real) == 1:
            return _decoder(real[0])(document)
        if not isinstance(document, dict):
            raise Malformed("an object is missing")
        rest = {name: item for name, item in document.items() if name != "kind"}
        kind = document.get("kind")
        option = by_kind.get(kind) if isinstance(kind, str) else None
        if option is None:
            raise Malformed("a member `kind` is none that is known")
        decoder = _decoder(option)
        if is_dataclass(option):
            return decoder(rest)
        if rest.keys() != {"value"}:
            raise Malformed("a member `value` is missing or not alone")
        return decoder(rest["value"])

    return read


def _object_decoder(cls: Any) -> Callable[[Any], Any]:
    adapt = getattr(cls, "as_now", None)

    @cache
    def members() -> dict[str, Callable[[Any], Any]]:
        # A type may hold itself, so its decoders are found when there is a document.
        return {name: _decoder(hint) for name, hint in layout(cls)}

    def read(document: Any) -> Any:
        if not isinstance(document, dict):
            raise Malformed("an object is missing")
        found = document if adapt is None else adapt(document)
        decoders = members()
        if found.keys() != decoders.keys():
            raise Malformed("an object has a member too many or too few")
        value = cls(**{name: read(found[name]) for name, read in decoders.items()})
        if found is not document and _encoder(cls)(value) != document:
            raise Malformed("a member is not what its format says it is")
        return value

    return read


def _laid_out(document: Any, newline: str) -> str:
    """Return the text of a document; ``newline`` ends in the spaces before it."""
    if isinstance(document, str):
        return encode_basestring(document)
    inner = f"{newline}  "
    if isinstance(document, dict):
        if not document:
            return "{}"
        items = [
            f"{encode_basestring(name)}: {_laid_out(document[name], inner)}"
            for name in sorted(document)
        ]
        return f"{{{inner}{f',{inner}'.join(items)}{newline}}}"
    if isinstance(document, list | tuple):
        if not document:
            return "[]"
        items = [_laid_out(item, inner) for item in document]
        return f"[{inner}{f',{inner}'.join(items)}{newline}]"
    return json.dumps(document)


def _text(document: Any) -> str:
    if not isinstance(document, str):
        raise Malformed("a text is missing")
    return document


def _flag(document: Any) -> bool:
    if not isinstance(document, bool):
        raise Malformed("true or false is missing")
    return document


def _list(document: Any) -> list[Any]:
    if not isinstance(document, list):
        raise Malformed("an array is missing")
    return document


def _members(document: Any) -> Members:
    if not isinstance(document, dict):
        raise Malformed("an object is missing")
    return tuple(sorted((name, _text(item)) for name, item in document.items()))


def _word(vocabulary: type[StrEnum], document: Any) -> StrEnum:
    try:
        return vocabulary(_text(document))
    except ValueError:
        raise Malformed("a word is none that is known") from None


def _integer(document: Any) -> int:
    text = _short(document)
    number = _whole(text)
    if str(number) != text:
        raise Malformed("a number is not exact text")
    return number


def _number(document: Any) -> Fraction:
    text = _short(document)
    top, slash, bottom = text.partition("/")
    if not slash:
        return Fraction(_integer(text))
    denominator = _whole(bottom)
    if denominator == 0:
        raise Malformed("a number is not exact text")
    number = Fraction(_whole(top), denominator)
    if str(number) != text:
        raise Malformed("a number is not exact text in lowest terms")
    return number


def _short(document: Any) -> str:
    text = _text(document)
    if len(text) > _DIGITS and sum(map(str.isdigit, text)) > _DIGITS:
        raise Malformed("a number has too many digits")
    return text


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Malformed("a number is not exact text") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("a member is given twice")
    return members


def _no_number(_: str) -> Any:
    raise Malformed("a number is not written as text")


def _require_shallow(data: bytes) -> None:
    brackets = _QUOTED.sub(b"", data).translate(None, delete=_NO_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > _DEPTH:
        raise Malformed("it is nested too deeply")
