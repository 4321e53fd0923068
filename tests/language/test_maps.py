"""Maps: names for keys, in the spec or from a file beside it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from language.flights import derived, faults, flights, marked

from dpql.language import load
from dpql.model.expression import Map, Pair, Reference

CARRIER = Reference(column="carrier")


def test_a_map_is_read() -> None:
    """Keys and values may be bare or in quotes; what is left may have a value."""
    assert derived(
        "map(carrier, {'UA': big, DL: 'very big'}, else: small, missing: none)"
    ) == Map(
        operand=CARRIER,
        pairs=(Pair(key="UA", value="big"), Pair(key="DL", value="very big")),
        otherwise="small",
        missing="none",
        digest=None,
    )


def test_numbers_and_truths_are_mapped() -> None:
    """A number of a category is a key; true and false are keys too."""
    found = derived("map(month, {1: winter, 7: summer})")
    assert isinstance(found, Map)
    assert ("1", "7") == tuple(pair.key for pair in found.pairs)
    found = derived("map(arr_delay > 0, {true: late, false: early})")
    assert isinstance(found, Map)
    assert ("true", "false") == tuple(pair.key for pair in found.pairs)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("map(carrier)", "DPQL363", "map(carrier)"),
        ("map(carrier, else: x)", "DPQL363", "map(carrier, else: x)"),
        ("map({UA: x}, {UA: x})", "DPQL363", "map({UA: x}, {UA: x})"),
        ("map(carrier, {UA: x}, {AA: x})", "DPQL363", "map(carrier, {UA: x}, {AA: x})"),
        ("map(carrier, {UA: x}, otherwise: x)", "DPQL363", "otherwise"),
        ("map(carrier, {UA: x}, else: x, else: y)", "DPQL363", "else"),
        ("map(carrier, {UA: x, UA: y})", "DPQL305", "UA"),
        ("map(carrier, {ZZ: x})", "DPQL319", "ZZ"),
        ("map(carrier, {UA: `x`})", "DPQL363", "`x`"),
        ("map(carrier, {UA: ' x'})", "DPQL363", "' x'"),
        ("map(carrier, {UA: 'ﬁrst', AA: 'first'})", "DPQL322", "'first'"),
        ("map(carrier, {UA: 'аdmin'})", "DPQL324", "'аdmin'"),
        ("map(distance, {1: x})", "DPQL360", "distance"),
        ("map(carrier, file: 'x.txt')", "DPQL350", "'x.txt'"),
    ],
)
def test_misuse_is_marked_where_it_is(text: str, code: str, words: str) -> None:
    """The caret is under the pair, the word or the whole."""
    assert (code, words) == marked(text)[0]


def test_a_map_from_a_file_holds_its_digest(tmp_path: Path) -> None:
    """Its path is seen from the spec; keys that no column has are passed over."""
    table = b'carrier,name\nUA,United\nB6,JetBlue\nAA,"American, Inc."\n'
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "airlines.txt").write_bytes(table)
    text = flights(derived="map(carrier, file: 'names/airlines.txt', else: other)")
    (tmp_path / "s.yaml").write_text(text)
    (column,) = load(tmp_path / "s.yaml").data.derived
    assert column.expression == Map(
        operand=CARRIER,
        pairs=(
            Pair(key="UA", value="United"),
            Pair(key="AA", value="American, Inc."),
        ),
        otherwise="other",
        missing=None,
        digest=sha256(table).hexdigest(),
    )


@pytest.mark.parametrize("name", ["/etc/hosts", "../x.txt", "missing.txt", "x.csv"])
def test_no_other_file_is_read(tmp_path: Path, name: str) -> None:
    """Nothing outside the folder of the spec is published."""
    (tmp_path / "x.txt").write_text("UA,x\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "x.csv").write_text("UA,x\n")
    found = faults(flights(derived=f"map(carrier, file: '{name}')"), tmp_path / "below")
    assert ["DPQL350"] == [fault.code for fault in found]
