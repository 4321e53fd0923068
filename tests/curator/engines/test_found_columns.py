"""Codes of keys that were found: exact, total, several columns, others."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.columns import canonical_columns
from dpql.curator.engines.found_columns import FoundColumns
from dpql.curator.key_search import FoundColumn
from dpql.curator.program import Program
from dpql.curator.sources import open_source
from dpql.model.columns import PrivateColumn
from dpql.model.spec import Data, RowsAtMost

NAMES = ("a", "b", "c", "d", "e")
DATA = Data(
    source="rows",
    rows=RowsAtMost(count=100),
    columns=tuple(PrivateColumn(name=name) for name in NAMES),
)
WORDS = ["x", "X", "é", "", "12", "-3", None, "^c.*$"]


def _codes(
    rows: list[tuple[str | None, ...]],
    columns: tuple[str, ...],
    keys: tuple[tuple[str, ...], ...],
    *,
    others: bool,
    dtype: type[pl.DataType] = pl.String,
) -> list[int | None]:
    found = FoundColumn(columns=columns, keys=keys, others=others, statistic="seen")
    program = Program(
        columns=canonical_columns(DATA),
        data=DATA,
        unit=None,
        declared_rows=100,
        counts_rows=False,
        tallies=(),
        found=(found,),
    )
    frame = pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")
    frame = frame.cast(dtype)
    source = open_source(frame, DATA)
    with_found = FoundColumns(program, source)
    made = list(source.batches(list(NAMES), with_found))
    codes = [code for one in made for code in one.get_column(found.name)]
    assert codes or not rows
    return codes


ROWS = st.lists(st.tuples(*[st.sampled_from(WORDS)] * len(NAMES)), max_size=20)


@given(
    rows=ROWS,
    columns=st.permutations(NAMES).flatmap(
        lambda names: st.integers(1, 5).map(lambda count: tuple(names[:count]))
    ),
    others=st.booleans(),
    data=st.data(),
)
def test_a_row_has_the_number_of_its_key(
    rows: list[tuple[str | None, ...]],
    columns: tuple[str, ...],
    data: st.DataObject,
    *,
    others: bool,
) -> None:
    """That of all its words together; or of all others; null where a word is."""
    word = st.sampled_from([word for word in WORDS if word])
    key = st.tuples(*[word] * len(columns))
    keys = tuple(data.draw(st.lists(key, max_size=8, unique=True)))
    codes = _codes(rows, columns, keys, others=others)
    for row, code in zip(rows, codes, strict=True):
        cells = dict(zip(NAMES, row, strict=True))
        mine = tuple(cells[name] for name in columns)
        if mine in keys:
            assert keys.index(mine) == code
        elif others and all(mine):
            assert len(keys) == code
        else:
            assert code is None


@pytest.mark.parametrize("others", [False, True])
def test_integers_are_keys_by_their_digits(*, others: bool) -> None:
    """Cells that are integers are compared as integers."""
    rows: list[tuple[str | None, ...]] = [
        (word,) * 5 for word in ("3", "-3", "12", None)
    ]
    codes = _codes(rows, ("b",), (("12",), ("-3",)), others=others, dtype=pl.Int64)
    other = 2 if others else None
    assert [other, 1, 0, None] == codes


def test_many_keys_of_several_columns() -> None:
    """There may be more keys than bytes count, and more pairs than words."""
    words = [str(number) for number in range(9)]
    keys = tuple(product(words, repeat=4))
    rows: list[tuple[str | None, ...]] = [(*key, None) for key in keys[::7]]
    codes = _codes(rows, NAMES[:4], keys, others=False)
    assert list(range(0, len(keys), 7)) == codes
