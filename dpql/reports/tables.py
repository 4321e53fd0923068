"""The tables of a release and their dictionary, as files of the release folder."""

from __future__ import annotations

from dpql.model.release import Outcome
from dpql.model.release_tables import TIDY_FROM, csv_tables
from dpql.reports.dictionary import dictionary
from dpql.reports.file_names import (
    CSV_NAME,
    DICTIONARY_NAME,
    PARQUET_NAME,
    table_names,
)


def texts_of(outcome: Outcome) -> dict[str, bytes]:
    """Return the csv tables: what they hold follows from the values alone."""
    if outcome.plan.version < TIDY_FROM:
        texts = {CSV_NAME: outcome.to_csv()}
    else:
        whole, tables = csv_tables(outcome)
        names = table_names(outcome.plan)
        own = (names[result.name] for result in outcome.results)
        texts = {CSV_NAME: whole, **dict(zip(own, tables, strict=True))}
    return {name: text.encode() for name, text in texts.items()}


def tables_of(outcome: Outcome) -> dict[str, bytes]:
    """Return all files of a release but its envelope and its page."""
    found = {**texts_of(outcome), PARQUET_NAME: outcome.to_parquet()}
    if outcome.plan.version >= TIDY_FROM:
        found[DICTIONARY_NAME] = dictionary(outcome.plan).encode()
    return found
