"""The two readers and the limits they keep."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from language.fuzz import hunt
from language.samples import GALLERY, REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load, load_text
from dpql.language.grammar import terminals
from dpql.language.source import LARGEST, examine
from dpql.language.text_reader import TextBuilder
from dpql.language.tree import plain
from dpql.language.yaml_reader import YamlReader
from dpql.model.notation import RESERVED
from dpql.statistics import OPTIONS

HANG = 30
"""Seconds of processor time after which a text counts as never answered."""

LARGE = {
    "brackets": "[" * LARGEST,
    "braces": "{" * LARGEST,
    "dashes": "- " * (LARGEST // 2),
    "questions": "? " * (LARGEST // 2),
    "colons": "a: " * (LARGEST // 3),
    "quotes": "'" * LARGEST,
    "anchors": "&a " * (LARGEST // 3),
    "items": "- a\n" * (LARGEST // 4),
    "list": "[" + "a," * (LARGEST // 2 - 1),
    "directive": "%" * LARGEST,
    "escapes": '"' + "\\x41" * (LARGEST // 4 - 1) + '"',
    "literal": "a: |\n" + " x\n" * (LARGEST // 3 - 2),
    "number": "a: " + "9" * (LARGEST - 3),
    "name": "a" * LARGEST,
    "condition": REFERENCE.replace("age >= 18", "age == 1 and " * 60_000 + "age == 1"),
    "indented": "\n".join(" " * depth + "a:" for depth in range(1_400)),
}
LARGE_TEXT = {
    "brackets": "x = mean y where " + "(" * (LARGEST - 20),
    "nots": "x = mean y where " + "not " * (LARGEST // 4 - 20),
    "names": "a " * (LARGEST // 2),
    "lines": "a id\n" * (LARGEST // 5),
    "comments": "--\n" * (LARGEST // 3),
    "numbers": "x = histogram y bins [" + "1, " * (LARGEST // 3 - 20),
    "quotes": '"' * LARGEST,
    "escapes": '"' + '\\"' * (LARGEST // 2 - 1),
    "backquotes": "`" * LARGEST,
    "junctions": "x = mean y where a == 1" + " and a == 1" * (LARGEST // 11 - 5),
    "condition": "x = mean y where " + "a == 1 and " * 9_000 + "a == 1",
    "blanks": " \n" * (LARGEST // 2),
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", LARGE)
def test_large_yaml_is_answered_soon(name: str) -> None:
    """A megabyte of anything is answered within two seconds, by a fault."""
    began = time.process_time()
    with pytest.raises(SpecError):
        load_text(LARGE[name], form="yaml")
    assert time.process_time() - began < HANG


@pytest.mark.heavy
@pytest.mark.parametrize("name", LARGE_TEXT)
def test_large_query_text_is_refused_by_a_fault(name: str) -> None:
    """A megabyte of query text ends in a fault, never in a stray exception."""
    began = time.process_time()
    with pytest.raises(SpecError):
        load_text(LARGE_TEXT[name], form="dpql")
    assert time.process_time() - began < HANG


@pytest.mark.heavy
def test_mutated_specs_end_in_faults_only() -> None:
    """A short hunt: no stray exception, nothing slow, nothing printed raw."""
    findings = hunt(1_000, seed=2)
    assert findings.strays == []
    assert findings.raw == 0
    assert findings.slowest < HANG
    assert findings.accepted > 50
    assert len(findings.codes) > 15


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
    with_library = load_text(text, form="yaml")
    monkeypatch.delattr(yaml, "CLoader")
    without = load_text(text, form="yaml")
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


def test_comments_beside_a_folded_text_are_kept() -> None:
    """The first line of a folded text may end in a comment."""
    text = REFERENCE.replace(
        "purpose: Monthly wage tables by district.",
        "purpose: >  # why\n  Monthly # tables.\n# next",
    )
    formatted = format_text(text, form="yaml")
    assert 'purpose: "Monthly # tables."  # why\n# next\ndata:\n' in formatted


def test_every_rule_of_the_grammar_has_a_method() -> None:
    """No parse tree reaches the tree of a spec unread."""
    from dpql.language import grammar

    rules = {str(rule.origin.name) for rule in grammar._parser("spec").rules}
    aliases = {rule.alias for rule in grammar._parser("spec").rules if rule.alias}
    inlined = {"condition", "negation"} | {option.name for option in OPTIONS}
    wanted = {name for name in rules | aliases if not name.startswith("_")} - inlined
    assert not [name for name in wanted - {"rows"} if not hasattr(TextBuilder, name)]


def test_reserved_words_are_those_of_the_grammar() -> None:
    """The reserved words are the keywords; an option's word is none by itself."""
    keywords = {word for word in terminals().values() if word.isalpha()}
    optional = {word for option in OPTIONS for word in option.clause.split()}
    assert set() == RESERVED - keywords
    assert set() == keywords - RESERVED - optional


def test_statements_may_continue_before_a_keyword() -> None:
    """A long statement is broken before its clauses, with comments between."""
    text = format_text(REFERENCE, form="yaml", to="dpql")
    broken = text.replace(" where ", "\n  -- only some\n\n  where ").replace(
        " and ", "\n    and "
    )
    assert load_text(text, form="dpql") == load_text(broken, form="dpql")


def many(count: int) -> str:
    """Return a spec of so many statistics."""
    head, _ = REFERENCE.split("statistics:\n")
    return f"{head}statistics:\n" + "".join(
        f"  mean_{number}:\n    mean: wage\n    where: age >= 18 and age < 65\n"
        f"    by: [district]\n    alpha: 0.05\n    spend: {{share: 2}}\n"
        for number in range(count)
    )


@pytest.mark.heavy
def test_a_thousand_statistics_are_read(tmp_path: Path) -> None:
    """Reading them does not take forever in either form; speed is for the bench."""
    path = tmp_path / "many.yaml"
    path.write_text(many(1_000), encoding="utf-8")
    twin = path.with_suffix(".dpql")
    twin.write_text(format_text(many(1_000), form="yaml", to="dpql"), encoding="utf-8")
    for file in (path, twin):
        load(file)
        began = time.process_time()
        assert len(load(file).statistics) == 1_000
        assert time.process_time() - began < HANG


def test_reading_imports_no_engine() -> None:
    """Neither polars nor numpy nor jsonschema is loaded to read a spec."""
    code = (
        "import sys; from dpql.language import load; load(sys.argv[1]);"
        "print([m for m in ('polars', 'numpy', 'jsonschema', 'cryptography', 'gmpy2')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(GALLERY[0])],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_memory_is_bounded() -> None:
    """A process that reads every large text peaks far below the limit."""
    code = (
        "import sys; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from language.test_readers import LARGE\n"
        "from dpql.errors import SpecError\n"
        "from dpql.language import load_text\n"
        "for text in LARGE.values():\n"
        "    for form in ('yaml', 'dpql'):\n"
        "        try: load_text(text, form=form)\n"
        "        except SpecError: pass\n"
        "status = Path('/proc/self/status').read_text().split('VmHWM:')[1]\n"
        "print(int(status.split()[0]) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parents[1])],
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(done.stdout) < 512
