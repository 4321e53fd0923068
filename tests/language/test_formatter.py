"""Canonical layout: idempotent, and no comment is lost."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language.samples import GALLERY, REFERENCE, beside
from language.strategies import specs

from dpql.errors import InternalFault, SpecError
from dpql.language import format_text, formatter, load_text, print_spec
from dpql.model.spec import Spec

relaxed = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
BREAKABLE = (
    r" (?=(?:where|by|using|spend|bins|at|at least|giving|under|spending|step) )"
)


def ragged(form: str, draw: Random) -> tuple[str, list[str]]:
    """Return a spec of the gallery in a poor layout, and the comments put into it."""
    path: Path = draw.choice(GALLERY).with_suffix(f".{form}")
    mark = {"yaml": "#", "dpql": "--"}[form]
    put: list[str] = []

    def comment() -> str:
        tail = draw.choice(["", " it's", ' "', " # x", " -- y", " {[", ":"])
        put.append(f"remark {len(put)}{tail}")
        return f"{mark}{draw.choice(['', ' '])}{put[-1]}"

    result: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        for _ in range(draw.choice([0, 0, 0, 1, 2])):
            indent = " " * draw.randrange(7)
            result.append(indent + comment() if draw.random() < 0.5 else "")
        pieces = _pieces(line, form) if draw.random() < 0.5 else [line]
        for piece in pieces:
            trails = mark not in piece and draw.randrange(4) == 0
            result.append(f"{piece}  {comment()}" if trails else piece)
    return "\n".join(result) + draw.choice(["", "\n", "\n\n"]), put


def _pieces(line: str, form: str) -> list[str]:
    if "#" in line or "--" in line or '"' in line or "'" in line:
        return [line]
    # What stands in parentheses is an expression, one scalar of YAML.
    if form == "yaml" and (
        "where:" in line or "(" in line or not re.search(r"[\[{]", line)
    ):
        return [line]
    if form == "yaml":
        first, *rest = re.split(r"(?<=[,\[{]) ?(?=\S)", line)
        return [first, *("          " + piece for piece in rest)]
    first, *rest = re.split(BREAKABLE, line)
    return [first, *("    " + piece for piece in rest)]


@pytest.mark.property
@pytest.mark.parametrize("form", ["yaml", "dpql"])
@relaxed
@given(seed=st.integers(0, 2**32))
def test_formatting_is_idempotent_and_keeps_comments(form: str, seed: int) -> None:
    """A poorly laid out spec keeps its meaning and comments, in both forms."""
    text, put = ragged(form, Random(seed))
    meaning = load_text(text, form=form, beside=beside)
    for to in ("yaml", "dpql"):
        once = format_text(text, form=form, to=to)
        assert once == format_text(once, form=to)
        assert meaning == load_text(once, form=to, beside=beside)
        for words in put:
            assert re.search(rf"(#|--) {re.escape(words)}$", once, re.MULTILINE)


def test_keys_come_in_canonical_order() -> None:
    """Keys are ordered, names stay in the author's order."""
    shuffled = REFERENCE.replace("  delta: 0\n", "").replace(
        "privacy:\n", "privacy:\n  delta: 0\n"
    )
    assert format_text(REFERENCE, form="yaml") == format_text(shuffled, form="yaml")


def test_blank_lines_are_kept_single() -> None:
    """A paragraph stays a paragraph; more blank lines than one are dropped."""
    text = "\n\n" + REFERENCE.replace("data:\n", "\n\n\ndata:\n", 1) + "\n\n"
    assert REFERENCE.replace("data:\n", "\ndata:\n", 1) == format_text(
        text, form="yaml"
    )


def test_words_that_others_misread_are_quoted() -> None:
    """`no` stays a word for every reader of YAML."""
    text = REFERENCE.replace("[north, east, south, west]", "[north, no, 010, 12:30]")
    assert '[north, "no", "010", "12:30"]' in format_text(text, form="yaml")
    assert load_text(text, form="yaml") == load_text(
        format_text(text, form="yaml"), form="yaml"
    )


def test_faults_of_meaning_do_not_stop_the_formatter() -> None:
    """A spec that is being written can be laid out."""
    text = REFERENCE.replace("epsilon: 1.0", "epsilon: -1")
    assert text == format_text(text, form="yaml")


@pytest.mark.parametrize("wrong", ["dpql: [", "dpql: 1\n", REFERENCE + "where: x"])
def test_faults_of_syntax_and_shape_stop_the_formatter(wrong: str) -> None:
    """A text whose parts are unknown is not laid out."""
    with pytest.raises(SpecError):
        format_text(wrong, form="yaml")


def test_condition_faults_stop_the_formatter() -> None:
    """A condition that cannot be read is not laid out."""
    with pytest.raises(SpecError) as caught:
        format_text(REFERENCE.replace("age >= 18", "age => 18"), form="yaml")
    codes = [fault.code for fault in caught.value.diagnostics]
    assert codes == ["DPQL121"]


def test_a_formatter_that_lost_something_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The result is read again before it is handed out."""
    monkeypatch.setattr(formatter, "yaml_lines", _without_defaults)
    with pytest.raises(InternalFault):
        format_text(REFERENCE, form="yaml")


def _without_defaults(root: object) -> list[object]:
    from dpql.language.yaml_writer import yaml_lines

    return [line for line in yaml_lines(root) if line[0] != ("defaults",)]


def test_conditions_has_one_text() -> None:
    """Parentheses and spaces are canonical."""
    text = REFERENCE.replace(
        "age >= 18 and district == north",
        "((age>=18)) and (district=='north' or (not (age is null)))",
    )
    expected = "where: age >= 18 and (district == north or age is not null)"
    assert expected in format_text(text, form="yaml")


relaxed = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
@pytest.mark.parametrize("suffix", [".yaml", ".dpql"])
def test_gallery_is_in_canonical_layout(path: Path, suffix: str) -> None:
    """Formatting changes nothing in the gallery, and says who asks first."""
    text = path.with_suffix(suffix).read_text(encoding="utf-8")
    assert text == format_text(text, form=suffix[1:])
    assert "Asked by" in "".join(text.splitlines()[:2])


@pytest.mark.property
@relaxed
@given(specs())
def test_conversion_there_and_back_changes_nothing(spec: Spec) -> None:
    """YAML to text to YAML is the same text."""
    text = print_spec(spec, "yaml")
    there = format_text(text, form="yaml", to="dpql")
    assert text == format_text(there, form="dpql", to="yaml")
    assert print_spec(spec, "dpql") == there
