"""Words that people bring from elsewhere, and what does their work here."""

from __future__ import annotations

from dpql.statistics import STATISTICS

SYNONYMS: dict[str, str] = {
    **{
        word: statistic.keyword
        for statistic in STATISTICS.values()
        for word in statistic.synonyms
    },
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
"""Words of other languages, and the word that means the same here."""

_DATES = "there are no dates: keep a number such as the year, and write `integer`"
_TRUTHS = "write `category`, with `keys: [true, false]`"

ADVICE: dict[str, tuple[str, str]] = {
    "date": ("integer", _DATES),
    "datetime": ("integer", _DATES),
    "timestamp": ("integer", _DATES),
    "bool": ("category", _TRUTHS),
    "boolean": ("category", _TRUTHS),
}
"""Words without a counterpart: beside which word they are tried, and the advice."""
