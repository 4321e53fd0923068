"""Texts of any size are answered by a fault, within bounds."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from language.flights import flights
from language.fuzz import Findings, hunt, hunt_expressions
from language.samples import REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load, load_text
from dpql.language.source import LARGEST
from dpql.planner import plan

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


def _end_in_faults(findings: Findings) -> None:
    assert findings.strays == []
    assert findings.raw == 0
    assert findings.slowest < HANG
    assert findings.accepted > findings.count // 50
    assert len(findings.codes) > 12


@pytest.mark.heavy
def test_mutated_expressions_end_in_faults_only() -> None:
    """A short hunt: expressions in both forms, tampered with."""
    _end_in_faults(hunt_expressions(2_000, seed=5))


@pytest.mark.slow
def test_very_many_mutated_expressions_end_in_faults_only() -> None:
    """A long hunt."""
    _end_in_faults(hunt_expressions(100_000, seed=19))


HUGE = {
    "parentheses": "(" * 2_000 + "arr_delay" + ")" * 2_000,
    "signs": "- " * 2_000 + "arr_delay",
    "functions": "abs(" * 1_000 + "arr_delay" + ")" * 1_000,
    "sum": " + ".join(["arr_delay"] * 300),
    "and": " and ".join(["arr_delay > 1"] * 200),
    "products": " * ".join(["distance"] * 30),
    "powers": " * ".join(["1e308"] * 400),
    "fractions": " + ".join(f"1/{10**60 + i}" for i in range(60)) + " + arr_delay",
    "divisors": "arr_delay // (" + " * ".join(["1e308"] * 400) + ")",
    "edges": f"bands(distance, [{', '.join(map(str, range(900)))}])",
    "list": f"distance in [{', '.join(map(str, range(900)))}]",
    "choices": f"case({', '.join(['arr_delay > 1, 1'] * 200)}, 0)",
    "minimum": f"min({', '.join(['arr_delay'] * 300)})",
    "pairs": f"map(carrier, {{{', '.join(['UA: x'] * 500)}}})",
    "words": "x " * 2_000,
    "long": "x" * 5_000,
}
"""Expressions as large as a text can hold."""


@pytest.mark.heavy
@pytest.mark.parametrize("name", HUGE)
def test_a_huge_expression_is_answered_at_once(name: str) -> None:
    """It is read or refused; no number grows without end, and nothing overflows."""
    began = time.process_time()
    for form in ("yaml", "dpql"):
        frame = format_text(flights(derived="AAA"), form="yaml", to=form)
        with suppress(SpecError):
            load_text(frame.replace("AAA", HUGE[name]), form=form)
    assert time.process_time() - began < HANG


@pytest.mark.heavy
def test_a_thousand_derived_columns_are_planned() -> None:
    """They take less than a second; the limit here is for slower machines."""
    lines = "\n".join(
        f"    d{i}: case(arr_delay > {i % 90} and not big, arr_delay - dep_delay, {i})"
        for i in range(1_000)
    )
    text = flights().replace("  derived:\n", f"  derived:\n{lines}\n")
    load_text(flights(), form="yaml")
    began = time.process_time()
    spec = load_text(text, form="yaml")
    assert len(plan(spec).spec.data.derived) == 1_001
    assert time.process_time() - began < 3


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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_memory_is_bounded() -> None:
    """A process that reads every large text peaks far below the limit."""
    code = (
        "import sys; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from language.test_limits import LARGE\n"
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
