"""Keys of a category: texts, numbers, ranges and files of them."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.errors import Span, SpecError
from dpql.language import format_text, load, load_text, print_spec
from dpql.language.key_lists import Keys, are_numbers, listed, marked
from dpql.language.source import read
from dpql.language.tree import Scalar, Sequence
from dpql.model.spec import CategoryColumn

SPEC = """\
dpql: 1
release: r
purpose: Test.
data:
  source: flights
  rows: {{at_most: 1000}}
  columns:
    carrier: {{type: category, keys: {keys}}}
privacy: {{unit: row, epsilon: 1}}
statistics:
  flights: {{count: rows, by: [carrier], spend: {{share: 1}}}}
"""


def column(keys: str) -> CategoryColumn:
    """Return what keys mean, the same in both forms and after formatting."""
    text = SPEC.format(keys=keys)
    spec = load_text(text, form="yaml")
    for form in ("yaml", "dpql"):
        written = format_text(text, form="yaml", to=form)
        assert spec == load_text(written, form=form)
        assert written == format_text(written, form=form)
        assert spec == load_text(print_spec(spec, form), form=form)
    return spec.data.category("carrier")


def faults(keys: str) -> list[tuple[str, str]]:
    """Return the codes of what is wrong with keys, and what they point at."""
    with pytest.raises(SpecError) as caught:
        load_text(SPEC.format(keys=keys), form="yaml")
    return [
        (
            fault.code,
            fault.span.first_line[fault.span.column - 1 : fault.span.end_column],
        )
        for fault in caught.value.diagnostics
        if fault.span is not None
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("[0, 1]", ["0", "1"]),
        ("1..4", ["1", "2", "3", "4"]),
        ("-3..-1", ["-3", "-2", "-1"]),
        ("[-1..1, 99, 1_000]", ["-1", "0", "1", "99", "1000"]),
        ("7..7", ["7"]),
        ("[-0]", ["0"]),
    ],
)
def test_whole_numbers_without_quotes_are_numbers(
    keys: str, expected: list[str]
) -> None:
    """Lists and ranges of whole numbers are numeric keys in their shortest form."""
    found = column(keys)
    assert (tuple(expected), True) == (found.keys, found.numeric)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ('["0", "1"]', ["0", "1"]),
        ('["0", 1]', ["0", "1"]),
        ("[1, 2, other]", ["1", "2", "other"]),
        ("[01, 02]", ["01", "02"]),
        ("[1.5, 2]", ["1.5", "2"]),
        ('["1..3", x]', ["1..3", "x"]),
    ],
)
def test_one_quoted_key_or_word_makes_all_texts(keys: str, expected: list[str]) -> None:
    """A key in quotes, or one that is no whole number, makes all keys texts."""
    found = column(keys)
    assert (tuple(expected), False) == (found.keys, found.numeric)


def test_numbers_and_texts_are_written_so_that_they_stay_what_they_are() -> None:
    """Formatting quotes texts that look like numbers, and never numbers."""
    for keys, yaml, text in (
        ("[0, 1]", "keys: [0, 1]", "{0, 1}"),
        ("[0, '1']", 'keys: ["0", "1"]', '{"0", "1"}'),
        ("'1..3'", "keys: 1..3", "category 1..3"),
        ("[1, x]", 'keys: ["1", x]', '{"1", x}'),
    ):
        source = SPEC.format(keys=keys)
        assert yaml in format_text(source, form="yaml")
        assert text in format_text(source, form="yaml", to="dpql")


def test_unusable_numbers_are_refused_at_their_place() -> None:
    """Ranges upside down, among texts, too long or too far are faults, and twins."""
    assert [("DPQL352", "3..1}")] == faults("3..1")
    assert [("DPQL352", "1..3,")] == faults("[1..3, x]")
    assert [("DPQL352", "1..1_000_001}")] == faults("1..1_000_001")
    assert [("DPQL352", f"{2**60 + 1}]")] == faults(f"[{2**60 + 1}]")
    assert [("DPQL305", "2..3]")] == faults("[1..2, 2..3]")[:1]
    assert [("DPQL208", "north}")] == faults("north")


whole = st.integers(-(2**60), 2**60)


@pytest.mark.property
@given(st.lists(whole, min_size=1, max_size=6, unique=True), st.booleans())
def test_any_keys_survive_being_written(numbers: list[int], numeric: bool) -> None:  # noqa: FBT001
    """Written anew, numbers stay numbers and texts stay texts."""
    nowhere = Span("<spec>", 1, 1, 1, 1)
    keys = Keys(keys=tuple(map(str, numbers)), numeric=numeric)
    node = marked(listed(keys, nowhere))
    items = node.items if isinstance(node, Sequence) else (node,)
    scalars = tuple(item for item in items if isinstance(item, Scalar))
    assert numeric == are_numbers(scalars)


def write(folder: Path, keys: str, *, spec: str = "spec.yaml") -> Path:
    """Write a spec with keys from a file of that content, and return its path."""
    (folder / "keys").mkdir(exist_ok=True)
    (folder / "keys" / "carriers.txt").write_bytes(keys.encode())
    path = folder / spec
    text = SPEC.format(keys="{file: keys/carriers.txt}")
    if path.suffix == ".dpql":
        text = format_text(text, form="yaml", to="dpql")
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("content", "keys", "numeric"),
    [
        ("AA\nUA\n", ("AA", "UA"), False),
        ("AA\r\nUA", ("AA", "UA"), False),
        ("1\n2\n10..12\n", ("1", "2", "10", "11", "12"), True),
        ('1\n"2"\n', ("1", "2"), False),
        ('New York\n"x"\n', ("New York", "x"), False),
    ],
)
def test_files_hold_one_key_a_line(
    tmp_path: Path,
    content: str,
    keys: tuple[str, ...],
    numeric: bool,  # noqa: FBT001
) -> None:
    """A file means what a list would, in both forms, with the digest of its bytes."""
    expected = CategoryColumn(
        name="carrier",
        keys=keys,
        numeric=numeric,
        digest=sha256(content.encode()).hexdigest(),
    )
    for name in ("spec.yaml", "spec.dpql"):
        spec = load(write(tmp_path, content, spec=name))
        assert expected == spec.data.category("carrier")


def test_formatting_keeps_the_name_of_a_file() -> None:
    """Formatting reads no files: the reference stays, in both forms."""
    text = SPEC.format(keys="{file: keys/none.txt}")
    dpql = format_text(text, form="yaml", to="dpql")
    assert 'carrier  category from "keys/none.txt"' in dpql
    back = format_text(dpql, form="dpql", to="yaml")
    assert "keys: {file: keys/none.txt}" in back


def codes(path: Path) -> list[tuple[str, str, int]]:
    """Return the faults of a spec: code, file and line."""
    with pytest.raises(SpecError) as caught:
        load(path)
    return [
        (fault.code, Path(fault.span.source).name, fault.span.line)
        for fault in caught.value.diagnostics
        if fault.span is not None
    ]


def test_faults_of_a_file_have_their_place_in_it(tmp_path: Path) -> None:
    """Empty lines, spaces, twins and look-alikes are named by file and line."""
    path = write(tmp_path, "AA\n\nUA\nUA\n DL\n" + "x" * 129 + "\nﬁ\nfi\n")
    assert [
        ("DPQL351", "carriers.txt", 2),
        ("DPQL305", "carriers.txt", 4),
        ("DPQL351", "carriers.txt", 5),
        ("DPQL351", "carriers.txt", 6),
        ("DPQL322", "carriers.txt", 8),
    ] == codes(path)
    assert [("DPQL106", "carriers.txt", 2)] == codes(write(tmp_path, "A\n\u202eB\n"))
    assert [("DPQL351", "spec.yaml", 8)] == codes(write(tmp_path, ""))


def test_files_lie_below_the_folder_of_the_spec(tmp_path: Path) -> None:
    """No spec reads a file elsewhere, not by a link either: its lines are published."""
    outside = tmp_path / "secret.txt"
    outside.write_text("a secret\n")
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "link.txt").symlink_to(outside)
    (folder / "door").symlink_to(tmp_path)
    (folder / "folder.txt").mkdir()
    os.mkfifo(folder / "pipe.txt")
    (folder / "large.txt").write_text("x\n" * (1 << 19) + "y")
    for name, code in (
        (str(outside), "DPQL350"),
        ("../secret.txt", "DPQL350"),
        ("folder.txt/../../secret.txt", "DPQL350"),
        ("link.txt", "DPQL350"),
        ("door/secret.txt", "DPQL350"),
        ("folder.txt", "DPQL350"),
        ("pipe.txt", "DPQL350"),
        ("nothing.txt", "DPQL350"),
        ("large.txt", "DPQL107"),
    ):
        path = folder / "spec.yaml"
        path.write_text(SPEC.format(keys=f"{{file: {name}}}"))
        assert [(code, "spec.yaml", 8)] == codes(path)


def test_neither_data_nor_private_keys_are_read(tmp_path: Path) -> None:
    """Their lines would be keys of the plan, which is published."""
    secret = b"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n"
    (tmp_path / "keys").mkdir()
    for name, content in (
        ("wages.csv", b"alice\nbob\n"),
        ("wages", b"alice\nbob\n"),
        ("keys/steward", secret),
        ("keys/steward.txt", secret),
    ):
        (tmp_path / name).write_bytes(content)
        path = tmp_path / "spec.yaml"
        path.write_text(SPEC.format(keys=f"{{file: {name}}}"))
        assert [("DPQL350", "spec.yaml", 8)] == codes(path)


def test_a_text_without_a_folder_names_no_files() -> None:
    """A text that comes from no file cannot name one."""
    assert [("DPQL350", "keys.txt}")] == faults("{file: keys.txt}")
    spec = load_text(
        SPEC.format(keys="{file: keys.txt}"), form="yaml", beside=lambda _: b"A\nB\n"
    )
    assert ("A", "B") == spec.data.category("carrier").keys


DATASET = """\
dpql: 1
dataset: flights
rows: {at_most: 1000}
columns:
  carrier: {type: category, keys: {file: keys/carriers.txt}}
privacy: {unit: row}
"""
ASKING = """\
dpql: 1
release: r
purpose: Test.
data: DATA
privacy: {epsilon: 1}
statistics:
  flights: {count: rows, by: [carrier], spend: {share: 1}}
"""


def test_files_of_a_dataset_lie_below_its_own_folder(tmp_path: Path) -> None:
    """A spec elsewhere asks for all of its keys, or for some that it lists."""
    owner, analyst = tmp_path / "datasets", tmp_path / "specs"
    (owner / "keys").mkdir(parents=True)
    analyst.mkdir()
    (owner / "flights.yaml").write_text(DATASET)
    (owner / "keys" / "carriers.txt").write_text("AA\nUA\nDL\n")
    path = analyst / "spec.yaml"

    def keys(data: str) -> tuple[str, ...]:
        path.write_text(ASKING.replace("DATA", data))
        spec = load(path, find=lambda name: read(owner / f"{name}.yaml"))
        return spec.data.category("carrier").keys

    narrowed = "{dataset: flights, columns: {carrier: {type: category, keys: KEYS}}}"
    assert ("AA", "UA", "DL") == keys("flights")
    assert ("DL", "AA") == keys(narrowed.replace("KEYS", "[DL, AA]"))
    for widened in ("[AA, ZZ]", "{file: keys/carriers.txt}"):
        with pytest.raises(SpecError, match=r"DPQL345|DPQL350"):
            keys(narrowed.replace("KEYS", widened))
