"""The quick text of values is that of the codec, and read no more freely."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

import pytest
from reports.sample_releases import make_payload, small_plan

from dpql.errors import VerifyFault
from dpql.model.codec import canonical, encode
from dpql.reports import statement, value_text
from dpql.reports.predicate import RELEASE, CellValue, ReportPredicate
from dpql.reports.statement import Statement, read_statement
from dpql.reports.value_text import cut_out, read_values, written

PAYLOAD = make_payload(small_plan())
KEYS = ("a", 'b" \\', "\u2028\x00é", "\n        ],", '"values": []', "")


def _value(number: str, cell: tuple[str, ...], parts: int = 1) -> CellValue:
    exact = Fraction(number)
    return CellValue(
        cell=cell,
        value=exact,
        lower=exact - 1,
        upper=exact + 1,
        noisy=(exact,) * parts,
    )


SAMPLES = {
    "none": (),
    "one number": (_value("3", ()),),
    "keys": tuple(_value("-1/3", (key, other)) for key in KEYS for other in KEYS),
    "no noisy number": (_value("7", ("a",), 0),),
    "several": tuple(_value(f"{n % 3}/7", (str(n),), 4) for n in range(10)),
}


def _statement(values: tuple[CellValue, ...]) -> bytes:
    """Return a text with the values where a statement has them, by the codec."""
    document = {"values": encode(tuple[CellValue, ...], values)}
    return canonical({"predicate": {"statistics": [document]}})


@pytest.fixture(params=[1, 1 << 14])
def _batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read and write a value at a time, and all of them together."""
    monkeypatch.setattr(value_text, "_VALUES", request.param)
    monkeypatch.setattr(value_text, "_BATCH", request.param)


@pytest.mark.usefixtures("_batches")
@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_is_that_of_the_codec(name: str) -> None:
    """Whatever the keys are; and it reads back."""
    values = SAMPLES[name]
    text = _statement(values)
    assert b"".join(written(values, "\n" + 8 * " ")) in text
    rest, spans = cut_out(text)
    assert _statement(()) == rest
    assert [values] == [read_values(text, span) for span in spans]


def _read(payload: bytes) -> Statement | str:
    try:
        return read_statement(payload, (RELEASE,), ReportPredicate)
    except VerifyFault as fault:
        return str(fault)


def _altered() -> Iterator[bytes]:
    """Yield statements with another byte, or without one, among their values."""
    ((start, stop),) = cut_out(PAYLOAD)[1]
    for at in range(start - 20, stop + 20, 3):
        for other in (b"", b"0", b'"', b"]", b"\n", b" ", b"\\", b"\xff"):
            yield PAYLOAD[:at] + other + PAYLOAD[at + 1 :]


def test_the_quick_reader_reads_what_the_codec_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And refuses what it refuses, in the same words."""
    texts = list(_altered())
    quick = [_read(text) for text in (PAYLOAD, *texts)]
    monkeypatch.setattr(statement, "cut_out", lambda payload: (payload, []))
    assert [_read(text) for text in (PAYLOAD, *texts)] == quick
    assert isinstance(quick[0], Statement)
    assert {text for text in texts if text != PAYLOAD} == {
        text
        for text, found in zip(texts, quick[1:], strict=True)
        if not isinstance(found, Statement) or found != quick[0]
    }


@pytest.mark.parametrize(
    "cell", ['"a"', "{}", "[1]", "[null]", "[[]]", '["a"], ["b"]', "["]
)
def test_a_cell_is_an_array_of_texts(cell: str) -> None:
    """All else is refused, and none is taken for two."""
    other = re.sub(
        rb'"cell": \[.*?\n *\],',
        f'"cell": {cell},'.encode(),
        PAYLOAD,
        count=1,
        flags=re.DOTALL,
    )
    assert PAYLOAD != other
    with pytest.raises(VerifyFault, match="DPQL606"):
        read_statement(other, (RELEASE,), ReportPredicate)
