"""The tables of a release and their dictionary, as files of the release folder."""

from __future__ import annotations

from dpql.model.release import Outcome
from dpql.model.release_tables import TIDY_FROM
from dpql.reports.dictionary import dictionary
from dpql.reports.file_names import (
    CSV_NAME,
    DICTIONARY_NAME,
    PARQUET_NAME,
    table_names,
)


def texts_of(outcome: Outcome) -> dict[str, bytes]:
    """Return the csv tables: what they hold follows from the values alone."""
    texts = {CSV_NAME: outcome.to_csv()}
    if outcome.plan.version >= TIDY_FROM:
        names = table_names(outcome.plan)
        texts |= {names[result.name]: result.to_csv() for result in outcome.results}
    return {name: text.encode() for name, text in texts.items()}


def tables_of(outcome: Outcome) -> dict[str, bytes]:
    """Return all files of a release but its envelope and its page."""
    found = {**texts_of(outcome), PARQUET_NAME: outcome.to_parquet()}
    if outcome.plan.version >= TIDY_FROM:
        found[DICTIONARY_NAME] = dictionary(outcome.plan).encode()
    return found
