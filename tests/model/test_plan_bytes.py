"""Bytes are one plan, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.errors import DpqlError, PlanFault
from dpql.model.plan import LIMIT
from dpql.model.plan_bytes import decode_plan
from dpql.planner import read

SPECS = Path(__file__).parents[2] / "specs"
SMALL = SPECS / "smallest_mean.plan.json"


def code(data: bytes) -> str:
    """Return the code with which bytes are refused."""
    with pytest.raises(PlanFault) as caught:
        decode_plan(data)
    return caught.value.diagnostics[0].code


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b"1",
        b"1.5",
        b"NaN",
        b'{"version": "1"}',
        b'{"version": "1", "version": "1"}',
        b'{"version": 1e400}',
        b'"\\ud800"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'"' + b"[" * 1000,
        b" " * (LIMIT + 1),
    ],
    ids=range(16),
)
def test_whatever_is_no_plan_is_refused(data: bytes) -> None:
    """DPQL400 or DPQL401, never another exception."""
    assert code(data) in ("DPQL400", "DPQL401")


def test_another_format_is_named_as_such() -> None:
    """DPQL401 for a later version."""
    data = SMALL.read_bytes().replace(b'"version": "4"', b'"version": "5"')
    assert code(data) == "DPQL401"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"version"', b'"more": null,\n  "version"'),
        (b'"delta": "0"', b'"delta": "00"'),
        (b'"delta": "0"', b'"delta": "-0"'),
        (b'"delta": "0"', b'"delta": "0/1"'),
        (b'"delta": "0"', b'"delta": "1/0"'),
        (b'"delta": "0"', b'"delta": "/1"'),
        (b'"delta": "0"', b'"delta": "0/"'),
        (b'"delta": "0"', b'"delta": "0.0"'),
        (b'"delta": "0"', b'"delta": "1e3"'),
        (b'"delta": "0"', b'"delta": "\xd9\xa1"'),
        (b'"delta": "0"', b'"delta": 0'),
        (b'"delta": "0"', b'"delta": null'),
        (b'"delta": "0"', b'"delta": "' + b"9" * 5000 + b'"'),
        (b'"delta": "0"', b'"delta": "0", "delta": "0"'),
        (b'"delta": "0",\n', b""),
        (b"\n}\n", b"\n}"),
        (b"\n}\n", b"\n}\n\n"),
        (b'  "composition"', b' "composition"'),
        (b'"kind": "affine"', b'"kind": "centred_mean"'),
        (b'"kind": "affine"', b'"kind": "nothing"'),
        (b'"kind": "affine"', b'"kind": null'),
    ],
    ids=range(21),
)
def test_any_other_text_is_refused(old: bytes, new: bytes) -> None:
    """A plan has one text."""
    data = SMALL.read_bytes()
    assert old in data
    assert code(data.replace(old, new, 1)) == "DPQL400"


@pytest.mark.property
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_damage_raises_anything_but_a_refusal(data: st.DataObject) -> None:
    """Flipped, cut and doubled bytes are refused; equal plans only from equal bytes."""
    whole = SMALL.read_bytes()
    start = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    middle = data.draw(st.binary(max_size=8))
    damaged = whole[:start] + middle + whole[end:]
    try:
        found = read(damaged)
    except DpqlError:
        return
    assert found.to_json() == damaged == whole


@pytest.mark.golden
@pytest.mark.heavy
def test_every_byte_of_a_small_plan_counts() -> None:
    """Flipping the lowest bit of any byte makes a plan that is refused."""
    whole = SMALL.read_bytes()
    for index in range(len(whole)):
        damaged = bytearray(whole)
        damaged[index] ^= 1
        with pytest.raises(PlanFault):
            read(bytes(damaged))
