"""Hints fit the case: in words, of the block that is meant, in the author's form."""

from __future__ import annotations

import pytest
from language.diagnostics import diagnose
from language.samples import REFERENCE, ROOT

from dpql.errors import SpecError
from dpql.language import format_text, load_text
from dpql.language.hints import as_number, several

FLIGHTS = """\
dpql: 1
release: flights
data:
  source: flights
  columns:
    tailnum: {type: id}
    carrier: {type: category}
    arr_delay: {type: integer}
privacy:
  contributes: {rows: 1}
statistics:
  flights:
    count: rows
"""

TEXT = """\
dpql 1
release flights
from flights
  with at most 500 rows
  tailnum  id
  carrier  category
  arr_delay  integer min
protect tailnum giving at most 100 rows spending epsilon 1
flights = count rows by carrier
"""

MOST_FAULTS = 4
"""What one missing line may lead to: the block of a statistic has that many keys."""


def number_of_faults(text: str, form: str) -> int:
    """Return how many faults a text has."""
    try:
        load_text(text, form=form)
    except SpecError as error:
        return len(error.diagnostics)
    return 0


def test_what_is_missing_is_asked_for_in_words() -> None:
    """No hint has a word of the manual's examples; each names its own column."""
    faults = diagnose(FLIGHTS)
    for word in ("wage", "person", "district", "bulletin", "16, 100", "2000000"):
        assert word not in faults
    for part in (
        "the spec has no `purpose` (add `purpose:` and, in a sentence, who asks",
        "`data` has no `rows` (add `rows: {at_most: N}` with a public ceiling",
        "`arr_delay` has no `bounds` and no `nulls`",
        "the public range of `arr_delay`",
        "add `keys: [A, B]` with the public values of `carrier`",
        "`privacy` has no `unit` and no `epsilon`",
        "`contributes` has no `groups` (add `groups: 1` or more",
        "`flights` has no `spend` (add `spend: {share: 1}`)",
    ):
        assert part in faults


def test_the_text_form_has_hints_of_its_own() -> None:
    """In a .dpql file nothing is asked for in YAML."""
    faults = diagnose(TEXT, "dpql")
    for part in (
        "say in quotes behind the name of the release who asks and why",
        "add `{A, B}` with the public values of `carrier`",
        "add `[LOWER, UPPER]`, the public range of `arr_delay`",
        "add `, drop nulls`, or `, nulls as VALUE`",
        "`contributes` has no `groups` (add `in at most 1 group`)",
        "`flights` has no `spend` (add `spend share 1`)",
    ):
        assert part in faults
    assert ": {" not in faults
    assert "bounds:" not in faults


@pytest.mark.parametrize("form", ["yaml", "dpql"])
def test_a_missing_line_never_gives_many_faults(form: str) -> None:
    """Whichever line of a spec is deleted, what is said stays short."""
    for text in (REFERENCE, (ROOT / "specs" / "library_readers.yaml").read_text()):
        whole = format_text(text, form="yaml", to=form)
        lines = whole.split("\n")
        for index in range(len(lines)):
            without = "\n".join([*lines[:index], *lines[index + 1 :]])
            assert number_of_faults(without, form) <= MOST_FAULTS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("privacy:\n", "they are keys of `privacy`; is its line missing above them?"),
        ("statistics:\n", "they look like statistics; is the line `statistics:`"),
    ],
)
def test_a_missing_heading_is_recognised(line: str, expected: str) -> None:
    """Keys that stand in the block above theirs are one fault, with its cause."""
    assert line in REFERENCE
    text = REFERENCE.replace("defaults: {alpha: 0.05, gamma: 1e-9}\n", "")
    assert expected in diagnose(text.replace(line, "", 1))


def test_columns_without_their_heading_are_recognised() -> None:
    """Columns that stand directly below `data:` are one fault."""
    data = "  source: flights\n  x: {type: id}\n  y: {type: id}\nprivacy:\n"
    start, end = FLIGHTS.index("  source"), FLIGHTS.index("privacy:\n")
    text = FLIGHTS[:start] + data + FLIGHTS[end + len("privacy:\n") :]
    expected = "`x` and `y` are not keys of the data (they look like columns; is the"
    assert expected in diagnose(text)


def test_columns_without_a_type_are_one_fault() -> None:
    """The word that `dpql init` writes is asked about once, and what may replace it."""
    text = REFERENCE.replace("{type: id}", "{type: unknown}")
    faults = diagnose(text).split("\n")
    assert ["DPQL214"] == [line.split()[1] for line in faults]
    assert "write `id`, `category`" in faults[0]


def test_many_names_are_cut_short() -> None:
    """One, two, six names in full; of more the first five."""
    assert "`a`" == several("a")
    assert "`a` and `b`" == several("ab")
    assert "`a`, `b`, `c`, `d`, `e` and `f`" == several("abcdef")
    assert "`a`, `b`, `c`, `d`, `e` and 2 more" == several("abcdefg")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("5%", "percent are written as a part of one: `0.05`"),
        ("12.5 %", "percent are written as a part of one: `0.125`"),
        ("1,5", "write a point: `1.5`"),
        ("1,000", "write the number alone: `1000`"),
        ("$17,000.50", "write the number alone: `17000.50`"),
        ("one", None),
        ("1,00,0", None),
        ("%", None),
    ],
)
def test_numbers_of_other_notations_are_read(text: str, hint: str | None) -> None:
    """What a person means by it is written as dpql reads it."""
    assert hint == as_number(text)
