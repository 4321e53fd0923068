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
    "normal": "gaussian",
    "discrete_gaussian": "gaussian",
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
    "minimum": "bounds",
    "max": "bounds",
    "maximum": "bounds",
    "values": "keys",
    "categories": "keys",
    "other": "others",
    "rest": "others",
    "everything_else": "others",
    "threshold": "shown_from",
    "min_units": "shown_from",
    "budget": "spend",
    "n": "rows",
    "bool": "boolean",
    "logical": "boolean",
    "datetime": "time",
    "timestamp": "time",
    "tz": "zone",
    "timezone": "zone",
    "computed": "derived",
    "calculated": "derived",
    "derive": "derived",
}
"""Words of other languages, and the word that means the same here."""
