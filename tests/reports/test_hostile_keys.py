"""A key, a column or a unit cannot pass for a condition, a list or another cell."""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction
from html import unescape

import pytest
import spec_text
from reports.sample_releases import DAY, STEWARD, VERSIONS, make_outcome

from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.reports.report import sign
from dpql.review.diff import diff
from dpql.review.diff_render import as_html as diff_html
from dpql.review.diff_render import as_markdown as diff_markdown
from dpql.review.diff_render import as_text as diff_text
from dpql.review.explain import explain
from dpql.review.render import as_markdown, as_text

KEY = 'a" or c == "b'
FORGED = 'c == "a" or c == "b"'


def filtered(condition: str = f"c == '{KEY}'") -> Plan:
    """Return a plan with one filter on a column of an odd key."""
    where = condition.replace("'", "''")
    spec = spec_text.make_spec(
        {"c": f"{{type: category, keys: [a, b, '{KEY}']}}"},
        {"n": {"count": "rows", "where": f"'{where}'", "spend": "{share: 1}"}},
    )
    return plan(spec)


def report_texts(made: Plan) -> dict[str, str]:
    """Return every form of the report on a release of a plan."""
    report = sign(
        make_outcome(made), [STEWARD], day=DAY, ledger=None, versions=VERSIONS
    )
    return {
        "text": report.to_text(),
        "markdown": report.to_markdown(),
        "html": report.to_html(),
        "payload": report.envelope.decode(),
    }


def plan_texts(made: Plan) -> dict[str, str]:
    """Return every form in which a plan is reviewed."""
    change = diff(filtered("c == b"), made)
    return {
        "plan": str(made),
        "plan html": made._repr_html_(),
        "plan text": as_text(explain(made)),
        "plan markdown": as_markdown(explain(made)),
        "diff": diff_text(change),
        "diff html": diff_html(change),
        "diff markdown": diff_markdown(change),
    }


def seen(written: str) -> str:
    """Return what a reader of HTML or Markdown sees."""
    bare = unescape(re.sub(r"<[^>]*>", "", written))
    return re.sub(r"\\([=.])", r"\1", bare)


@pytest.mark.parametrize("make", [plan_texts, report_texts])
def test_a_key_cannot_pass_for_a_condition(make: object) -> None:
    """The issue's example: one key, shown as if it were two conditions."""
    assert callable(make)
    for form, written in make(filtered()).items():
        assert FORGED not in seen(written), form
    assert FORGED in seen(as_text(explain(filtered("c == a or c == b"))))


def test_close_literals_are_different_texts() -> None:
    """Nothing is rounded: sixteen digits that differ in the last stay apart."""
    texts = set()
    for last in (1, 2):
        bound = Fraction(10**15 + last, 10**16)
        spec = spec_text.make_spec(
            {"x": "{type: float, bounds: [0, 1], nulls: drop}"},
            {
                "n": {
                    "count": "rows",
                    "where": f"x < {spec_text.number(bound)}",
                    "spend": "{share: 1}",
                },
                "h": {
                    "histogram": "x",
                    "bins": f"[0, {spec_text.number(bound)}, 1]",
                    "spend": "{share: 1}",
                },
            },
        )
        made = plan(spec)
        for form, written in report_texts(made).items():
            if form != "payload":
                texts.add((form, written.split("release.dsse.json")[0]))
                assert spec_text.number(bound) in seen(written), form
    assert 6 == len(texts)


CELLS = ("x, b=y", "x", "north   999   990", "a=b", "“x”", '"x"', "n  m", "n m")


def grouped() -> Plan:
    """Return a plan by two columns whose keys look like labels, rows and quotes."""
    keys = ", ".join("'" + key + "'" for key in CELLS)
    return plan(
        spec_text.make_spec(
            {
                "a": f"{{type: category, keys: [{keys}]}}",
                '"b, c"': "{type: category, keys: [y, 'y, b=y']}",
            },
            {"n": {"count": "rows", "by": "[a, 'b, c']", "spend": "{share: 1}"}},
        )
    )


def test_different_cells_have_different_labels_everywhere() -> None:
    """No row of a table can be read as another row, or as more columns."""
    made = grouped()
    release = make_outcome(made)
    labels = [row[1:-7] for row in csv.reader(io.StringIO(release.to_csv()))]
    assert len(labels) == len(set(map(tuple, labels)))
    written = report_texts(made)
    rows = [
        re.split(r" {3,}", line.strip())
        for line in written["text"].splitlines()
        if line.startswith("   ") and re.search(r"\d$", line)
    ][-len(release.results[0].values) :]
    assert {5} == set(map(len, rows))
    assert len(rows) == len({tuple(row[:2]) for row in rows})
    for form in ("text", "markdown", "html"):
        assert r'"north \u{0020}\u{0020}999' in seen(written[form]).replace(
            "\\\\", "\\"
        ).replace("\\{", "{").replace("\\}", "}").replace('\\"', '"'), form
        assert "north   999" not in seen(written[form]), form


def test_lists_of_keys_in_a_diff_cannot_be_forged() -> None:
    """A new key with a comma is one key, in quotes."""
    old, new = (
        plan(
            spec_text.make_spec(
                {"c": f"{{type: category, keys: [{keys}]}}"},
                {"n": {"count": "rows", "by": "[c]", "spend": "{share: 1}"}},
            )
        )
        for keys in ("a, b", "a, 'x, - b', y1, y2, y3, y4")
    )
    (change,) = [one for one in diff(old, new).changes if one.subject == "keys"]
    assert '+ "x, - b", + "y1", + "y2", + 2 more, - "b"' == change.note
