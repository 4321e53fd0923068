"""Check keys that were found: what a search of a plan can have shown, and in what form.

    every key of its own, in the order of its texts, a word of each column
    each with an outcome that is shown, and no more of them than the plan lets be

That some keys are missing nobody can tell: which there are is private.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpql.diagnostics import shown
from dpql.errors import DpqlError, VerifyFault
from dpql.mechanisms import SEARCHES
from dpql.model.characters import look
from dpql.model.columns import OTHERS
from dpql.model.limits import MOST_ROWS
from dpql.model.plan import Search, Step
from dpql.model.spec import Data
from dpql.reports.predicate import StatisticRecord

LONGEST = 100
"""The most characters of a word that can be found."""

_UNPRINTED = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Kinds of characters that no key has. Another version of Unicode has other letters, so
those that this one does not know are let through."""


def require_possible(step: Step, record: StatisticRecord, data: Data) -> None:
    """Refuse keys that the search of a step cannot have shown (DPQL609)."""
    search, name = step.search, shown(step.name)
    assert search is not None, "the step finds keys"
    keys = [value.cell for value in record.values]
    width, others = len(step.by), any(map(data.has_others, step.by))
    if not all(_is_key(key, width, others=others) for key in keys):
        raise _impossible(
            f"a key that `{name}` shows is none that can be found",
            "a key is a printed word of each column, of 100 characters at most",
        )
    if any(before >= after for before, after in pairwise(keys)):
        raise _impossible(
            f"the keys that `{name}` shows are not in order, each once",
            "keys are released in the order of their texts",
        )
    if len(keys) > search.most:
        raise _impossible(
            f"`{name}` shows more keys than its plan lets be shown",
            "the plan says under `most` how many keys are shown at most",
        )


class KeyOutcomes:
    """The numbers that can be released with a key that a step finds."""

    def __init__(self, step: Step) -> None:
        assert step.search is not None, "the step finds keys"
        self._module, self._noise = _restored(step.search)
        self._before = 0 if step.names_only else step.search.shown_from - 1
        reach = getattr(self._noise, "reach", None)
        self._most = None if reach is None else int(step.upper) + reach

    def holds(self, x: Fraction) -> bool:
        """Tell whether a number can be released with a key."""
        count = int(x) - self._before
        if self._most is not None and count > self._most:
            return False
        return x.denominator == 1 and self._module.is_outcome(self._noise, count)


def least_shown(search: Search) -> int:
    """Return the least number that is released with a key."""
    module, noise = _restored(search)
    counts: Sequence[int] = range(1, MOST_ROWS)
    first = bisect_left(counts, True, key=lambda x: module.is_outcome(noise, x))
    return counts[first] + search.shown_from - 1


def _restored(search: Search) -> tuple[Any, Any]:
    module = SEARCHES.get(search.noise.mechanism)
    try:
        if module is not None:
            return module, module.restore(dict(search.noise.parameters))
    except DpqlError:
        pass
    raise VerifyFault.of(
        "DPQL608",
        "the noise of the report is not what its plan and noisy numbers give",
        hint="the signer altered it, or used another version of dpql",
    )


def _is_key(key: tuple[str, ...], width: int, *, others: bool) -> bool:
    return len(key) == width and all(
        0 < len(word) <= LONGEST
        and not (others and look(word) == OTHERS)
        and _is_printed(word)
        for word in key
    )


def _is_printed(word: str) -> bool:
    # What Python takes for unprinted may be a wide space, or a letter new to it.
    return word.isprintable() or not any(
        unicodedata.category(letter) in _UNPRINTED for letter in word
    )


def _impossible(what: str, hint: str) -> VerifyFault:
    return VerifyFault.of("DPQL609", what, hint=hint)
