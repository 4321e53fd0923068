"""Names, keys and numbers as text: exact, and never one for the other."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpql.language import numbers
from dpql.language.grammar import parse_condition
from dpql.language.predicate import Test as Comparing
from dpql.model.limits import LARGEST_EXPONENT, LONGEST_NUMBER
from dpql.model.notation import (
    BACKQUOTE_LOOKALIKES,
    QUOTE_LOOKALIKES,
    cell_text,
    heading_text,
    key_text,
    measure_text,
    name_text,
    number_text,
    plain,
    quoted,
    unescaped,
    unit_text,
)

ODD = st.text(
    st.sampled_from(list("ab01\"'\\`,= \u201d\uff02→[]()&<>|{}u;:\u00e9")), max_size=14
)
KEYS = ODD.map(str.strip).filter(bool)
HEADINGS = KEYS.map(lambda text: text.replace("`", "")).filter(str.strip)

NUMBERS = st.from_regex(
    r"-?(?:0|[1-9][0-9]{0,61})(?:\.[0-9]{1,61})?(?:[eE][-+]?[0-9]{1,3})?"
    r"|-?[0-9]{1,31}/[1-9][0-9]{0,30}",
    fullmatch=True,
).filter(numbers.is_number)


@pytest.mark.property
@settings(deadline=None)
@given(NUMBERS)
@example("0." + "1" * 62)
@example(f"1/{2**200}")
@example("0.0001e-308")
@example("1000e308")
@example("1" * 61 + "e99")
@example("12." + "3" * 59 + "e9")
def test_what_was_written_as_a_number_is_written_as_one_again(text: str) -> None:
    """Every number of the language has a text of the language, with no digit lost."""
    value = numbers.exact(text)
    written = number_text(value)
    assert numbers.is_number(written), written
    assert value == numbers.exact(written)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(1, 2), "0.5"),
        (Fraction(-5, 4), "-1.25"),
        (Fraction(1, 10**9), "1e-9"),
        (Fraction(15, 10**8), "1.5e-7"),
        (Fraction(1, 3), "1/3"),
        (Fraction(2_000_000), "2000000"),
        (Fraction(10**300), "1e300"),
        (Fraction(0), "0"),
        (Fraction(10**15 + 1, 10**16), "0.1000000000000001"),
    ],
)
def test_numbers_are_short(value: Fraction, expected: str) -> None:
    """Numbers are written as people write them."""
    assert expected == number_text(value)


@pytest.mark.property
@settings(deadline=None)
@given(st.fractions(), st.fractions())
def test_different_numbers_are_different_texts(one: Fraction, other: Fraction) -> None:
    """Beyond the longest number of a spec the text is still exact."""
    assert (one == other) == (number_text(one) == number_text(other))


def test_limits_are_those_of_the_language() -> None:
    """A number at the limit is read, one beyond it is not."""
    assert numbers.is_number("1" * LONGEST_NUMBER)
    assert not numbers.is_number("1" * (LONGEST_NUMBER + 1))
    assert numbers.is_number(f"1e-{LARGEST_EXPONENT}")
    assert not numbers.is_number(f"1e-{LARGEST_EXPONENT + 1}")


@pytest.mark.property
@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="\n")))
def test_a_quoted_text_is_read_back(text: str) -> None:
    """Between the quotes stands the text, whatever is in it."""
    assert text == unescaped(quoted(text)[1:-1])


@pytest.mark.property
@settings(deadline=None)
@given(KEYS)
def test_the_grammar_reads_what_is_quoted(key: str) -> None:
    """The lexer takes the quoted text for one literal."""
    predicate, complaints = parse_condition(f"c == {quoted(key)}")
    assert [] == complaints
    assert isinstance(predicate, Comparing)
    assert [key] == [piece.text for piece in predicate.values]


def test_what_looks_like_a_quote_is_written_by_its_code() -> None:
    """No character between the quotes can be taken for their end."""
    written = quoted(f"a{QUOTE_LOOKALIKES}b")
    assert not set(QUOTE_LOOKALIKES) & set(written)
    predicate, _ = parse_condition(f"c == {written}")
    assert isinstance(predicate, Comparing)
    assert f"a{QUOTE_LOOKALIKES}b" == predicate.values[0].text
    assert '"a \\u{0020}b"' == quoted("a  b")
    assert r'"\\u{201d}"' == quoted(r"\u{201d}")


@pytest.mark.parametrize("code", ["202e", "0041", "000a", "200b"])
def test_no_other_character_has_a_code(code: str) -> None:
    """An escape cannot bring in what the language refuses, nor another text."""
    with pytest.raises(Exception, match="does not belong here"):
        parse_condition(f'c == "\\u{{{code}}}"')


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("north", "north"),
        ("Bosnia and Herzegovina", "Bosnia and Herzegovina"),
        ("65+", "65+"),
        ("O'Brien", "O'Brien"),
        ("a=b", "a=b"),
        ('a" or c == "b', r'"a\" or c == \"b"'),
        ("a\\b", r'"a\\b"'),
        ("north   1 000", r'"north \u{0020}\u{0020}1 000"'),
        ("", '""'),
        ("k" * 60, "k" * 60),
        ("k" * 61, f'"{"k" * 61}"'),
    ],
)
def test_ordinary_keys_stay_bare(key: str, expected: str) -> None:
    """Quotes stand only where a reader needs them."""
    assert expected == key_text(key)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (("north", "f"), "district=north, sex=f"),
        (("x, sex=y", "f"), 'district="x, sex=y", sex=f'),
        (("x", "[16, 25)"), "district=x, sex=[16, 25)"),
        (("=x", '"'), 'district="=x", sex="\\""'),
    ],
)
def test_cells_are_labelled(cell: tuple[str, ...], expected: str) -> None:
    """A key with a comma, an equals sign or a quote stands in quotes."""
    assert expected == cell_text(("district", "sex"), cell)


@pytest.mark.property
@settings(deadline=None)
@given(
    st.lists(st.tuples(HEADINGS, KEYS), max_size=3),
    st.lists(st.tuples(HEADINGS, KEYS), max_size=3),
)
@example([("a", "x, b=y")], [("a", "x"), ("b", "y")])
@example([("a", "x"), ("b=", "y")], [("a", "x"), ("b", "=y")])
def test_different_cells_are_different_texts(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    """Whatever columns and keys are called, a label belongs to one cell."""
    texts = [cell_text([h for h, _ in c], [k for _, k in c]) for c in (one, other)]
    assert (one == other) == (texts[0] == texts[1])


@pytest.mark.property
@settings(deadline=None)
@given(KEYS, KEYS)
def test_different_keys_are_different_texts(one: str, other: str) -> None:
    """In a table too: a key in quotes is not one that is bare."""
    assert (one == other) == (key_text(one) == key_text(other))


def test_names_and_units() -> None:
    """Words of the language and odd names stand in backquotes."""
    assert "age" == name_text("age")
    assert "`group`" == name_text("group")
    assert "`home address`" == name_text("home address")
    assert ("row", "person_id") == (unit_text(None), unit_text("person_id"))


@pytest.mark.parametrize(
    "unit",
    [
        *("EUR", "EUR/month", "kWh/year", "mmHg", "people", "person-day", "m", "l"),
        *("m²", "m^2", "kg·m/s²", "s⁻¹", "s^-1", "°C", "%", "‰", "€/m²", "$", "Ω"),
        *("µg/m³", "円", "share", "loops", "Oolong", "epoch"),
    ],
)
def test_ordinary_units_of_measure_stay_bare(unit: str) -> None:
    """A word with its powers and fractions needs no quotes."""
    assert unit == measure_text(unit)


@pytest.mark.parametrize(
    "unit",
    [
        *("000 EUR", "e3 EUR", ".5 EUR", "0", "× 1000 EUR", "/1000", "e3", "E-3"),
        *("EUR if every group has 9 rows", "EUR at ε 1/1000", "EUR (95% in all)"),
        *("EUR; exact", "EUR, 99%", "EUR ± 1", "x10", "٣", "²", "^2", "^3 EUR", "%e"),
        *("\uff10\uff10\uff10", "\u0665", "½", "Ⅿ", "千", "million", "Thousand", "k"),
        *("OOO", "ООО", "OOOEUR", "lO", "O", "\u202f000", "000", "-EUR", "EUR/"),
        *("m^10", "m²⁰⁰⁰", "million/month", "ε", "EUR/ε", "m EUR", "EUR\u3000m"),
        *("EUR\u00a0each", "K\u0305", "EUR/1000"),
    ],
)
def test_a_unit_of_measure_cannot_be_read_as_number_or_words(unit: str) -> None:
    """What could prolong the number before it, or the sentence, stands in quotes."""
    assert quoted(unit) == measure_text(unit)


@pytest.mark.parametrize("mark", BACKQUOTE_LOOKALIKES, ids=lambda c: f"{ord(c):04x}")
def test_what_looks_like_a_backquote_is_written_by_its_code(mark: str) -> None:
    """A column cannot pass for a condition, and its name is read back."""
    name = f"age{mark} >= 18 and {mark}x"
    for written in (name_text(name), heading_text(name, apart="=")):
        assert (
            f"`age\\u{{{ord(mark):04x}}} >= 18 and \\u{{{ord(mark):04x}}}x`" == written
        )
    for text in (name_text(name), f"`{name}`"):
        predicate, complaints = parse_condition(f"{text} >= 5")
        assert [] == complaints
        assert isinstance(predicate, Comparing)
        assert name == getattr(predicate.operand, "text", None)


@pytest.mark.parametrize("code", [*"ˋ｀‘’′‵´`\u0300", "\u1fef", "\u201b", "\uff07"])
def test_the_look_alikes_of_a_backquote_are_known(code: str) -> None:
    """Those that a reviewer named, and those beside them in the table of UTS 39."""
    assert code == "`" or code in BACKQUOTE_LOOKALIKES


@pytest.mark.property
@settings(deadline=None)
@given(
    st.text(st.sampled_from([*"ab \\u{}025c", "\u02cb", "\u2019"]), min_size=1),
)
@example("\\u{02cb}")
@example("\\u{005c}u{02cb}")
@example("\\\\u{02cb}")
@example("a  b")
@example("\\\u02cb")
def test_a_name_is_read_back(name: str) -> None:
    """Backslashes, codes and what they stand for are different names."""
    predicate, complaints = parse_condition(f"{name_text(name)} >= 5")
    assert [] == complaints
    assert isinstance(predicate, Comparing)
    assert name == getattr(predicate.operand, "text", None)


@pytest.mark.parametrize("name", ["home address", "a\\b", "O'Brien", "\\u{0041}", "né"])
def test_ordinary_names_have_no_codes(name: str) -> None:
    """A backslash is one, unless a code follows that the language knows."""
    assert name in {name_text(name), name_text(name)[1:-1]}


def test_rounded_decimals_say_when_they_are_exact() -> None:
    """Values are written to fifteen digits, short ones as they are."""
    assert "0.333333333333333" == plain(Fraction(1, 3))
    assert "0.5" == plain(Fraction(1, 2))
    assert "-0.34" == plain(Fraction(-1, 3), 2, ROUND_FLOOR)
    assert "0.67" == plain(Fraction(2, 3), 2, ROUND_CEILING)
