"""What a word looks like: names and keys that a reader could take for one another."""

from __future__ import annotations

import unicodedata
from itertools import groupby

_ALPHABETS = frozenset(
    {"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "DESERET", "GREEK", "LATIN", "LISU"}
)
"""Alphabets that share shapes with Latin (Unicode Technical Standard 39)."""

# Letters of Cyrillic, Greek and Armenian that look like a Latin one, from the table
# confusables.txt of Unicode Technical Standard 39, each group beside its
# Latin twin.
_LOOKS = str.maketrans(
    {
        **dict(zip("АВЕЅІЈКМНОРСТУХ", "ABESIJKMHOPCTYX", strict=True)),
        **dict(zip("аеѕіјорсухԁһԛԝ", "aesijopcyxdhqw", strict=True)),
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
        **dict(zip("αγινορυϲϳ", "ayivopucj", strict=True)),
        **dict(zip("օսոց", "ounq", strict=True)),
    }
)


def look(word: str) -> str:
    """Return a word that is the same for words that look alike."""
    return unicodedata.normalize("NFKC", word).translate(_LOOKS)


def mixes_alphabets(text: str) -> bool:
    """Tell whether a run of letters is of two alphabets that share shapes."""
    return any(
        len({_alphabet(letter) for letter in run} & _ALPHABETS) > 1
        for alphabetic, run in groupby(text, str.isalpha)
        if alphabetic
    )


def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
