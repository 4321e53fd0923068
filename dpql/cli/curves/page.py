"""The page itself: one file, nothing loaded, nothing run but the script it names."""

from __future__ import annotations

import base64
import hashlib
import json
from fractions import Fraction
from html import escape
from importlib.resources import files
from typing import Any

from dpql.cli.curves.chart import Chart
from dpql.cli.curves.grid import Drawn, drawn, totals
from dpql.diagnostics import shown
from dpql.model.plan import Plan
from dpql.planner.explain import explain, promise, title
from dpql.planner.figures import decimal, plural, rational, times, within_text


def page(plan: Plan) -> str:
    """Return a self-contained page of curves and sliders."""
    style, script = (_part(name) for name in ("page.css", "page.js"))
    shares = drawn(plan)
    parts = {
        "policy": "; ".join(
            [
                "default-src 'none'",
                f"style-src '{_hash(style)}'",
                f"script-src '{_hash(script)}'",
                "base-uri 'none'",
                "form-action 'none'",
            ]
        ),
        "style": style,
        "script": script,
        "release": escape(shown(plan.spec.release)),
        "purpose": escape(shown(plan.spec.purpose, limit=400)),
        "digest": plan.digest[:8],
        "facts": "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
            for name, text in explain(plan).facts
        ),
        "total": _total(plan),
        "cards": "".join(_card(number, each) for number, each in enumerate(shares)),
        "data": _embedded(_data(plan, shares)),
    }
    return _filled(_part("page.html"), parts)


def _filled(template: str, parts: dict[str, str]) -> str:
    """Put each part in its place, once; what a part says is never read as a place."""
    pieces = template.split("{{")
    output = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        output += [parts[name], rest]
    return "".join(output)


def _total(plan: Plan) -> str:
    offered = totals(plan)
    return (
        f'<input id="total" type="range" min="0" max="{len(offered) - 1}" '
        f'value="{offered.index(plan.epsilon)}" aria-label="total epsilon">'
        f'<output id="total-text">ε = {rational(plan.epsilon)}: any outcome at most '
        f"{times(plan.epsilon)} times likelier with a unit than without</output>"
    )


def _card(number: int, each: Drawn) -> str:
    step = each.step
    note = ""
    if step.accuracy is None:
        note = f'<p class="note">Drawn for {plural(_rows(each), "row")}.</p>'
    slider = '<p class="note">Its ε is fixed by the spec.</p>'
    if each.weight is not None:
        slider = (
            f'<label class="live">share <input type="range" class="share" min="-8" '
            f'max="8" value="0" data-statistic="{number}"></label>'
        )
    within = promise(step) if step.accuracy is not None else _own(each)
    return (
        f'<section id="statistic-{number}"><h2>{escape(title(step))}</h2>'
        f'<p class="reading"><output class="within">{escape(within)}</output>'
        f' <span class="cost">at ε <output class="epsilon">{rational(step.epsilon)}'
        f"</output>, {escape(step.mechanism)}</span></p>"
        f"{Chart.around(each.curves).svg(each.curves, step.mechanism, step.epsilon)}"
        f"{slider}{note}</section>"
    )


def _rows(each: Drawn) -> int:
    return next(curve.rows for curve in each.curves if curve.rows is not None)


def _own(each: Drawn) -> str:
    return next(
        within_text(error, each.step.unit)
        for curve in each.curves
        if curve.mechanism == each.step.mechanism
        for epsilon, error in curve.points
        if epsilon == each.step.epsilon
    )


def _data(plan: Plan, shares: tuple[Drawn, ...]) -> dict[str, Any]:
    return {
        "totals": [
            {
                "epsilon": _number(total),
                "text": f"ε = {rational(total)}: any outcome at most {times(total)} "
                "times likelier with a unit than without",
            }
            for total in totals(plan)
        ],
        "statistics": [_series(each) for each in shares],
    }


def _series(each: Drawn) -> dict[str, Any]:
    chart = Chart.around(each.curves)
    step = each.step
    points = next(c.points for c in each.curves if c.mechanism == step.mechanism)
    return {
        "weight": None if each.weight is None else _number(each.weight),
        "epsilon": _number(step.epsilon),
        "points": [
            {
                "epsilon": _number(epsilon),
                "shown": rational(epsilon),
                "within": within_text(error, step.unit),
                "x": chart.x(epsilon),
                "y": chart.y(error),
            }
            for epsilon, error in points
        ],
    }


def _number(x: Fraction) -> float:
    return float(decimal(x, 12).replace(" ", ""))


def _embedded(document: Any) -> str:
    """Return JSON that no HTML parser can mistake for an end of the script."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return files(__package__ or "").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
