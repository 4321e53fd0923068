"""The form of a column follows from its declaration alone."""

from __future__ import annotations

import pytest
from spec_text import make_spec

from dpql.curator.columns import (
    CanonicalColumn,
    Content,
    Form,
    canonical_column,
    canonical_columns,
    code_bits,
)
from dpql.model.spec import Data


def _declared(**columns: str) -> Data:
    return make_spec(columns, {"n": {"count": "rows", "spend": "{share: 1}"}}).data


@pytest.mark.parametrize(
    ("column", "form"),
    [
        ("{type: integer, bounds: [0, 9], nulls: drop}", Form.WHOLE),
        ("{type: integer, bounds: [0, 1152921504606846976], nulls: drop}", Form.WHOLE),
        ("{type: integer, bounds: [0, 1152921504606846977], nulls: drop}", Form.REAL),
        ("{type: decimal, bounds: [0, 9], step: 1, nulls: drop}", Form.REAL),
        ("{type: float, bounds: [0, 9], nulls: drop}", Form.REAL),
        ("{type: category, keys: [a, b]}", Form.CODE),
        ("{type: id}", Form.ID),
    ],
)
def test_a_declared_column_has_a_form(column: str, form: Form) -> None:
    """Whole numbers within 2^60 are integers, all other numbers are doubles."""
    data = _declared(x=column)
    (found,) = canonical_columns(data)
    assert (found.name, found.form) == ("x", form)
    assert found == canonical_column(data.column("x"))
    assert (form in (Form.WHOLE, Form.REAL)) is found.is_number


def test_only_codes_have_keys() -> None:
    """They are those of the declaration, in its order, as columns are in theirs."""
    data = _declared(z="{type: id}", k="{type: category, keys: [b, a]}")
    assert canonical_columns(data) == (
        CanonicalColumn(name="z", content=Content.ID),
        CanonicalColumn(name="k", content=Content.CODE, keys=("b", "a")),
    )


@pytest.mark.parametrize(
    ("keys", "bits"),
    [(1, 8), (256, 8), (257, 16), (1 << 16, 16), ((1 << 16) + 1, 32), (1 << 32, 32)],
)
def test_codes_are_no_wider_than_need_be(keys: int, bits: int) -> None:
    """The last of so many keys has a code."""
    assert bits == code_bits(keys)
