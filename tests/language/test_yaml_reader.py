"""YAML, read as a strict subset."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from language.diagnostics import diagnose
from language.samples import GALLERY, REFERENCE, beside

from dpql.errors import SpecError
from dpql.language import format_text, load_text
from dpql.language.source import examine
from dpql.language.tree import plain
from dpql.language.yaml_reader import YamlReader


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "DPQL108 the file is empty"),
        ("# only a comment\n", "DPQL108 the file is empty"),
        ("just words", "DPQL203 the spec is not a block of keys"),
        ("- a\n- b\n", "DPQL203 the spec is not a block of keys"),
        (
            REFERENCE.split("statistics:", maxsplit=1)[0] + "statistics: {}\n",
            "DPQL210 `statistics` has no entries",
        ),
    ],
)
def test_texts_that_are_no_spec_are_refused(text: str, expected: str) -> None:
    """An empty file and a list are answered too."""
    assert expected in diagnose(text)


def test_scalars_stay_text() -> None:
    """Words that other readers type remain the words they are."""
    text = "a: [no, 010, 12:30, 1e-6, 0x1F, ~, null, .nan, yes, 2024-01-01, 'x']"
    expected = {
        "a": "no 010 12:30 1e-6 0x1F ~ null .nan yes 2024-01-01 x".split()  # noqa: SIM905  a list of words
    }
    assert expected == plain(YamlReader(examine(text, "t")).read())


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_the_pure_parser_reads_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the C library the tree, the spans and the layout are the same."""
    text = path.read_text(encoding="utf-8")
    with_library = load_text(text, form="yaml", beside=beside)
    monkeypatch.delattr(yaml, "CLoader")
    without = load_text(text, form="yaml", beside=beside)
    assert with_library == without
    assert with_library.spans == without.spans
    assert text == format_text(text, form="yaml")


def test_line_ends_of_windows_are_read() -> None:
    """Carriage returns before line ends mean nothing."""
    windows = REFERENCE.replace("\n", "\r\n")
    assert load_text(REFERENCE, form="yaml") == load_text(windows, form="yaml")


@pytest.mark.parametrize("scalar", [">\n  Monthly\n  tables.", "Monthly\n  tables."])
def test_folded_texts_are_one_line(scalar: str) -> None:
    """A text may be spread over lines as YAML folds them."""
    text = REFERENCE.replace("Monthly wage tables by district.", scalar)
    assert load_text(text, form="yaml").purpose == "Monthly tables."
    assert "purpose: Monthly tables.\n" in format_text(text, form="yaml")


CASES = {
    "236B": "town:\n  north\nsouth\n",
    "2CMS": "one\n two\n  three: 3\n",
    "2G84/00": "--- |0\n",
    "2G84/01": "--- |10\n",
    "3HFZ": "---\ntown: north\n... south\n",
    "4EJS": "---\ntown:\n\tnorth:\n\t\tage: 4\n",
    "4H7K": "---\n[ 1, 2, 3 ] ]\n",
    "4HVU": "town:\n   - north\n   - south\n  - east\n",
    "4JVG": "first: &one\n  &two north: 1\nsecond: &three\n  &four south\n",
    "55WF": '---\n"\\."\n',
    "5LLU": "words: >\n \n  \n   \n less\n",
    "5TRB": '---\n"\n---\n"\n',
    "5U3A": "town: - north\n      - south\n",
    "62EZ": "---\ntown: { north: 1 }south: 2\n",
    "6JTT": "---\n[ [ 1, 2, 3 ]\n",
    "6S55": "town:\n - north\n - south\n east\n",
    "7LBH": '"one\\ntwo": 1\n"three\n four": 1\n',
    "7MNF": "first:\n  town: north\nsecond\n",
    "8XDJ": "town: north\n#  between\n  south\n",
    "9C9N": "---\ntowns: [north,\nsouth,\neast]\n",
    "9CWY": "towns:\n - north\n - south\neast\n",
    "9HCY": '!town "north"\n%TAG ! tag:example.org,2000:app/\n---\n!town "south"\n',
    "9JBA": "---\n[ 1, 2, 3, ]#remark\n",
    "9KBC": "--- town: north\n    age: 4\n",
    "9MAG": "---\n[ , 1, 2, 3 ]\n",
    "9MMA": "%YAML 1.2\n",
    "9MQT/01": '--- "north\n... south\neast"\n',
    "B63P": "%YAML 1.2\n...\n",
    "BD7L": "- north\n- south\ntown: east\n",
    "BF9H": "---\nwords: one\n       two # remark\n       three\n",
    "BS4K": "one  # remark\ntwo\n",
    "C2SP": "[17\n]: 71\n",
    "CML9": "words: [ one\n#  between\n  two ]\n",
    "CQ3W": '---\nwords: "never closed\n',
    "CTN5": "---\n[ 1, 2, 3, , ]\n",
    "CVW2": "---\n[ 1, 2, 3,#remark\n]\n",
    "CXX2": "--- &here town: north\n",
    "D49Q": "'one\\ntwo': 1\n'three\n four': 1\n",
    "DK4H": "---\n[ town\n  : north ]\n",
    "DK95/01": 'words: "one\n\ttwo"\n',
    "DK95/06": "town:\n  north: 1\n\tsouth: 2\n",
    "DMG6": "town:\n  north: 1\n south: 2\n",
    "EB22": "---\none # remark\n%YAML 1.2\n---\ntwo\n",
    "EW3V": "one: 1\n two: 2\n",
    "G5U8": "---\n- [-, -]\n",
    "G7JE": "one\\ntwo: 1\nthree\n four: 1\n",
    "G9HC": "---\ntowns:\n&here\n- north\n- south\n",
    "GDY7": "town: north\nthis is #no key: at all\n",
    "GT5M": "- north\n&here\n- south\n",
    "H7J7": "town: &here\n!!map\n  north: 1\n",
    "H7TQ": "%YAML 1.2 more\n---\n",
    "HRE5": '---\nwords: "it is \\\' here"\n',
    "HU3P": "words:\n  one two\n  three: 3\n",
    "JKF3": '- - "one\ntwo": 1\n',
    "JY7Z": 'one: "1"\ntwo: "2" and no: more\nthree: "3"\n',
    "KS4U": "---\n[\nnorth\n]\nsouth\n",
    "LHL4": "---\n!strange{}tag north\n",
    "MUS6/00": "%YAML 1.1#...\n---\n",
    "MUS6/01": "%YAML 1.2\n---\n%YAML 1.2\n---\n",
    "N4JP": 'town:\n  north: "1"\n south: "2"\n',
    "N782": "[\n--- ,\n...\n]\n",
    "P2EQ": "---\n- { north: 1 }- south\n",
    "Q4CL": 'one: "1"\ntwo: "2" and more\nthree: "3"\n',
    "QB6E": '---\nwords: "one\ntwo\nthree"\n',
    "QLJ7": "%TAG !p! tag:example.org,2011:\n--- !p!A\na: b\n--- !p!B\nc: d\n",
    "RHX7": "---\ntown: north\n%YAML 1.2\n---\n",
    "RXY3": "---\n'\n...\n'\n",
    "S4GJ": "---\nwords: > one\n  two\n",
    "S98Z": "words: >\n \n  \n   \n # remark\n",
    "SF5V": "%YAML 1.2\n%YAML 1.2\n---\n",
    "SR86": "one: &a north\ntwo: &b *a\n",
    "SU5Z": 'town: "north"# remark\n',
    "SU74": "one: &a north\n&b *a : south\n",
    "SY6V": "&here - north\n",
    "T833": "---\n{\n north: 1\n south: 2 }\n",
    "TD5N": "- north\n- south\neast\n",
    "U44R": 'town:\n  north: "1"\n   south: "2"\n',
    "U99R": "- !!str, north\n",
    "VJP3/00": "town: {\nnorth\n:\n1\n}\n",
    "W9L4": "---\nwords: |\n     \n  one\n  two\n",
    "X4QW": "words: ># remark\n  one\n",
    "Y79Y/000": "words: |\n\t\nnext: 1\n",
    "Y79Y/003": "- [\n\tnorth,\n south\n ]\n",
    "Y79Y/004": "-\t-\n",
    "Y79Y/005": "- \t-\n",
    "Y79Y/006": "?\t-\n",
    "Y79Y/007": "? -\n:\t-\n",
    "Y79Y/008": "?\ttown:\n",
    "Y79Y/009": "? town:\n:\ttown:\n",
    "YJV2": "[-]\n",
    "ZCZ6": "one: two: three: four\n",
    "ZL4Z": "---\none: 'two': three\n",
    "ZVH3": "- town: north\n - south\n",
    "ZXT5": '[ "town"\n  :north ]\n',
}
LENIENT = frozenset({"9C9N", "QB6E", "S98Z"})
"""Three cases of poor indentation that the parser lets pass.

Their meaning is in no doubt, and no spec can be written so that it depends on them.
"""


def test_there_are_as_many_cases_as_in_the_suite() -> None:
    """Every failing case of the suite has its equivalent."""
    assert len(CASES) == 94


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_yaml_is_refused(name: str) -> None:
    """A spec reader refuses the case, by a fault and nothing else."""
    with pytest.raises(SpecError):
        load_text(CASES[name], form="yaml")
    with pytest.raises(SpecError):
        format_text(CASES[name], form="yaml")


@pytest.mark.parametrize("name", sorted(CASES.keys() - LENIENT))
def test_the_yaml_reader_itself_refuses(name: str) -> None:
    """The fault is one of syntax: the tree is never made."""
    with pytest.raises(SpecError) as caught:
        YamlReader(examine(CASES[name], "t")).read()
    assert all(fault.code.startswith("DPQL1") for fault in caught.value.diagnostics)


@pytest.mark.parametrize("name", CASES)
def test_nothing_stray_leaves_when_the_case_follows_a_spec(name: str) -> None:
    """A sound spec followed by the case is refused by a fault as well."""
    with pytest.raises(SpecError):
        load_text(REFERENCE + CASES[name], form="yaml")
