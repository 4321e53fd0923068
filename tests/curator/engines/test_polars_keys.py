"""Units by private key: exact, total, a fair lottery, each unit for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from dpql.curator.columns import canonical_columns
from dpql.curator.engines import alike_cells, polars_keys
from dpql.curator.engines.polars import key_counts
from dpql.curator.key_search import KeySearch
from dpql.curator.program import Program
from dpql.curator.sources import open_source
from dpql.model.columns import IdColumn, PrivateColumn
from dpql.model.spec import Data, RowsAtMost

SALT = b"\x01" * 32
DATA = Data(
    source="rows",
    rows=RowsAtMost(count=100),
    columns=(IdColumn(name="who"), PrivateColumn(name="place")),
)

KEYS: dict[bytes | None, str | None] = {
    b"a": "a",
    b"A": "A",
    b"a ": "a ",
    b"\xc3\xa9": "é",
    b"e\xcc\x81": "e\u0301",
    b"=1+1": "=1+1",
    b"x" * 100: "x" * 100,
    b"x" * 101: None,
    b"\xff": None,
    b"a\nb": None,
    b"a\x00": None,
    "a\u202eb".encode(): None,
    "\u2028".encode(): None,
}
"""Cells, and the words that they are."""

Rows = Sequence[tuple[bytes | None, bytes | None]]


def _counted(
    frame: pl.DataFrame, most: int | None, salt: bytes = SALT
) -> dict[str, int]:
    search = KeySearch(
        statistic="found", columns=("place",), unit=most and "who", most=most or 1
    )
    program = Program(
        columns=canonical_columns(DATA),
        data=DATA,
        unit=search.unit,
        declared_rows=100,
        counts_rows=False,
        tallies=(),
        searches=(search,),
    )
    source = open_source(frame, DATA)
    (found,) = key_counts(program, source, salt=salt, tick=None).counts
    keys = found.keys(np.arange(len(found.counts)))
    counts = zip(keys, found.counts.tolist(), strict=True)
    assert len(keys) == len(set(keys))
    units = {key: count for (key,), count in counts}
    assert all(count > 0 for count in units.values())
    return units


def _found(rows: Rows, most: int | None, salt: bytes = SALT) -> Mapping[str, int]:
    """Return the number of units by word."""
    schema = {"who": pl.Binary, "place": pl.Binary}
    return _counted(pl.DataFrame(rows, schema=schema, orient="row"), most, salt)


IDS = st.sampled_from([None, b"p", b"P", b"q", b"\xff", b"\xfe", b"", b"05"])
CELLS = st.sampled_from([None, b"", *KEYS])
ROWS = st.lists(st.tuples(IDS, CELLS), max_size=30)


@given(rows=ROWS)
def test_rows_are_counted_by_key(rows: Rows) -> None:
    """Without a unit every row counts; what is no word has no key."""
    assert Counter(_words(cell for _, cell in rows if cell)) == _found(rows, None)


@given(rows=ROWS, most=st.integers(1, 4), salt=st.binary(min_size=32, max_size=32))
def test_a_unit_counts_for_some_of_its_keys(rows: Rows, most: int, salt: bytes) -> None:
    """Once for each, and for so many at most; no other unit has a say in which."""
    kept = {(who, cell) for who, cell in rows if who and cell}
    every: Counter[str] = Counter()
    for unit in {who for who, _ in kept}:
        own = [row for row in rows if row[0] == unit]
        found = _found(own, most, salt)
        cells = [cell for who, cell in kept if who == unit]
        words = _words(cells)
        assert set(found) <= set(words)
        assert set(found.values()) <= {1}
        # What is no word takes room of its unit all the same.
        room = min(most, len(cells))
        assert room - (len(cells) - len(words)) <= len(found) <= room
        every.update(found)
    assert every == _found(rows, most, salt)
    assert every == _found(rows[::-1] + rows, most, salt)


@pytest.mark.parametrize("rounds", [0, 6])
@given(rows=ROWS)
def test_hashes_tell_nothing_apart(rounds: int, rows: Rows) -> None:
    """Where all hashes are the same, cells are compared, and the bounds hold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polars_keys, "_hashes", _no_hashes)
        patch.setattr(polars_keys, "mixed", lambda one, _: one)
        patch.setattr(alike_cells, "_ROUNDS", rounds)
        found = _found(rows, 30)
    kept = {(who, cell) for who, cell in rows if who and cell}
    assert Counter(_words(cell for _, cell in kept)) == found


def _words(cells: Iterable[bytes]) -> list[str]:
    return [word for cell in cells if (word := KEYS[cell]) is not None]


def _no_hashes(cells: list[pl.Series], _: bytes) -> NDArray[np.uint64]:
    return np.zeros(len(cells[0]), np.uint64)


@pytest.mark.heavy
def test_every_key_of_a_unit_is_as_likely() -> None:
    """Chi-square over salts at 1e-9; rows of one key do not make it likelier."""
    cells = [b"a", b"a", b"a", b"a", b"A", b"=1+1", b"a "]
    rows = [(b"p", cell) for cell in cells]
    seen: Counter[frozenset[str]] = Counter()
    for number in range(600):
        seen[frozenset(_found(rows, 2, number.to_bytes(32, "big")))] += 1
    pairs = [frozenset(pair) for pair in combinations(["a", "A", "=1+1", "a "], 2)]
    assert set(seen) <= set(pairs)
    assert chisquare([seen[pair] for pair in pairs]).pvalue > 1e-9


@pytest.mark.parametrize("dtype", [pl.Int16, pl.UInt32, pl.String, pl.Categorical])
def test_keys_of_other_types_are_their_texts(dtype: Any) -> None:
    """Whole numbers are keys as their digits are."""
    cells = pl.Series("place", ["3", "12", None, "3"]).cast(
        dtype if dtype in (pl.String, pl.Categorical) else pl.Int64
    )
    frame = pl.DataFrame({"who": [1, 2, 3, 1], "place": cells.cast(dtype)})
    assert {"12": 1, "3": 1} == _counted(frame, 2)


def test_no_rows_have_no_keys() -> None:
    """Nothing stands in an empty table, or in one of nulls."""
    assert {} == _found([], 2)
    assert {} == _found([], None)
    assert {} == _found([(None, b"a"), (b"p", None)], 1)
