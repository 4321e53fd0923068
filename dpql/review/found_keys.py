"""Keys that are found, for a reviewer: which will be shown, before there are data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpql.model.columns import OTHERS
from dpql.model.figures import decimal, plural, rational
from dpql.model.key_text import has_others, most_text, shown_text
from dpql.model.plan import Plan, Search, Step
from dpql.review.names import column_name, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysLine:
    """A statistic that finds the keys of some columns, and which of them it shows.

    ``shown`` says so in words. With ``others`` statistics by these columns have a value
    of everything else.
    """

    statistic: str
    columns: tuple[str, ...]
    search: Search
    shown: str
    others: bool

    def __str__(self) -> str:
        columns = " and ".join(map(column_name, self.columns))
        others = f"; all else counts as {OTHERS}" * self.others
        return (
            f"{columns}, found by {whole(self.statistic)}: {self.shown}; "
            f"{most_text(self.search)}{others}"
        )

    def document(self) -> dict[str, Any]:
        """Return the line as JSON."""
        search = self.search
        return {
            "columns": list(self.columns),
            "found_by": self.statistic,
            "words": self.shown,
            "shown_from": str(search.shown_from),
            "half": str(search.half),
            "usual": str(search.usual),
            "certain": None if search.certain is None else str(search.certain),
            "most": str(search.most),
            "delta": str(search.delta),
            "others": self.others,
        }


def keys_lines(plan: Plan) -> tuple[KeysLine, ...]:
    """Return the searches of a plan in its order."""
    return tuple(
        KeysLine(
            statistic=step.name,
            columns=step.by,
            search=step.search,
            shown=shown_text(plan, step),
            others=has_others(plan, step)
            and any(other.found_by == step.name for other in plan.steps),
        )
        for step in plan.steps
        if step.search is not None
    )


def delta_text(plan: Plan) -> str | None:
    """Return what the delta of a plan is for, where keys are found."""
    events = sum((step.delta for step in plan.steps), Fraction(0))
    if not events:
        return None
    text = f"{_chance(events)} for keys that one unit alone has, to be shown by chance"
    left = plan.delta_spent - events
    return text if not left else f"{text}; {_chance(left)} to turn ρ into ε"


def reach_text(step: Step, search: Search) -> str:
    """Return how many keys one unit changes, and what is spent on each."""
    change = f"one unit can change {plural(search.keys, 'key')}"
    if step.epsilon is None:
        return f"{change}: all of them together cost its ρ once"
    each = rational(step.epsilon / search.keys)
    return f"{change}, so each spends ε {each}"


def cells_text(step: Step) -> str:
    """Return the number of cells of a step, as a table has room for it."""
    count = f"{step.cells:,}".replace(",", " ")
    return f"{count} a key" if step.per_key else count


def found_notes(plan: Plan, step: Step) -> Iterator[str]:
    """Yield what must be known of the keys of a step that another one finds."""
    if step.found_by is None:
        return
    found = plan.step(step.found_by)
    more = f", and for {OTHERS}" * has_others(plan, found)
    yield f"for each key that {whole(found.name)} shows{more}"


def _chance(x: Fraction) -> str:
    return f"δ {decimal(x, 3, up=True)}"
