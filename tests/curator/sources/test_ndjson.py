r"""Lines of JSON are read as if each were parsed by itself, however they are read.

The oracle decodes a line, parses it with Python, and takes the cells by the rule of
docs/reference/data.md. Bytes that are not UTF-8 become characters that nobody uses, and
bytes again behind the parser.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tables import WHOLE, declare, rows

from dpql.curator.columns import Content
from dpql.curator.sources import lines as reader
from dpql.curator.sources import ndjson, open_source
from dpql.curator.sources.lines import line_batches
from dpql.curator.sources.locate import File

COLUMNS = ("a", "ab", "b c", "é", "")
SPARE = ("z", ",", ":", "*", "^a$", "a:", 'a"', 'a":"b', 'z","a', "a\\", "n", "\x7f")
MIXED = {
    "a": Content.REAL,
    "ab": Content.CODE,
    "b c": Content.WHOLE,
    "é": Content.ID,
    "": Content.REAL,
}
NUMBERS = tuple(x for x in Content if x not in (Content.CODE, Content.ID))
UNUSED = 0x10FE00
"""Characters from here on stand for bytes in the oracle."""


class _Number(str):
    """A number of JSON, as it is written."""

    __slots__ = ()


_parse = json.JSONDecoder(parse_int=_Number, parse_float=_Number).decode


def _row(line: bytes) -> dict[bytes, Any]:
    text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    broken = {0xDC00 + byte: chr(UNUSED + byte) for byte in range(128, 256)}
    try:
        row = _parse(text.translate(broken))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict):
        return {}
    return {_raw(name): value for name, value in row.items()}


def _raw(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    for byte in range(128, 256):
        raw = raw.replace(chr(UNUSED + byte).encode(), bytes([byte]))
    return raw


def _cell(value: Any, form: Content) -> str | bytes | None:
    found = _text(value, form)
    if isinstance(found, str) or found is None:
        return found.encode() if form is Content.ID and found is not None else found
    if form is Content.ID:
        return found
    try:
        return found.decode()
    except UnicodeDecodeError:
        return None


def _text(value: Any, form: Content) -> str | bytes | None:
    match value:
        case bool():
            return str(int(value)) if form in NUMBERS else str(value).lower()
        case float():
            return None if math.isnan(value) else str(value)
        case _Number() if form is Content.CODE and any(mark in value for mark in ".eE"):
            return _double(float(value))
        case _Number():
            return str(value)
        case str():
            return _raw(value)
    return None


def _double(number: float) -> str:
    """Return a double as text: whole ones as integers, others as polars has them."""
    if math.isfinite(number) and number == int(number) and abs(number) < 2**127:
        return str(int(number))
    return str(pl.Series([number]).cast(pl.String)[0])


def _expected(data: bytes, forms: Mapping[str, Content]) -> pl.DataFrame:
    rows = [_row(line) for line in io.BytesIO(data).readlines()]
    cells = {
        name: [_cell(row.get(name.encode()), form) for row in rows]
        for name, form in forms.items()
    }
    return _ordered([_frame(cells, len(rows), {}, forms)])


def _frame(
    cells: Mapping[str, Any], rows: int, _: object, forms: Mapping[str, Content]
) -> pl.DataFrame:
    """Return the cells as they are, where they would become canonical."""
    found = pl.DataFrame(
        {
            name: pl.Series(
                cells[name], dtype=pl.Binary if form is Content.ID else pl.String
            )
            for name, form in forms.items()
        }
    )
    assert rows == found.height
    return found


def _read(data: bytes, forms: Mapping[str, Content] = MIXED) -> pl.DataFrame:
    file = File(content=data, values={})
    batches = line_batches(file, header=False, longest=ndjson._LONG_LINE)
    made: Any = partial(_frame, forms=forms)
    return _ordered([f for b in batches for f in ndjson._frames(b, forms, {}, made)])


def _ordered(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows in an order that their cells alone decide."""
    if not frames:
        return pl.DataFrame()
    joined = pl.concat(frames)
    rows = sorted(joined.rows(), key=repr)
    return pl.DataFrame(rows, schema=joined.schema, orient="row")


def _check(data: bytes, forms: Mapping[str, Content] = MIXED) -> None:
    assert _expected(data, forms).rows() == _read(data, forms).rows()


# Cells, members and lines, from what programs write to what only an attacker writes.

_CHARACTERS = st.one_of(
    st.sampled_from('abe01 ,:{}[]"\\/-.\x00\x1f\x7f\r\té\u2028\ufeff\ufffd😀'),
    st.sampled_from(["\\n", "\\u0061", "\\u005c", "\\ud83d", "\\ude00", '\\"', "\\\\"]),
    st.sampled_from(["\\u00", "\\x", '"a":', ', "a": 1', '","', '":"']),
)
_STRINGS = st.one_of(
    st.text().map(json.dumps),
    st.text().map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.lists(_CHARACTERS, max_size=6).map(lambda parts: f'"{"".join(parts)}"'),
    st.sampled_from(['"true"', '"null"', '"1.50"', '"1e2"', '"NaN"', '" 1"', '""']),
)
_NUMBERS = st.one_of(
    st.integers().map(str),
    st.floats().map(json.dumps),
    st.from_regex(ndjson._NUMBER, fullmatch=True),
    st.decimals(allow_nan=False, allow_infinity=False).map("{:f}".format),
    st.sampled_from(["-0", "-0.0", "1e400", "-1E400", "1e-400", "1.10", "100.0"]),
    st.sampled_from(["01", "1.", ".5", "+1", "-", "1e", "0x1", "1_0", "1e5.", "١"]),
    st.sampled_from(["9" * 400, "9" * 5000, "0." + "1" * 900, "5e-324", "1e22"]),
)
_WORDS = st.sampled_from(
    ["true", "false", "null", "NaN", "Infinity", "-Infinity", "True", "nul", "tr", ""]
)
_ATOMS = st.one_of(_STRINGS, _NUMBERS, _WORDS)
_SPACES = st.sampled_from(["", " ", "  ", "\t", "\r"])
_NAMES = st.one_of(
    st.sampled_from([f'"{name}"' for name in COLUMNS]),
    st.sampled_from([f'"{name}"' for name in COLUMNS]),
    st.sampled_from([json.dumps(name) for name in COLUMNS + SPARE]),
    st.sampled_from([f'"{name}"' for name in COLUMNS + SPARE]),
    st.sampled_from(['"\\u0061"', '"a\\u0062"', '"\\u00e9"', '"b\\u0020c"']),
    _STRINGS,
)


@st.composite
def _members(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    if draw(st.integers(0, 5)) == 0:
        comma, colon = f"{draw(_SPACES)},{draw(_SPACES)}", f"{draw(_SPACES)}:"
    pairs = draw(st.lists(st.tuples(_NAMES, values), max_size=6))
    return "{" + comma.join(f"{name}{colon}{value}" for name, value in pairs) + "}"


_LISTS = st.lists(_ATOMS, max_size=3).map(lambda atoms: f"[{', '.join(atoms)}]")
_OBJECTS = _members(st.one_of(_ATOMS, _ATOMS, _LISTS, _members(_ATOMS)))
_MARKS = st.sampled_from([*'",:{}[]\\ \r\t1aé\x00', "\ufeff", '\\"', '"a":'])


@st.composite
def _mutated(draw: st.DrawFn) -> str:
    text = draw(_OBJECTS)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.integers(0, 2))
        text = text[:at] + draw(st.one_of(st.just(""), _MARKS)) + text[end:]
    return text


_TEXTS = st.one_of(_OBJECTS, _OBJECTS, _mutated(), _ATOMS, _LISTS).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
_LINES = st.one_of(
    _TEXTS,
    _TEXTS,
    st.tuples(_TEXTS, st.binary(max_size=3), st.integers(0, 30)).map(
        lambda broken: broken[0][: broken[2]] + broken[1] + broken[0][broken[2] :]
    ),
    st.binary(max_size=20),
)


@st.composite
def _data(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(_LINES, max_size=8))
    ends = draw(st.lists(st.sampled_from([b"\n", b"\n", b"\r\n"]), min_size=8))
    text = b"".join(line + end for line, end in zip(lines, ends, strict=False))
    # The oracle has a use of its own for the last characters of all.
    assume(b"\xf4\x8f" not in text)
    assume(b"dbff" not in text.lower())
    return text.removesuffix(b"\n") if draw(st.booleans()) else text


_FORMS_OF = st.dictionaries(
    st.sampled_from(COLUMNS + SPARE), st.sampled_from(Content), min_size=1, max_size=6
)


@pytest.mark.property
@settings(max_examples=200, deadline=None)
@given(data=_data())
@example(b'{"a": 1, "a": 2}\n{"a":1,"a":null}\n{"a":"x","a":[1]}')
@example(b'{"z": "\\\\", "a": "\\\\\\""}\n{"a": "\\ud83d\\\\ude00"}\n{"a": "\\u005c"}')
@example(b'{"z": "\\"a\\": 7"}\n{"z": {"a": 7}}\n{"z": ["a", 7, "ab"], "ab": "}"}')
def test_any_lines_are_read_as_if_each_were_parsed(data: bytes) -> None:
    """Objects, broken objects and random bytes give what the parser gives."""
    _check(data)


@pytest.mark.property
@settings(max_examples=120, deadline=None)
@given(data=_data(), forms=_FORMS_OF)
@example(data=b'{"z":":"}\n{"a,":":"}', forms={":": Content.CODE})
@example(
    data=b'{"a":"b"}\n{"z":"z","a":"b"}',
    forms=dict.fromkeys(['a":"b', 'z","a'], Content.ID),
)
@example(data=b'{"z":"x",":1":2}\n{"z":["x",":3"]}', forms={",": Content.CODE})
@example(
    data=b'{"*": 1, "^a$": 2}', forms=dict.fromkeys(["*", "^a$", "a"], Content.REAL)
)
def test_any_names_are_read_as_if_each_line_were_parsed(
    data: bytes, forms: dict[str, Content]
) -> None:
    """Columns may have any names, also those that look like JSON."""
    _check(data, forms)


@pytest.mark.property
@settings(max_examples=100, deadline=None)
@given(data=_data(), batch=st.integers(1, 40), longest=st.integers(0, 40))
def test_lines_are_the_same_wherever_batches_end(
    data: bytes, batch: int, longest: int
) -> None:
    """Batches of any size, and lines too long for one, change nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BATCH_BYTES", batch)
        patch.setattr(ndjson, "BATCH_BYTES", batch)
        patch.setattr(ndjson, "_LONG_LINE", longest)
        _check(data)


@pytest.mark.property
@settings(max_examples=120, deadline=None)
@given(texts=st.lists(_NUMBERS, min_size=1))
def test_numbers_are_as_they_are_written(texts: list[str]) -> None:
    """But for keys, of which Python and polars read the same doubles."""
    data = "".join(f'{{"a":{text},"ab": {text},"é": {text}}}\n' for text in texts)
    _check(data.encode())


ODD = {
    "a blank line": b"",
    "spaces": b"   ",
    "no JSON": b"nonsense",
    "a list": b'[{"a": 1}]',
    "a number": b"1",
    "two objects": b'{"a": 1},{"a": 2}',
    "an object and more": b'{"a": 1} x',
    "no end": b'{"a": 1',
    "a comma too many": b'{"a": 1,}',
    "a comma too few": b'{"a": 1 "ab": 2}',
    "a colon too few": b'{"z" 1, "a": 2}',
    "a brace instead of a comma": b'{"a": 1}"ab": 2}',
    "an empty object": b"{}",
    "a name twice": b'{"a": 1, "ab": "x", "a": 2}',
    "a name twice, then null": b'{"a": 1, "a": null}',
    "a name twice, then a list": b'{"a": 1, "a": []}',
    "a name in a value": b'{"z": "a", "b": "\\"a\\": 1"}',
    "a name in a list": b'{"z": ["a", "ab"]}',
    "a name in an object": b'{"z": {"a": 1}, "ab": 2}',
    "an escaped name": b'{"\\u0061": 1, "a": 2}',
    "an escaped name at the end": b'{"a": 2, "\\u0061": 1}',
    "an escape": b'{"ab": "x\\n\\u00e9\\/y"}',
    "an escaped quote": b'{"ab": "x\\"", "a": 1}',
    "an escaped backslash": b'{"ab": "x\\\\", "a": 1}',
    "an escape that is none": b'{"ab": "\\x", "a": 1}',
    "half an escape": b'{"z": "\\u006", "a": 1}',
    "a pair of surrogates": b'{"ab": "\\ud83d\\ude00"}',
    "a lone surrogate": b'{"ab": "\\ud800", "\xc3\xa9": "x\\udfff"}',
    "surrogates apart": b'{"ab": "\\ud83d\\\\ude00"}',
    "a number of words": b'{"a": NaN, "ab": NaN}',
    "infinities": b'{"a": Infinity, "ab": -Infinity, "b c": 1e999, "": -1e999}',
    "a huge integer": b'{"a": 1%s, "ab": -1%s}' % (b"0" * 5000, b"0" * 5000),
    "a huge fraction": b'{"a": 0.%s1, "ab": 1.%s1}' % (b"0" * 400, b"0" * 5000),
    "zeros": b'{"a": -0, "ab": -0, "b c": -0.0, "\xc3\xa9": -0.0}',
    "whole floats": b'{"a": 1.0, "ab": 100.00, "b c": 1e3, "\xc3\xa9": 1E+3}',
    "numbers as text": b'{"a": "1.50", "ab": "1.50", "b c": "1e2", "": "-7.0"}',
    "truth": b'{"a": true, "ab": true, "b c": false, "\xc3\xa9": false}',
    "truth as text": b'{"a": "true", "ab": "true", "b c": "false"}',
    "nothing": b'{"a": null, "ab": null, "b c": "null", "\xc3\xa9": "null"}',
    "empty text": b'{"a": "", "ab": "", "\xc3\xa9": " "}',
    "deep nesting": b'{"z": %s%s, "a": 1}' % (b"[" * 300, b"]" * 300),
    "deeper nesting": b'{"z": %s%s, "a": 1}' % (b"[" * 100_000, b"]" * 100_000),
    "a byte order mark": b'\xef\xbb\xbf{"a": 1}',
    "two byte order marks": b'\xef\xbb\xbf\xef\xbb\xbf{"a": 1}',
    "a byte order mark inside": b'{"ab": "\xef\xbb\xbf"}',
    "a NUL": b'{"ab": "\x00", "a": 1}',
    "a NUL outside": b'\x00{"a": 1}',
    "a tab in a string": b'{"ab": "\t", "a": 1}',
    "a delete in a string": b'{"ab": "\x7f", "a": 1}',
    "a return in a string": b'{"ab": "x\ry", "a": 1}',
    "a return at the end": b'{"a": 1}\r',
    "two returns at the end": b'{"a": 1}\r\r',
    "spaces about": b' { "a" : 1 , "ab" : "x" } ',
    "two spaces": b'{"a":  1,  "ab":  "  x"}',
    "broken text": b'{"ab": "\xff", "a": 1}',
    "broken text at the end": b'{"ab": "x"}\xc3',
    "broken text in a name": b'{"ab\xff": 1, "a": 1}',
    "half a character": b'{"ab": "\xe2\x82", "a": 1}',
    "an encoded surrogate": b'{"ab": "\xed\xa0\x80", "a": 1}',
    "a zipped file": b"\x1f\x8b\x08",
    "other line ends": '{"ab": "x\u2028y\u0085z", "a": 1}'.encode(),
    "a megabyte": b'{"ab": "%s", "a": 1}' % (b"x" * (1 << 20)),
    "a megabyte of quotes": b'{"ab": "%s", "a": 1}' % (b'\\"' * (1 << 19)),
    "a megabyte of names": b"{%s}" % b",".join([b'"a":1'] * (1 << 17)),
}
USUAL = '{"a": 1.5, "ab": "x, y: {z}", "b c": 3, "é": "ü", "": true}\n'.encode()


@pytest.mark.heavy
@pytest.mark.parametrize("line", ODD.values(), ids=ODD)
def test_an_odd_line_is_one_row_and_changes_no_other(line: bytes) -> None:
    """Each odd line gives the parser's row, alone, among others and at the end."""
    _check(line)
    _check(USUAL + line + b"\n" + USUAL)
    _check(USUAL + line + b"\r\n" + line)


def test_all_odd_lines_together_are_a_row_each() -> None:
    """Lines of all kinds in one batch give the parser's rows."""
    _check(b"\n".join(line for pair in ODD.values() for line in (pair, USUAL[:-1])))


@pytest.mark.heavy
def test_only_odd_lines_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An odd line costs the parsing of that line; lines of usual writers cost none."""
    parsed: list[bytes] = []
    row = ndjson._row

    def counted(line: bytes) -> dict[bytes, object]:
        parsed.append(line)
        return row(line)

    monkeypatch.setattr(ndjson, "_row", counted)
    record = {"a": -1.25, "ab": 'é "x" \\ \n', "b c": 12, "": None, "z": ["x", 1]}
    writers = [
        json.dumps(record),
        json.dumps(record, separators=(",", ":")),
        json.dumps(record, ensure_ascii=False),
        json.dumps({"a": "C:\\n"}),
        json.dumps({"a": '"', "z": '"a": 1'}),
        pl.DataFrame([record | {"z": ["x"]}]).write_ndjson().strip(),
    ]
    data = "".join(f"{line}\n" for line in writers).encode() * 50
    _check(data)
    assert [] == parsed
    _check(data + b"nonsense\n" + data)
    assert [b"nonsense"] == parsed
    broken = b'{"ab": "\xff"}'
    _check(data + broken + b"\n" + data)
    assert [b"nonsense", broken] == parsed


def test_a_long_line_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line beyond the limit never becomes a cell of polars; its neighbours do."""
    seen: list[int] = []
    split = ndjson._split

    def measured(batch: bytes) -> pl.Series:
        seen.append(len(batch))
        return split(batch)

    monkeypatch.setattr(ndjson, "_split", measured)
    monkeypatch.setattr(reader, "BATCH_BYTES", 100)
    monkeypatch.setattr(ndjson, "BATCH_BYTES", 100)
    monkeypatch.setattr(ndjson, "_LONG_LINE", 100)
    long = b'{"a": true, "z": "%s"}\n' % (b"x" * 1000)
    data = USUAL + long + USUAL * 3 + long + long + USUAL
    _check(data)
    assert max(seen) <= 200
    assert 5 * len(USUAL) == sum(seen)


def test_more_columns_than_are_searched_for_are_parsed() -> None:
    """Very many columns give the parser's rows too."""
    forms = {f"c{i}": Content.REAL for i in range(ndjson._MOST_COLUMNS + 1)}
    line = json.dumps({name: i for i, name in enumerate(forms)})
    few = dict(list(forms.items())[1:])
    assert [True] == ndjson._is_plain(pl.Series([line]), few).to_list()
    assert [False] == ndjson._is_plain(pl.Series([line]), forms).to_list()
    _check(f"{line}\n{line}".encode(), forms)


@pytest.mark.parametrize(
    "first", [b"", b"nonsense", b"\x1f\x8b\x08", b"\xff\xfe", b"\r"]
)
def test_every_line_is_a_row(first: bytes, tmp_path: Path) -> None:
    """Rows are counted as they are read, whatever is in them, also in several files."""
    data = declare(a=WHOLE)
    (tmp_path / "a.ndjson").write_bytes(first + b'\n{"a": 5}\n\n{"a": 6}')
    (tmp_path / "b.ndjson").write_bytes(b"")
    (tmp_path / "c.ndjson").write_bytes(b'{"a": 7}')
    source = open_source(tmp_path, data)
    assert 5 == source.row_count()
    assert [(5,), (6,), (7,), (None,), (None,)] == rows(tmp_path, data)
