"""The rules by which private keys of two plans are compared.

What is shown of keys depends on the data as soon as they are found, so a person must
look where keys become private, or public. That keys of few units are never shown is a
promise: it shrinks with `shown_from`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpql.model.columns import OTHERS, CategoryColumn, PrivateColumn
from dpql.model.figures import decimal, percent, plural
from dpql.model.plan import Step
from dpql.review.change import Change, Verdict
from dpql.review.contrast import contrast
from dpql.review.names import column_name, whole

Keyed = CategoryColumn | PrivateColumn

_FOUND = (
    "which keys have values depends on the data; those that few units have are not "
    "shown, and finding them takes a part of δ"
)
_DECLARED = "every declared key has a value, whatever there is of it; others have none"
_COUNTED = "what is no key is counted too, under this one"
_UNCOUNTED = "what is no key counts nowhere"


def keys_changes(old: Keyed, new: Keyed) -> Iterator[Change]:
    """Yield what differs in where the keys of a column come from, and what is none."""
    name = column_name(new.name)
    if type(old) is not type(new):
        text = f"{name}, {_origin(old)} → {_origin(new)}"
        note = _FOUND if isinstance(new, PrivateColumn) else _DECLARED
        yield Change.of(Verdict.REVIEW, "keys", text, note)
    if old.others != new.others:
        text = f"{name}, {'+' if new.others else '-'} {OTHERS}"
        note = _COUNTED if new.others else _UNCOUNTED
        yield Change.of(Verdict.REVIEW, "keys", text, note)


def search_changes(old: Step, new: Step) -> Iterator[Change]:
    """Yield what differs in which statistic finds keys, and in which are shown."""
    name = whole(new.name)
    if old.per_key and new.per_key and old.found_by != new.found_by:
        text = f"{name}: {_finder(old)} → {_finder(new)}"
        note = "other keys may have values"
        yield Change.of(Verdict.REVIEW, "finds", text, note)
    if old.delta != new.delta:
        text = f"{name} δ {contrast(old.delta, new.delta, _chance, 4)}"
        more = new.delta > old.delta
        often = "by chance" if not old.delta else "more often" if more else "less often"
        note = f"keys that one unit alone has are shown {often}"
        verdict = Verdict.REVIEW if more else Verdict.SAME
        yield Change.of(verdict, "spends", text, note)
    if old.search is None or new.search is None:
        return
    unit = "row" if new.bound is None else "unit"
    yield from _least(name, old.search.shown_from, new.search.shown_from, unit)
    if _chances(old) != _chances(new):
        yield _shown(name, old, new, unit)
    if old.search.most != new.search.most:
        counts = plural(old.search.most, "key"), plural(new.search.most, "key")
        text = f"{name}, at most {' → '.join(counts)}"
        yield Change.of(Verdict.SAME, "shown", text)


def _least(name: str, old: int, new: int, unit: str) -> Iterator[Change]:
    """Yield from how many units on a key may be shown."""
    if old == new:
        return
    low, high = min(old, new), max(old, new) - 1
    some = f"{low}" if low == high else f"{low} to {high}"
    weaker = new < old
    note = (
        f"keys of {some} {unit}s {'may be shown' if weaker else 'are never shown'} now"
    )
    verdict = Verdict.WEAKER if weaker else Verdict.STRONGER
    yield Change.of(verdict, "shown_from", f"{name} {old} → {new}", note)


def _origin(column: Keyed) -> str:
    if isinstance(column, PrivateColumn):
        return "found in the data"
    return plural(len(column.declared), "declared key")


def _finder(step: Step) -> str:
    if step.found_by is None:
        return "finds its keys"
    return f"the keys that {whole(step.found_by)} shows"


def _chances(step: Step) -> tuple[tuple[int, str], ...]:
    """Return from how many units on keys are shown, and how often."""
    assert step.search is not None, "the step finds keys"
    usual = percent(1 - step.alpha)
    return (step.search.half, "half"), (step.search.usual, usual)


def _shown(name: str, old: Step, new: Step, unit: str) -> Change:
    words = [
        f"in {share if share == was else f'{was} → {share}'} of the runs from "
        f"{_many(first)} → {_many(last)} {unit}s on"
        for (first, was), (last, share) in zip(
            _chances(old), _chances(new), strict=True
        )
    ]
    gain = _chances(old)[0][0] - _chances(new)[0][0]
    note = "more keys are shown" if gain > 0 else "fewer keys are shown"
    return Change.of(
        Verdict.SAME, "shown", f"{name} {', '.join(words)}", note if gain else ""
    )


def _many(count: int) -> str:
    return decimal(Fraction(count), 1)


def _chance(x: Fraction, digits: int) -> str:
    return decimal(x, digits, up=True)
