"""The meaning of `map`: pairs of keys, in the spec or from a file beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dpql.diagnostics import is_hidden, shown
from dpql.language.pair_files import pairs_in
from dpql.language.predicate import (
    Argument,
    Listing,
    Mark,
    Named,
    Pairs,
    Piece,
    Use,
)
from dpql.language.suggestions import did_you_mean, quoted
from dpql.language.typed import Typed, Typer
from dpql.model.characters import look, mixes_alphabets
from dpql.model.expression import Map, Pair
from dpql.model.lattice_keys import keys_of
from dpql.model.limits import KEY

_FORM = "map(x, {AA: big, UA: big}, else: small, missing: unknown)"
_WORDS = ("else", "missing", "file")


def mapped(typer: Typer, use: Use) -> Typed | None:
    """Return the keys that others are mapped to, or note what is wrong."""
    operand, *others = use.arguments
    named = _named(typer, others)
    tables = [one for one in others if isinstance(one, Pairs)]
    if (
        isinstance(operand, Listing | Pairs | Named)
        or named is None
        or len(tables) + ("file" in named) != 1
        or len(tables) + len(named) != len(others)
    ):
        if named is not None:
            typer.add(
                "DPQL363",
                "a map has a column of keys, and one list of pairs",
                use,
                f"write `{_FORM}`, or `file: 'names.txt'` for the pairs",
            )
        return None
    found = typer.typed(operand)
    if found is None:
        return None
    digest = None
    if not keys_of(found.node):
        nothing = Map(
            operand=found.expression,
            pairs=(),
            otherwise=None,
            missing=None,
            digest=None,
        )
        return typer.made(nothing, [found], use)
    if tables:
        rows = list(tables[0].pairs) if _are_keys(typer, found, tables[0]) else None
    else:
        file = named.pop("file")
        at = typer.scalar.part(file.start, file.end)
        read = pairs_in(file.text, at, keys_of(found.node), typer.context)
        rows, digest = (None, None) if read is None else read
    unsound = [piece for piece in named.values() if not _is_key(typer, piece)]
    if rows is None or unsound:
        return None
    values = [value for _, value in rows]
    if not tables:
        values = [replace(one, start=file.start, end=file.end) for one in values]
    if not _are_apart(typer, [*values, *named.values()]):
        return None
    pairs = tuple(Pair(key=key.text, value=value.text) for key, value in rows)
    made = Map(
        operand=found.expression,
        pairs=pairs,
        otherwise=_text(named.get("else")),
        missing=_text(named.get("missing")),
        digest=digest,
    )
    return typer.made(made, [found], use)


def _named(typer: Typer, arguments: Sequence[Argument]) -> dict[str, Piece] | None:
    found: dict[str, Piece] = {}
    for one in arguments:
        if not isinstance(one, Named):
            continue
        word = one.name.text
        if word not in _WORDS or word in found:
            typer.add(
                "DPQL363",
                f"`{shown(word)}` is given twice"
                if word in found
                else f"`map` takes no `{shown(word)}`",
                one.name,
                did_you_mean(word, _WORDS) or f"it takes {quoted(_WORDS)}",
            )
            return None
        found[word] = one.value
    return found


def _are_keys(typer: Typer, found: Typed, table: Pairs) -> bool:
    """Tell whether pairs have keys that there are, or note which have not."""
    known = keys_of(found.node)
    seen: dict[str, Piece] = {}
    sound = True
    for key, value in table.pairs:
        sound = _is_key(typer, value) and sound
        if seen.setdefault(key.text, key) is not key:
            typer.add(
                "DPQL305",
                f"`{shown(key.text)}` is twice in the map",
                key,
                "keep one of them",
            )
            sound = False
        elif known and key.text not in known:
            typer.add(
                "DPQL319",
                f"`{shown(key.text)}` is not one of the keys that are mapped",
                key,
                did_you_mean(key.text, known) or f"they are {quoted(known[:6])}",
            )
            sound = False
    return sound


def _are_apart(typer: Typer, values: Sequence[Piece]) -> bool:
    """Tell whether no two values look alike, and none like what it is not."""
    looks: dict[str, str] = {}
    sound = True
    for value in values:
        if looks.setdefault(look(value.text), value.text) != value.text:
            typer.add(
                "DPQL322",
                f"`{shown(value.text)}` looks like another value of the map",
                value,
                "write both alike, or change one of them",
            )
            sound = False
        if mixes_alphabets(value.text):
            typer.add(
                "DPQL324",
                f"`{shown(value.text)}` mixes letters of several alphabets in a word",
                value,
                "type it anew in one alphabet",
            )
            sound = False
    return sound


def _is_key(typer: Typer, piece: Piece) -> bool:
    """Tell whether a word can be a key, or note that it cannot."""
    text = piece.text
    if piece.mark is Mark.COLUMN:
        typer.add(
            "DPQL363",
            f"`{shown(text)}` is in backquotes, which are for columns",
            piece,
            f"write `'{shown(text)}'`",
        )
        return False
    sound = (
        len(text) <= KEY.longest
        and re.fullmatch(KEY.pattern, text)
        and not any(map(is_hidden, text))
    )
    if not sound:
        typer.add(
            "DPQL363",
            f"`{shown(text)}` cannot be a key",
            piece,
            f"at most {KEY.longest} characters, no tabs, no space at either end",
        )
    return bool(sound)


def _text(piece: Piece | None) -> str | None:
    return None if piece is None else piece.text
