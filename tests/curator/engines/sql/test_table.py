"""Types decide what SQL reads: text is never cast, and nothing is refused by a row."""

from __future__ import annotations

import polars as pl
import pytest
from databases import Database
from tables import ID, REAL, WHOLE, category, declare

from dpql.curator.engines.sql.script import DIALECTS
from dpql.curator.engines.sql.table import imagined_table
from dpql.errors import RunFault


@pytest.mark.parametrize("declared", [WHOLE, REAL])
def test_numbers_in_text_are_refused(declared: str, database: Database) -> None:
    """Databases take 1_000, 0x10 and 1d for numbers, or fail on them."""
    frame = pl.DataFrame({"x": ["1", "2"]})
    if database.name == "spark":
        # There the polars engine reads what SQL does not.
        opened = database.engine.open_source(database.write(frame), declare(x=declared))
        assert opened.kinds is None
        return
    with pytest.raises(RunFault) as caught:
        database.engine.open_source(database.write(frame), declare(x=declared))
    (fault,) = caught.value.diagnostics
    assert "DPQL504" == fault.code
    assert "`x`" in fault.message
    assert fault.hint


@pytest.mark.parametrize(
    ("declared", "frame"),
    [
        (category("1", "2"), pl.DataFrame({"x": [1.0, 2.0]})),
        (ID, pl.DataFrame({"x": [1.0]})),
        (ID, pl.DataFrame({"x": [True]})),
    ],
)
def test_floats_are_no_words(
    declared: str, frame: pl.DataFrame, database: Database
) -> None:
    """Databases write floats in ways of their own."""
    if database.name == "spark":
        opened = database.engine.open_source(database.write(frame), declare(x=declared))
        assert opened.kinds is None
        return
    with pytest.raises(RunFault) as caught:
        database.engine.open_source(database.write(frame), declare(x=declared))
    assert "DPQL504" == caught.value.diagnostics[0].code


def test_a_missing_column_is_refused(database: Database) -> None:
    """From the schema alone."""
    written = database.write(pl.DataFrame({"y": [1]}))
    with pytest.raises(RunFault) as caught:
        database.engine.open_source(written, declare(x=WHOLE))
    assert "DPQL503" == caught.value.diagnostics[0].code


def test_other_data_are_refused(database: Database) -> None:
    """A database reads its own tables; the message says which they are."""
    for frame in (pl.DataFrame({"x": [1]}), "rows.parquet", "sqlite:x#y", 7):
        with pytest.raises(RunFault) as caught:
            database.engine.open_source(frame, declare(x=WHOLE))
        assert "DPQL502" == caught.value.diagnostics[0].code


@pytest.mark.parametrize("name", DIALECTS)
def test_a_table_can_be_imagined(name: str) -> None:
    """It has the types that its declaration suggests, and answers nothing."""
    data = declare(x=WHOLE, who=ID)
    imagined = imagined_table(data, DIALECTS[name])
    assert {"x", "who"} == set(imagined.kinds)
    with pytest.raises(AssertionError):
        imagined.ask("SELECT 1")
