"""A report as one static HTML page: no script, no network, no other file.

Every text passes through `dpql.reports.html_text.safe`. The policy of the page allows
its style sheet, by hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import date
from html import escape

from dpql.diagnostics import WHOLE
from dpql.mechanisms import CHOOSERS, SEARCHES
from dpql.model.notation import measure_text
from dpql.model.spec import Neighbours
from dpql.reports.checks import UNCHECKED
from dpql.reports.display import (
    View,
    bound_text,
    budget_delta,
    cautions,
    chance_text,
    cost_text,
    equals_text,
    error_text,
    exact_text,
    factor_text,
    few_text,
    marks_text,
    percent_text,
    promise_text,
    protected_text,
    purpose_label,
    vacuous_text,
)
from dpql.reports.html_style import STYLE
from dpql.reports.html_tables import values_html
from dpql.reports.html_text import in_words, safe, text
from dpql.reports.plot import budget_plot
from dpql.reports.predicate import (
    FIRST_FORMAT,
    NoisePart,
    ReportPredicate,
    StatisticRecord,
)

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
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
        f"<title>{text(in_words(predicate.title))}</title>",
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
    yield f"<h1>{safe(in_words(predicate.title))}</h1>"
    purpose = safe(purpose_label(predicate.purpose), limit=WHOLE)
    yield f'<p class="lead"><span class="over">Purpose</span> {purpose}</p>'
    yield f'<p class="quiet">{_published(view)}</p>'
    if view.kind != "release":
        yield (
            '<p class="warning">A rehearsal: these numbers protect nobody and '
            "describe nobody.</p>"
        )
    for caveat in cautions(predicate):
        words = safe(f"{_sentence(caveat)}.", limit=WHOLE)
        yield f'<p class="warning">{words}</p>'
    if predicate.ledger is None and not predicate.caveats:
        yield '<p class="warning">No budget was debited for this report.</p>'
    words = safe(guarantee.words, limit=600)
    yield f'<div class="promise"><p>{words}</p></div>'
    bound = bound_text(predicate)
    if bound is not None:
        yield f'<p class="bound">{safe(bound, limit=WHOLE)}</p>'
    yield "<details><summary>Privacy, budget and plan</summary><dl>"
    yield _term("Release", f"<code>{safe(predicate.title)}</code>")
    yield _term(
        "Privacy",
        f"ε {equals_text(guarantee.epsilon)}, δ = {guarantee.delta}; "
        f"e<sup>ε</sup> ≤ {factor_text(guarantee.epsilon)}; {guarantee.variant}",
    )
    yield _term("Protects", safe(protected_text(guarantee), limit=WHOLE))
    yield _term("Neighbours", _NEIGHBOURS[guarantee.neighbours])
    yield _term("Plan", f"<code>{predicate.plan_digest[:16]}</code>")
    record = predicate.ledger
    if record is not None:
        yield _term(
            "Budget",
            f"{safe(record.dataset)}: spent {exact_text(record.before)} → "
            f"{exact_text(record.after)} of {exact_text(record.cap)}"
            f"{budget_delta(record)}, entry "
            f"{record.seq}{budget_plot(record.cap, record.before, record.after)}",
        )
    yield "</dl><p>Public without noise:</p><ul>"
    for fact in guarantee.unprotected:
        yield f"<li>{safe(fact, limit=WHOLE)}</li>"
    yield "</ul></details>"


def _published(view: View) -> str:
    """Return who publishes the numbers, and when.

    The page is signed with the release, so it can name whom the plan asks to sign; who
    did is for `dpql verify` to say.
    """
    predicate = view.predicate
    signer = predicate.plan.spec.signer
    who = (
        "Signed: <code>dpql verify</code> says by whom · "
        if signer is None
        else f"Signer: {safe(signer, limit=WHOLE)} · "
    )
    verb = "Released" if view.kind == "release" else "Rehearsed"
    return f"{who}{verb} on {_day(predicate.date)}"


def _day(text_: str) -> str:
    """Return a day as people write it; what is no day is shown as it is."""
    try:
        day = date.fromisoformat(text_)
    except ValueError:
        return text(text_)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _statistic(predicate: ReportPredicate, statistic: StatisticRecord) -> Iterator[str]:
    unit = (
        f"; in {safe(measure_text(statistic.unit), limit=WHOLE)}"
        if statistic.unit
        else ""
    )
    yield f"<section><h2>{safe(in_words(statistic.name))}</h2>"
    yield (
        f"<p>{safe(_sentence(statistic.definition), limit=WHOLE)}{unit}; "
        f"{safe(promise_text(predicate, statistic), limit=WHOLE)}; "
        f"{cost_text(statistic)}</p>"
        '<p class="quiet">before noise: '
        f"{safe(statistic.accuracy_of, limit=WHOLE)}</p>"
    )
    few = few_text(predicate, statistic)
    if few is not None:
        yield f'<p class="quiet">{safe(_sentence(few), limit=WHOLE)}.</p>'
    for summarise in (marks_text, vacuous_text):
        summary = summarise(predicate, statistic)
        if summary is not None:
            yield f'<p class="warning">{safe(_sentence(summary), limit=WHOLE)}</p>'
    yield from values_html(predicate, statistic)
    yield "<details><summary>How the noise was made</summary>"
    name = safe(statistic.name, limit=WHOLE)
    yield f"<p>In the tables it is called <code>{name}</code>. "
    yield f"After the noise: {safe(statistic.post_processing, limit=300)}.</p>"
    for part in statistic.parts:
        yield _noise(part)
    yield "</details></section>"


def _noise(part: NoisePart) -> str:
    unit = "rows of its rank" if part.mechanism in CHOOSERS else "its own whole units"
    error = (
        f", off by at most {error_text(part.half_width)} in {unit} with "
        f"{percent_text(part.level)} confidence"
    )
    if part.mechanism in SEARCHES:
        # What is promised of keys is said above.
        error = ""
    rows = "".join(
        f"<tr><th scope=row>{safe(name)}</th>"
        f"<td><code>{safe(text, limit=120)}</code></td></tr>"
        for name, text in part.parameters
    )
    return (
        f"<p><strong>{safe(part.name)}</strong>: {safe(part.mechanism)}, "
        f"{cost_text(part)}{chance_text(part)}{error}</p>"
        f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>'
    )


def _foot(view: View) -> Iterator[str]:
    made = view.predicate.implementation
    packages = ", ".join(f"{name} {text}" for name, text in made.packages)
    yield '<footer class="quiet">'
    yield _signed(view)
    yield "<p>No signature can show:</p><ul>"
    for fact in UNCHECKED:
        yield f"<li>{safe(fact, limit=200)}</li>"
    yield "</ul>"
    yield (
        f"<p>dpql {safe(made.dpql)}; {safe(packages, limit=300)}; engine "
        f"{safe(made.engine)}; coins {safe(made.randomness)}; trust model "
        f"{safe(made.trust_model, limit=200)}.</p></footer>"
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


def _sentence(words: str) -> str:
    """Return a clause as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def _term(name: str, content: str) -> str:
    """Return one line of a list; the content is HTML already."""
    return f"<dt>{name}</dt><dd>{content}</dd>"
