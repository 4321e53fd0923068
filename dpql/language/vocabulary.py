"""The words a spec may use for statistics and types, and what each of them demands."""

from __future__ import annotations

from dataclasses import dataclass

from dpql.model.spec import MechanismName, StatisticKind


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticWord:
    """How a statistic is asked for.

    ``inputs`` is the number of columns, and 0 means the word `rows`. ``mechanism`` is
    taken when neither the statistic nor the defaults name one. A statistic that
    ``needs_public_count`` exists only where the number of rows aggregated is public.
    """

    kind: StatisticKind
    inputs: int
    mechanism: MechanismName
    of_category: bool = False
    needs_public_count: bool = False
    takes_at_least: bool = False
    fewest_rows: int = 1
    summary: str
    example: str | tuple[str, ...]


STATISTICS: dict[str, StatisticWord] = {
    word.kind.value: word
    for word in (
        StatisticWord(
            kind=StatisticKind.COUNT,
            inputs=0,
            mechanism=MechanismName.GEOMETRIC,
            summary="How many rows there are, or how many pass `where`.",
            example="rows",
        ),
        StatisticWord(
            kind=StatisticKind.SUM,
            inputs=1,
            mechanism=MechanismName.SNAPPING,
            summary="The sum of a number column, each cell clamped to its bounds.",
            example="wage",
        ),
        StatisticWord(
            kind=StatisticKind.MEAN,
            inputs=1,
            mechanism=MechanismName.SNAPPING,
            takes_at_least=True,
            summary="The mean of a number column, each cell clamped to its bounds.",
            example="wage",
        ),
        StatisticWord(
            kind=StatisticKind.VARIANCE,
            inputs=1,
            mechanism=MechanismName.SNAPPING,
            takes_at_least=True,
            fewest_rows=2,
            summary="The variance of a number column, each cell clamped to its bounds: "
            "of the sample (divided by n - 1) where the number of rows is public, else "
            "of the population (divided by n).",
            example="wage",
        ),
        StatisticWord(
            kind=StatisticKind.COVARIANCE,
            inputs=2,
            mechanism=MechanismName.SNAPPING,
            needs_public_count=True,
            fewest_rows=2,
            summary="The sample covariance of two number columns; n must be public.",
            example=("age", "wage"),
        ),
        StatisticWord(
            kind=StatisticKind.HISTOGRAM,
            inputs=1,
            mechanism=MechanismName.GEOMETRIC,
            of_category=True,
            summary="How many rows fall into each bin, or have each key.",
            example="age",
        ),
    )
}

AT_LEAST_WORDS = tuple(
    word for word, entry in STATISTICS.items() if entry.takes_at_least
)

SYNONYMS: dict[str, str] = {
    "avg": "mean",
    "average": "mean",
    "var": "variance",
    "cov": "covariance",
    "hist": "histogram",
    "total": "sum",
    "int": "integer",
    "number": "decimal",
    "numeric": "decimal",
    "double": "float",
    "real": "float",
    "string": "category",
    "enum": "category",
    "laplace": "snapping",
    "discrete_laplace": "geometric",
    "eps": "epsilon",
    "neighbors": "neighbours",
    "bounded": "replace_one",
    "unbounded": "add_remove",
    "group_by": "by",
    "filter": "where",
    "range": "bounds",
    "lower": "bounds",
    "upper": "bounds",
    "min": "bounds",
    "max": "bounds",
    "values": "keys",
    "categories": "keys",
    "budget": "spend",
    "n": "rows",
}
"""Words people bring from elsewhere, and the word that does it here."""

_QUANTILES = "there are no quantiles: `histogram` with `bins` shows where they lie"
_DATES = "there are no dates: keep a number such as the year, and write `integer`"
_TRUTHS = "write `category`, with `keys: [true, false]`"

ADVICE: dict[str, tuple[str, str]] = {
    "median": ("histogram", _QUANTILES),
    "quantile": ("histogram", _QUANTILES),
    "percentile": ("histogram", _QUANTILES),
    "date": ("integer", _DATES),
    "datetime": ("integer", _DATES),
    "timestamp": ("integer", _DATES),
    "bool": ("category", _TRUTHS),
    "boolean": ("category", _TRUTHS),
}
"""Words that nothing here stands for: where they are looked for, and what to do."""
