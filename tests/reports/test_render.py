"""Reports for people: right digits, and hostile names that do nothing."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from reports.sample_releases import (
    STEWARD,
    broad_plan,
    make_case,
    make_outcome,
    rehearsal_payload,
    small_plan,
)

from dpql.model.plan import Plan
from dpql.model.spec import CategoryColumn
from dpql.planner import plan as compile_plan
from dpql.reports.display import View, digits_of, unverified_view
from dpql.reports.envelope import seal
from dpql.reports.predicate import CellValue, ReportPredicate
from dpql.reports.render_html import POLICY, as_html
from dpql.reports.render_markdown import as_markdown, escape
from dpql.reports.render_text import as_text

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\" onload=alert(1) x='",
    "&lt;b&gt; &amp; &#x41;",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "evil\u202egnp.exe\u2066\u200f",
    "=HYPERLINK(1,2)",
    "@SUM(A1)",
    "+1+cmd",
    "-2+3",
    "\ttab",
    "a|b\n| c | d |",
    "[link](https://example.org) https://example.org www.example.org",
    "`code` **bold** # head",
    "{{7*7}} ${7*7} %0A::error::x",
    "x" * 10_000,
    "\u0000\u0007\u009b31m",
    "שלום",
)


def hostile_plan() -> Plan:
    """Return a plan whose keys, columns, unit and purpose are all hostile."""
    made = broad_plan()
    spec = made.spec
    columns = tuple(
        replace(column, name=HOSTILE[6], keys=HOSTILE)
        if isinstance(column, CategoryColumn)
        else column
        for column in spec.data.columns
    )
    statistics = tuple(
        replace(one, by=(HOSTILE[6],) if one.by else (), name=HOSTILE[index])
        for index, one in enumerate(spec.statistics)
    )
    return compile_plan(
        replace(
            spec,
            purpose="".join(HOSTILE[:4]),
            release=HOSTILE[1],
            data=replace(spec.data, columns=columns),
            statistics=statistics,
        )
    )


def view_of(plan: Plan) -> View:
    """Return the view of a signed release of the plan."""
    return unverified_view(make_case(plan).envelope, "ab" * 32)


class Walker(HTMLParser):
    """Collects the tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


PLAIN_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p"),
    *("div", "dl", "dt", "dd", "sup", "code", "details", "summary", "ul", "li"),
    *("section", "table", "thead", "tbody", "tr", "th", "td", "span", "svg", "line"),
    *("rect", "strong", "footer", "bdi"),
}


def _raw(text: str) -> list[str]:
    """Return the characters that no medium may carry."""
    return [c for c in text if not c.isprintable() and c != "\n"]


def test_hostile_names_are_inert_in_html() -> None:
    """No tag, attribute, control or bidi character of a name reaches the page."""
    page = as_html(view_of(hostile_plan()))
    walker = Walker()
    walker.feed(page)
    assert walker.tags <= PLAIN_TAGS
    assert not {name for name in walker.attributes if name.startswith("on")}
    assert not walker.attributes & {"href", "src", "style", "srcdoc", "action"}
    assert _raw(page.replace("\u202f", "")) == []
    assert "x" * 1_000 not in page


def test_page_asks_for_nothing_from_outside() -> None:
    """The policy comes first and allows the page's own style sheet only."""
    page = as_html(view_of(broad_plan()))
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert POLICY.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in POLICY
    outside = re.findall(r"https?://|//[a-z]|url\(|@import|<script|<link", page)
    assert outside == []


def test_hostile_names_are_inert_on_a_terminal() -> None:
    """No escape sequence, bell, or reordering character is printed."""
    printed = as_text(view_of(hostile_plan()))
    assert _raw(printed) == []
    assert "\\u{1b}[31mred" in printed
    assert max(map(len, printed.splitlines())) < 1_500


def test_hostile_names_are_inert_in_markdown() -> None:
    """No tag, link, code or extra column comes out of a name."""
    printed = as_markdown(view_of(hostile_plan()))
    assert _raw(printed) == []
    assert "<" not in printed.replace("&lt;", "")
    assert not re.search(r"(?<!\\)\[", printed)
    assert not re.search(r"https?://|www\.", printed)
    widths = {
        len(re.findall(r"(?<!\\)\|", line))
        for line in printed.splitlines()
        if line.startswith("| ") and "value" not in line
    }
    assert widths <= {3, 4, 5, 6}
    assert escape("a|b`c<d") == "a\\|b\\`c&lt;d"
    assert escape("a  b") == "a &nbsp;b"


def test_hostile_names_are_inert_in_csv() -> None:
    """No cell starts like a formula unless it is a number."""
    text = make_outcome(hostile_plan()).to_csv()
    rows = list(csv.reader(io.StringIO(text)))
    assert {len(row) for row in rows} == {len(rows[0])}
    for row in rows[1:]:
        for cell in row:
            if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
                Fraction(cell)


def test_rehearsal_says_so_everywhere() -> None:
    """Nobody can take a rehearsal for a release by reading it."""
    envelope = seal(rehearsal_payload(small_plan()), [STEWARD])
    view = unverified_view(envelope, "ab" * 32)
    assert "A rehearsal: these numbers protect nobody" in as_html(view)
    assert "A rehearsal: these numbers protect nobody" in as_markdown(view)
    assert as_text(view).startswith("REHEARSAL")


def test_report_without_a_debit_says_so() -> None:
    """A reader is told that no budget was debited."""
    view = view_of(small_plan())
    without = replace(view, predicate=replace(view.predicate, ledger=None))
    assert "No budget was debited" in as_html(without)
    assert "no budget was debited" in as_text(without)
    assert "no budget was debited" in as_markdown(without)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "texts"),
    [
        ("748", "694", "802", ("748", "694", "802")),
        ("2810000/173", "14711", "18130", ("16 243", "14 711", "18 130")),
        ("1/3", "1/4", "1/2", ("0.333", "0.250", "0.500")),
        ("-1/3", "-1/2", "-1/4", ("-0.333", "-0.500", "-0.250")),
        ("5", "5", "5", ("5", "5", "5")),
        ("0", "0", "22", ("0", "0", "22")),
        ("1/2", "0", "22", ("0.5", "0.0", "22.0")),
        ("3", "0", "27", ("3", "0", "27")),
        ("0", "0", "3", ("0", "0", "3")),
        ("1000000", "0", "2000000", ("1 000 000", "0", "2 000 000")),
    ],
)
def test_digits_are_those_that_matter(
    value: str, lower: str, upper: str, texts: tuple[str, str, str]
) -> None:
    """Values are rounded far below their interval, intervals outwards."""
    shown = digits_of(
        CellValue(
            cell=(),
            value=Fraction(value),
            lower=Fraction(lower),
            upper=Fraction(upper),
            noisy=(),
        )
    )
    assert (shown.value, shown.lower, shown.upper) == texts
    assert Fraction(shown.lower.replace(" ", "")) <= Fraction(lower)
    assert Fraction(shown.upper.replace(" ", "")) >= Fraction(upper)


def test_long_tables_are_cut_with_a_note() -> None:
    """A page stays readable; the csv holds every value."""
    view = view_of(small_plan())
    (statistic,) = view.predicate.statistics
    many = replace(statistic, values=tuple(statistic.values) * 400)
    long: ReportPredicate = replace(view.predicate, statistics=(many,))
    cut = replace(view, predicate=long)
    assert "and 300 more" in as_html(cut)
    assert "and 600 more" in as_markdown(cut)
    assert "and 760 more" in as_text(cut)


def test_the_page_begins_in_words() -> None:
    """Title, purpose, signer and day come before any number or digest."""
    made = small_plan("A test of pages.")
    for signer, words in (("bulletin <b>", "bulletin &lt;b&gt;"), (None, "by whom")):
        spec = replace(made.spec, release="wages_by_region", signer=signer)
        page = as_html(view_of(compile_plan(spec)))
        head = page[page.index("<h1>") : page.index('<div class="promise">')]
        assert "<h1><bdi>Wages by region</bdi></h1>" in head
        assert "A test of pages." in head
        assert words in head
        assert "Released on 16 November 2026" in head
        assert "<details><summary>Privacy, budget and plan</summary>" in page
        assert page.index("Privacy, budget and plan") > page.index("</h1>")
