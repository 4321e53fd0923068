"""Texts are found among keys by hash, and told by their bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.sources import key_codes
from dpql.curator.sources.key_codes import KeyCodes

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def encoded(cells: Sequence[str | None]) -> pl.Series:
    """Return texts as a source hands them over."""
    return pl.Series(cells, dtype=pl.String).cast(pl.Binary)


@given(st.lists(TEXTS, min_size=1, unique=True), st.lists(st.none() | TEXTS))
def test_a_text_has_the_code_of_the_equal_key(
    keys: list[str], others: list[str | None]
) -> None:
    """Keys are found, and nothing else is."""
    cells = [*others, *keys, *(key + "\0" for key in keys)]
    expected = [keys.index(cell) if cell in keys else None for cell in cells]
    assert expected == KeyCodes(encoded(keys)).of_cells(encoded(cells)).to_list()


@pytest.mark.parametrize("count", [1, 2, 50, 30_000])
def test_every_key_is_found(count: int) -> None:
    """However many there are, and however their hashes fall into tables."""
    keys = [f"key{number}" for number in range(count)]
    found = KeyCodes(encoded(keys)).of_cells(encoded([*keys, "key"]))
    assert [*range(count), None] == found.to_list()


def test_bytes_that_are_no_text_have_no_code() -> None:
    """Neither broken UTF-8 nor an empty text is a key, unless it is declared."""
    cells = pl.Series([b"\xff", b"", b"a", b"a\xff", None], dtype=pl.Binary)
    assert [None, None, 0, None, None] == KeyCodes(encoded(["a"])).of_cells(
        cells
    ).to_list()
    assert [None, 1, 0, None, None] == KeyCodes(encoded(["a", ""])).of_cells(
        cells
    ).to_list()


def test_no_cells_have_no_codes() -> None:
    """An empty batch is one, too."""
    found = KeyCodes(encoded(["a"])).of_cells(encoded([]))
    assert (0, pl.UInt32) == (len(found), found.dtype)


def test_equal_hashes_are_not_equal_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text with the hash of a key has no code, and keys of one hash are reseeded."""
    seeds = set()

    def hashed(cells: pl.DataFrame, seed: int) -> pl.Series:
        seeds.add(seed)
        sizes = cells.to_series().bin.size().to_numpy().astype(np.uint64)
        return pl.Series(sizes * np.uint64(seed), dtype=pl.UInt64)

    monkeypatch.setattr(pl.DataFrame, "hash_rows", hashed)
    found = KeyCodes(encoded(["a", "bb", "ccc"])).of_cells(
        encoded(["bb", "xx", "a", "x"])
    )
    assert [1, None, 0, None] == found.to_list()
    assert {0, 1} <= seeds


def test_few_keys_need_one_table() -> None:
    """A batch is looked up once where some seed keeps all keys apart."""
    keys = [f"key{number}" for number in range(300)]
    assert 1 == len(KeyCodes(encoded(keys))._tables)


def test_keys_are_prepared_once() -> None:
    """Files of a folder share what was made of the keys."""
    keys = "a", "b"
    assert key_codes.key_codes(keys) is key_codes.key_codes(("a", "b"))
