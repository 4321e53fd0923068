"""The meaning of `map`: pairs of keys, in the spec or from a file beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpql.diagnostics import is_hidden, shown
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
                f"write `{_FORM}`, or `file: 'names.csv'` for the pairs",
            )
        return None
    found = typer.typed(operand)
    if found is None:
        return None
    digest = None
    pairs = _pairs(typer, found, tables[0]) if tables else None
    sound = all(_is_key(typer, piece) for piece in named.values())
    if pairs is None or not sound:
        return None
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


def _pairs(typer: Typer, found: Typed, table: Pairs) -> tuple[Pair, ...] | None:
    known = keys_of(found.node)
    seen: dict[str, Piece] = {}
    looks: dict[str, str] = {}
    sound = True
    for key, value in table.pairs:
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
        sound = _is_key(typer, value) and sound
        if looks.setdefault(look(value.text), value.text) != value.text:
            typer.add(
                "DPQL322",
                f"`{shown(value.text)}` looks like another value of the map",
                value,
                "write both alike, or change one of them",
            )
            sound = False
    if not sound:
        return None
    return tuple(Pair(key=key.text, value=value.text) for key, value in table.pairs)


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
    if mixes_alphabets(text):
        typer.add(
            "DPQL324",
            f"`{shown(text)}` mixes letters of several alphabets in a word",
            piece,
            "type it anew in one alphabet",
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
