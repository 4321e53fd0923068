"""A report as one static HTML page: no script, no network, no other file.

Every text passes through `_safe`, which makes it visible, clips it, escapes it and
isolates it from the direction of the text around it. The policy of the page allows its
style sheet, by hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from fractions import Fraction
from html import escape
from itertools import islice

from dpql.diagnostics import WHOLE, shown
from dpql.mechanisms import CHOOSERS
from dpql.model.notation import measure_text, plain
from dpql.model.spec import Neighbours
from dpql.reports.checks import UNCHECKED
from dpql.reports.display import (
    View,
    bound_text,
    cautions,
    cell_label,
    digits_of,
    equals_text,
    error_text,
    exact_text,
    factor_text,
    grouped,
    heading_label,
    interval_text,
    key_label,
    marks,
    marks_text,
    percent_text,
    promise_text,
    protected_text,
    purpose_label,
)
from dpql.reports.html_style import STYLE
from dpql.reports.plot import axis_of, budget_plot, interval_plot
from dpql.reports.predicate import (
    FIRST_FORMAT,
    NoisePart,
    ReportPredicate,
    StatisticRecord,
)

_ROWS = 500
_NEIGHBOURS = {
    Neighbours.ADD_REMOVE: "one more, or one fewer",
    Neighbours.REPLACE_ONE: "one replaced by another",
}
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

POLICY = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; "
    "form-action 'none'"
)


def as_html(view: View) -> str:
    """Return the report as a page that can be read in any browser, offline."""
    predicate = view.predicate
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_text(predicate.title)}</title>",
        f"<style>{STYLE}</style></head><body><main>",
        *_head(view),
    ]
    for statistic in predicate.statistics:
        parts += _statistic(predicate, statistic)
    parts += [*_foot(view), "</main></body></html>"]
    return "\n".join(parts) + "\n"


def _head(view: View) -> Iterator[str]:
    predicate = view.predicate
    guarantee = predicate.guarantee
    yield f"<h1>{_safe(predicate.title)}</h1>"
    if view.kind != "release":
        yield (
            '<p class="warning">A rehearsal: these numbers protect nobody and '
            "describe nobody.</p>"
        )
    for caveat in cautions(predicate):
        yield f'<p class="warning">{_sentence(caveat)}</p>'
    if predicate.ledger is None and not predicate.caveats:
        yield '<p class="warning">No budget was debited for this report.</p>'
    words = _safe(guarantee.words, limit=600)
    yield f'<div class="promise"><p>{words}</p></div>'
    bound = bound_text(predicate)
    if bound is not None:
        yield f'<p class="bound">{_safe(bound, limit=WHOLE)}</p>'
    yield "<dl>"
    yield _term("Purpose", _safe(purpose_label(predicate.purpose), limit=WHOLE))
    yield _term("Date", predicate.date)
    yield _term(
        "Privacy",
        f"ε {equals_text(guarantee.epsilon)}, δ = {guarantee.delta}; "
        f"e<sup>ε</sup> ≤ {factor_text(guarantee.epsilon)}; {guarantee.variant}",
    )
    yield _term("Protects", _safe(protected_text(guarantee), limit=WHOLE))
    yield _term("Neighbours", _NEIGHBOURS[guarantee.neighbours])
    yield _term("Plan", f"<code>{predicate.plan_digest[:16]}</code>")
    record = predicate.ledger
    if record is not None:
        yield _term(
            "Budget",
            f"{_safe(record.dataset)}: spent {exact_text(record.before)} → "
            f"{exact_text(record.after)} of {exact_text(record.cap)}, entry "
            f"{record.seq}{budget_plot(record.cap, record.before, record.after)}",
        )
    yield "</dl>"
    yield "<details><summary>Public without noise</summary><ul>"
    for fact in guarantee.unprotected:
        yield f"<li>{_safe(fact, limit=WHOLE)}</li>"
    yield "</ul></details>"


def _statistic(predicate: ReportPredicate, statistic: StatisticRecord) -> Iterator[str]:
    axis = axis_of(statistic)
    unit = (
        f"; in {_safe(measure_text(statistic.unit), limit=WHOLE)}"
        if statistic.unit
        else ""
    )
    yield f"<section><h2>{_safe(statistic.name)}</h2>"
    yield (
        f'<p class="quiet">{_safe(statistic.definition, limit=WHOLE)}{unit}; '
        f"ε {equals_text(statistic.epsilon)}; "
        f"{_safe(promise_text(predicate, statistic), limit=WHOLE)}</p>"
        '<p class="quiet">before noise: '
        f"{_safe(statistic.accuracy_of, limit=WHOLE)}</p>"
    )
    summary = marks_text(predicate, statistic)
    if summary is not None:
        yield f'<p class="warning">{_safe(summary, limit=WHOLE)}</p>'
    yield '<div class="scroll"><table class="values"><thead><tr>'
    for heading in statistic.headings:
        yield f'<th scope="col">{_safe(heading_label(heading), limit=WHOLE)}</th>'
    yield (
        f'<th scope="col" class="number">value</th>'
        f'<th scope="col" class="number">{interval_text(predicate, statistic)}</th>'
        f'<th scope="col" class="graph"><span class="ends">'
        f"<span>{_end(axis.lower)}</span><span>{_end(axis.upper)}</span></span></th>"
        "</tr></thead><tbody>"
    )
    span = len(statistic.headings) + 3
    found = zip(statistic.values, marks(predicate, statistic), strict=True)
    for value, mark in islice(found, _ROWS):
        digits = digits_of(value)
        keys = "".join(
            f"<td>{_safe(key_label(key), limit=WHOLE)}</td>" for key in value.cell
        )
        yield (
            f'<tr>{keys}<td class="number">{_number(digits.value)}</td>'
            f'<td class="number">{_number(digits.lower)} – {_number(digits.upper)}</td>'
            f'<td class="graph">{interval_plot(axis, value)}</td></tr>'
        )
        if mark is not None:
            label = cell_label(statistic, value)
            words = _safe(f"{label}: {mark}" if label else mark, limit=WHOLE)
            yield f'<tr class="mark"><td colspan="{span}">{words}</td></tr>'
    yield "</tbody></table></div>"
    hidden = len(statistic.values) - _ROWS
    if hidden > 0:
        yield f'<p class="quiet">… and {hidden} more in release.csv</p>'
    yield "<details><summary>Noise</summary>"
    yield (f"<p>After the noise: {_safe(statistic.post_processing, limit=300)}.</p>")
    for part in statistic.parts:
        yield _noise(part)
    yield "</details></section>"


def _noise(part: NoisePart) -> str:
    unit = "rows of its rank" if part.mechanism in CHOOSERS else "its own whole units"
    rows = "".join(
        f"<tr><th scope=row>{_safe(name)}</th>"
        f"<td><code>{_safe(text, limit=120)}</code></td></tr>"
        for name, text in part.parameters
    )
    return (
        f"<p><strong>{_safe(part.name)}</strong>: {_safe(part.mechanism)}, "
        f"ε {equals_text(part.epsilon)}, off by at most "
        f"{error_text(part.half_width)} in {unit} with "
        f"{percent_text(part.level)} confidence</p>"
        f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>'
    )


def _foot(view: View) -> Iterator[str]:
    made = view.predicate.implementation
    packages = ", ".join(f"{name} {text}" for name, text in made.packages)
    yield '<footer class="quiet">'
    yield _signed(view)
    yield "<p>No signature can show:</p><ul>"
    for fact in UNCHECKED:
        yield f"<li>{_safe(fact, limit=200)}</li>"
    yield "</ul>"
    yield (
        f"<p>dpql {_safe(made.dpql)}; {_safe(packages, limit=300)}; engine "
        f"{_safe(made.engine)}; coins {_safe(made.randomness)}; trust model "
        f"{_safe(made.trust_model, limit=200)}.</p></footer>"
    )


def _signed(view: View) -> str:
    """Return how the page belongs to the signed file."""
    if view.predicate.format == FIRST_FORMAT:
        return (
            "<p>This page is for reading. What counts is the signed file "
            f"<code>release.dsse.json</code>, sha256 <code>{view.digest}</code>: "
            "<code>dpql verify</code> checks it, and so do openssl and jq.</p>"
        )
    return (
        "<p>This page is signed with the tables in <code>release.dsse.json</code>, "
        f"and shows the content with sha256 <code>{view.content}</code>: "
        "<code>dpql verify</code> checks both, and so do openssl and jq.</p>"
    )


def _sentence(text: str) -> str:
    """Return a clause as a sentence."""
    return f"<bdi>{_text(text[:1].upper() + text[1:], limit=WHOLE)}.</bdi>"


def _term(name: str, content: str) -> str:
    """Return one line of a list; the content is HTML already."""
    return f"<dt>{name}</dt><dd>{content}</dd>"


def _number(text: str) -> str:
    """Return digits with thousands apart and a true minus sign."""
    return text.replace(" ", "\u202f").replace("-", "\u2212")


def _end(x: Fraction) -> str:
    """Return an end of an axis in few digits."""
    text = plain(x, 4)
    short = text.rstrip("0").rstrip(".") if "." in text else text
    return _number(grouped(short))


def _text(text: str, *, limit: int = 80) -> str:
    return escape(shown(text, limit=limit), quote=True)


def _safe(text: str, *, limit: int = 80) -> str:
    return f"<bdi>{_text(text, limit=limit)}</bdi>"
