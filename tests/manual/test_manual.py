"""Every code is documented, and the examples of the language are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from language.samples import KNOWN_N, PRIVATE, REFERENCE, ROOT, replaced

from dpql.errors import SpecError
from dpql.language import format_text, load, load_text
from dpql.manual import CODES
from dpql.manual.code import Code

LANGUAGE = {name: code for name, code in CODES.items() if name[4] in "123"}
REFERENCE_TEXT = format_text(REFERENCE, form="yaml", to="dpql")
KEYS = ", ".join(f"k{number}" for number in range(1_001))


def codes_of(text: str, form: str) -> list[str]:
    """Return the codes that a text provokes; each fault has a place and a hint."""
    try:
        load_text(text, form=form)
    except SpecError as error:
        for fault in error.diagnostics:
            assert fault.span is not None
            assert fault.hint is not None
        return [fault.code for fault in error.diagnostics]
    return []


PEOPLE = "count: units"
AGES = "histogram: age\n    bins: [16, 25, 65, 100]"

SPECIAL = {
    "DPQL106": (REFERENCE.replace("_2025", "_\u202e2025"), "yaml"),
    "DPQL105": ("\ufeff" + REFERENCE, "yaml"),
    "DPQL107": (REFERENCE + "#" * (1 << 20), "yaml"),
    "DPQL115": (REFERENCE + "x: [" + "1, " * 60_000 + "]", "yaml"),
    "DPQL308": (KNOWN_N.replace("{as: 50}", "drop"), "yaml"),
    "DPQL321": (
        REFERENCE.replace("[north, east, south, west]", f"[north, {KEYS}]")
        .replace("person_id:", f"g: {{type: category, keys: [{KEYS}]}}\n    person_id:")
        .replace("by: [district]", "by: [district, g]"),
        "yaml",
    ),
    "DPQL322": (
        REFERENCE.replace(
            "person_id:", "ﬁrst: {type: id}\n    first: {type: id}\n    person_id:"
        ),
        "yaml",
    ),
    "DPQL352": (
        REFERENCE.replace("[north, east, south, west]", "[1..3, north]"),
        "yaml",
    ),
    "DPQL361": (
        REFERENCE.replace(
            "person_id:", "north: {type: boolean, nulls: drop}\n    person_id:"
        ),
        "yaml",
    ),
    "DPQL364": (
        REFERENCE.replace("privacy:", "  derived:\n    age: wage // 1_000\nprivacy:"),
        "yaml",
    ),
    "DPQL365": (
        REFERENCE.replace(
            "person_id:",
            "day: {type: date, bounds: [2013-01-01, 2013-02-29], nulls: drop}\n"
            "    person_id:",
        ),
        "yaml",
    ),
    "DPQL328": (REFERENCE.replace(AGES, "quantile: age\n    at: [0, 1/2, 1]"), "yaml"),
    "DPQL371": (
        REFERENCE.replace("delta: 0", "delta: 1e-9").replace(
            "gamma: 1e-9}", "gamma: 1e-9, mechanism: gaussian}"
        ),
        "yaml",
    ),
    "DPQL372": (PRIVATE.replace("1e-9\ndef", "0\ndef"), "yaml"),
    "DPQL373": (PRIVATE.replace(f"{PEOPLE}\n    by: [district]", PEOPLE), "yaml"),
    "DPQL374": (
        PRIVATE.replace("spend: {acc", "shown_from: 2\n    spend: {acc"),
        "yaml",
    ),
    "DPQL375": (REFERENCE.replace("west]", "others], others: true"), "yaml"),
    "DPQL376": (REFERENCE.replace(PEOPLE, "list: keys"), "yaml"),
    "DPQL377": (
        PRIVATE.replace(PEOPLE, f"{PEOPLE}\n    mechanism: snapping"),
        "yaml",
    ),
    "DPQL330": (REFERENCE.replace(AGES, "total: wage_mean"), "yaml"),
    "DPQL329": (REFERENCE.replace(AGES, "median: age"), "yaml"),
}


DATASETS = {f"DPQL{number}": "test_dataset.py" for number in range(340, 348)}
"""Codes of dataset files, provoked in tests/language/test_dataset.py."""

KEY_FILES = {"DPQL350", "DPQL351", "DPQL366"}
"""Codes of files, provoked in test_key_lists.py and test_pair_files.py."""

BY_EXAMPLE = {
    name: code
    for name, code in LANGUAGE.items()
    if name not in {**SPECIAL, **DATASETS, **dict.fromkeys(KEY_FILES)}
    and any(replaced(text, code.right, "") for text in (REFERENCE, REFERENCE_TEXT))
}


@pytest.mark.parametrize("name", BY_EXAMPLE)
def test_wrong_example_provokes_its_code_and_right_one_does_not(name: str) -> None:
    """A spec with the right example is sound; with the wrong one it is at fault."""
    code: Code = CODES[name]
    for form, text in (("yaml", REFERENCE), ("dpql", REFERENCE_TEXT)):
        wrong = replaced(text, code.right, code.wrong)
        if wrong is not None:
            assert not codes_of(text, form)
            assert name in codes_of(wrong, form)
            return
    pytest.fail("no example")


@pytest.mark.heavy
@pytest.mark.parametrize("name", SPECIAL)
def test_codes_without_a_short_example_are_provoked(name: str) -> None:
    """Codes whose example is in words are provoked by a longer text."""
    text, form = SPECIAL[name]
    with pytest.raises(SpecError) as caught:
        load_text(text, form=form)
    assert name in [fault.code for fault in caught.value.diagnostics]


def test_codes_about_files_are_provoked(tmp_path: Path) -> None:
    """Files that cannot be read as text are refused by their own codes."""
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"dpql: 1\nrelease: caf\xe9\n")
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * ((1 << 20) + 1))
    for path, expected in (
        (tmp_path / "missing.yaml", "DPQL101"),
        (tmp_path / "nul\0.yaml", "DPQL101"),
        (tmp_path / "notes.txt", "DPQL102"),
        (latin, "DPQL104"),
        (large, "DPQL107"),
    ):
        with pytest.raises(SpecError) as caught:
            load(path)
        assert [expected] == [fault.code for fault in caught.value.diagnostics]
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(SpecError, match="not a regular file"):
        load(tmp_path / "folder.yaml")
    with pytest.raises(SpecError, match="DPQL102"):
        load_text(REFERENCE, form="toml")


def test_every_code_of_the_language_is_provoked() -> None:
    """No code is without a test."""
    files = {"DPQL101", "DPQL102", "DPQL104", *KEY_FILES}
    mappings = {"DPQL118"}  # tests/language/test_from_mapping.py
    known = set(BY_EXAMPLE) | set(SPECIAL) | set(DATASETS)
    assert set(LANGUAGE) == known | files | mappings


def named_codes() -> dict[str, set[str]]:
    """Return the codes that each module of dpql names, the manual apart."""
    package = ROOT / "dpql"
    return {
        path.relative_to(package).as_posix(): set(
            re.findall(r'"(DPQL\d+)"', path.read_text("utf-8"))
        )
        for path in sorted(package.rglob("*.py"))
        if (package / "manual") not in path.parents
    }


def test_every_code_in_the_source_is_documented() -> None:
    """No fault is raised with a code the manual does not know, and none is left."""
    assert set(CODES) == set().union(*named_codes().values())


def test_codes_of_the_language_are_raised_by_it() -> None:
    """1xx to 3xx are about a text; statistics hold the rules of their options."""
    used: set[str] = set()
    for path, codes in named_codes().items():
        if path.startswith("language/"):
            used |= codes
        if path.startswith("statistics/"):
            used |= {code for code in codes if code < "DPQL4"}
    assert set(LANGUAGE) == used - {"DPQL900"}


def test_the_manual_is_the_only_home_of_codes() -> None:
    """No other module makes a `Code`, so none keeps a table of them."""
    assert [] == [
        path.name
        for path in sorted((ROOT / "dpql").rglob("*.py"))
        if (ROOT / "dpql" / "manual") not in path.parents
        and re.search(r"\bCode\(", path.read_text("utf-8"))
    ]


def test_every_code_has_both_examples() -> None:
    """Each section shows what is wrong and what is right."""
    assert not [name for name, code in CODES.items() if not code.wrong]
    assert not [name for name, code in CODES.items() if not code.right]


def test_the_table_is_in_order() -> None:
    """The page lists the codes as the table has them."""
    assert sorted(CODES) == list(CODES)
