"""Declared columns are found by their names, and judged by their stored types."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tables import ID, REAL, WHOLE, category, declare

from dpql.curator.sources.stored import (
    check_types,
    find_columns,
    is_whole_id,
    whole_ids,
)
from dpql.errors import RunFault

DATA = declare(x=WHOLE, y=REAL, k=category("a"), p=ID)


def _refused(types: dict[str, list[Any]]) -> list[str]:
    with pytest.raises(RunFault) as caught:
        check_types(types, DATA)
    return [f"{one.code} {one.message}" for one in caught.value.diagnostics]


def test_columns_are_found_by_name() -> None:
    """In any order, beside others and beside names that are none."""
    names = ["p", None, "k", "z", "y", "z", None, "x"]
    assert {"x": 7, "y": 4, "k": 2, "p": 0} == find_columns(names, DATA)


def test_all_columns_that_are_missing_are_named() -> None:
    """Those that are there twice as well; others do not matter."""
    with pytest.raises(RunFault) as caught:
        find_columns(["x", "z", "z", "p", "p", "X"], DATA)
    messages = [one.message for one in caught.value.diagnostics]
    assert [
        "no column `y` in the data of `rows`",
        "no column `k` in the data of `rows`",
        "column `p` is there twice in the data of `rows`",
    ] == messages


_NUMBERS = [pl.Int8(), pl.UInt64(), pl.Int128(), pl.Float32(), pl.Float64()]
_ANY = [pl.String(), pl.Categorical(), pl.Boolean(), pl.Null(), *_NUMBERS]
_DECIMAL = pl.Decimal(9, 2)
_SUITABLE: dict[str, list[Any]] = {
    "x": [*_ANY, _DECIMAL],
    "y": [*_ANY, _DECIMAL],
    "k": [*_ANY, pl.Enum(["a"])],
    "p": [*_ANY, _DECIMAL, pl.Binary()],
}
_OTHERS: list[Any] = [pl.Date(), pl.Datetime(), pl.Time(), pl.Duration(), pl.Object()]
_OTHERS += [pl.List(pl.Int8), pl.Struct({"secret": pl.Int8}), "list<secret>"]
_REFUSED = [(name, dtype) for name in "xykp" for dtype in _OTHERS]
_REFUSED += [("x", pl.Binary()), ("y", pl.Binary()), ("k", pl.Binary())]
_REFUSED += [("k", _DECIMAL)]


def test_types_that_can_hold_what_is_declared_pass() -> None:
    """Text holds anything; decimals hold no keys."""
    check_types(_SUITABLE, DATA)


@pytest.mark.parametrize(("name", "dtype"), _REFUSED, ids=str)
def test_other_types_are_refused_by_name(name: str, dtype: Any) -> None:
    """A type is named without the fields and words that it holds."""
    types: dict[str, list[Any]] = {each: [pl.String()] for each in _SUITABLE}
    (fault,) = _refused(types | {name: [pl.String(), dtype]})
    assert fault.startswith(f"DPQL504 column `{name}` is of type ")
    assert "secret" not in fault


def test_whole_ids_are_integers_that_fit_into_64_bits() -> None:
    """Any other type of one file makes bytes of the ids of all files."""
    whole = [pl.Int8(), pl.Int64(), pl.UInt32(), pl.Null()]
    others = [pl.UInt64(), pl.Int128(), pl.Float64(), pl.String(), pl.Boolean()]
    assert [True] * 4 + [False] * 5 == [is_whole_id(t) for t in [*whole, *others]]
    types = {"a": pl.Int8(), "b": pl.UInt64(), "c": "list"}
    assert frozenset({"a"}) == whole_ids(types)
