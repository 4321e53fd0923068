"""The page: one file that loads nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from fractions import Fraction
from html import escape
from importlib.resources import files
from typing import Any

from dpql.mechanisms.concentrated import epsilon_up
from dpql.model.figures import (
    decimal,
    equal_to,
    rational,
)
from dpql.model.notation import quoted, unit_text
from dpql.model.plan import Plan
from dpql.model.promised_rows import condition_words
from dpql.review.curves.chart import Chart
from dpql.review.curves.points import (
    ROWS,
    Curve,
    StepCurves,
    Variant,
    is_of_rows,
    row_counts,
    step_curves,
    totals,
    variants,
)
from dpql.review.explain import explain, guarantee, title, within
from dpql.review.names import whole


def page(plan: Plan) -> str:
    """Return a self-contained page of curves and sliders."""
    style, script = (_part(name) for name in ("page.css", "page.js"))
    shares = step_curves(plan)
    varied = variants(plan)
    charts = _charts(shares, varied)
    explanation = explain(plan)
    derived = [("derived", str(line)) for line in explanation.derived]
    keys = [("keys", str(line)) for line in explanation.keys]
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
        "release": escape(whole(plan.spec.release)),
        "purpose": escape(whole(quoted(plan.spec.purpose))),
        "digest": plan.digest[:8],
        "facts": "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
            for name, text in (*explanation.facts, *derived, *keys)
        ),
        "panel": _panel(plan, varied) if _sliding(shares) else _STILL,
        "cards": "".join(_card(plan, n, shares, charts[n]) for n in range(len(shares))),
        "data": _embedded(_data(plan, shares, varied, charts)),
    }
    return _filled(_part("page.html"), parts)


def _filled(template: str, parts: dict[str, str]) -> str:
    """Fill each placeholder once; the text of a part is never searched for more."""
    return re.sub(r"\{\{([a-z]+)\}\}", lambda found: parts[found[1]], template)


_STILL = (
    '<p class="panel">The spec fixes the ε of every statistic, so no slider can '
    "change it; the curves show what other amounts would give.</p>"
)


def _sliding(shares: tuple[StepCurves, ...]) -> int:
    """Return how many statistics take a share of the total."""
    return sum(each.weight is not None for each in shares)


def _charts(
    shares: tuple[StepCurves, ...], varied: tuple[Variant, ...]
) -> tuple[Chart, ...]:
    """Return the axes of every statistic: they hold whatever a slider can show."""
    return tuple(
        Chart.around(
            [
                *each.curves,
                *(curve for variant in varied for curve in variant.curves[number]),
            ]
        )
        for number, each in enumerate(shares)
    )


def _panel(plan: Plan, varied: tuple[Variant, ...]) -> str:
    offered, sign = totals(plan), _sign(plan)
    return (
        '<div class="panel live"><div class="row"><h2>Try another total</h2>'
        '<button id="back" type="button">back to the plan</button></div>'
        f'<input id="total" type="range" min="0" max="{len(offered) - 1}" '
        f'value="{offered.index(plan.shared)}" aria-label="total {_WORDS[sign]}">'
        f'<div class="row ends"><span>{sign} {rational(offered[0])}</span>'
        f"<span>{sign} {rational(offered[-1])}</span></div>"
        f'<output id="total-text">{escape(_total_text(plan, plan.shared))}</output>'
        '<p id="warning" role="alert" hidden>That total does not cover what the spec '
        f"fixes.</p>{_rows_slider(plan)}{_contributes_slider(plan, varied)}</div>"
    )


def _rows_slider(plan: Plan) -> str:
    counts = row_counts(plan)
    if len(counts) < 2:  # noqa: PLR2004  one is no choice
        return ""
    start = counts.index(min(ROWS, counts[-1]))
    return _labelled(
        "rows", "rows in a group", len(counts), start, _many(counts[start])
    )


def _contributes_slider(plan: Plan, varied: tuple[Variant, ...]) -> str:
    if len(varied) < 2:  # noqa: PLR2004  one is no choice
        return ""
    rows = plan.spec.privacy.contributes.rows
    start = [variant.rows for variant in varied].index(rows)
    unit = escape(whole(unit_text(plan.spec.privacy.unit)))
    words = f"rows of one {unit} that count"
    return _labelled("contributes", words, len(varied), start, _many(rows))


def _labelled(name: str, words: str, count: int, start: int, shown: str) -> str:
    return (
        f'<label class="live"><span>{words}</span> <input type="range" id="{name}" '
        f'min="0" max="{count - 1}" value="{start}">'
        f'<output id="{name}-text">{shown}</output></label>'
    )


def _many(count: int) -> str:
    return decimal(Fraction(count), 1)


def _total_text(plan: Plan, total: Fraction) -> str:
    if not plan.in_rho:
        return f"ε {equal_to(total)}: {guarantee(plan, total)}"
    events = sum((step.delta for step in plan.steps), Fraction(0))
    epsilon = epsilon_up(total, plan.delta - events)
    return (
        f"ρ {equal_to(total)}, so ε {equal_to(epsilon)} at δ = "
        f"{decimal(plan.delta, 3, up=True)}: {guarantee(plan, epsilon)}"
    )


_WORDS = {"ε": "epsilon", "ρ": "rho"}


def _sign(plan: Plan) -> str:
    return "ρ" if plan.in_rho else "ε"


def _card(plan: Plan, number: int, shares: tuple[StepCurves, ...], chart: Chart) -> str:
    each = shares[number]
    step = each.step
    reading = escape(_own(each, plan.cost(step)) if is_of_rows(step) else within(step))
    cost, sign = plan.cost(step), _sign(plan)
    drawing = (
        ""
        if not each.curves
        else chart.svg(each.curves, step.mechanism, cost, sign=sign)
    )
    part = f"{round(100 * cost / plan.shared)}%"
    return (
        f'<section id="statistic-{number}"><h2>{escape(title(step))}</h2>'
        f'<p class="reading"><output class="within">{reading}</output> '
        f'<span class="was" hidden>the plan: {reading}</span></p>'
        f'<p class="cost">{sign} <output class="epsilon">{rational(cost)}</output>, '
        f'<output class="part">{part}</output> of the total, {escape(step.mechanism)}'
        "</p>"
        f"{drawing}{_slider(number, shares)}{_note(each, sign)}</section>"
    )


def _slider(number: int, shares: tuple[StepCurves, ...]) -> str:
    weight = shares[number].weight
    if weight is None or _sliding(shares) == 1:
        return ""
    return (
        '<label class="live"><span>share</span> <input type="range" class="share" '
        f'min="-8" max="8" value="0" data-statistic="{number}">'
        f'<output class="weight">{decimal(weight, 3)}</output></label>'
    )


def _note(each: StepCurves, sign: str) -> str:
    words = [] if each.weight is not None else [f"The spec fixes its {sign}."]
    if not each.curves:
        words.append("Its error is known after a run only.")
    elif is_of_rows(each.step):
        count = f'<output class="rows">{_many(_rows(each))}</output>'
        words.append(f"Shown for {count} rows.")
    condition = condition_words(each.step)
    if condition is not None:
        words.append(f"The error holds only {condition}; dpql does not check that.")
    return f'<p class="note">{" ".join(words)}</p>' if words else ""


def _rows(each: StepCurves) -> int:
    return next(curve.rows for curve in each.curves if curve.rows is not None)


def _own(each: StepCurves, cost: Fraction) -> str:
    found = (
        curve.words(error)
        for curve in each.curves
        if curve.mechanism == each.step.mechanism
        for amount, error in curve.points
        if amount == cost
    )
    return next(found, within(each.step))


def _data(
    plan: Plan,
    shares: tuple[StepCurves, ...],
    varied: tuple[Variant, ...],
    charts: tuple[Chart, ...],
) -> dict[str, Any]:
    return {
        "totals": [
            {"epsilon": _number(total), "text": _total_text(plan, total)}
            for total in totals(plan)
        ],
        "statistics": [
            _series(each, chart, plan.cost(each.step))
            for each, chart in zip(shares, charts, strict=True)
        ],
        "rows": [_many(count) for count in row_counts(plan)],
        "contributes": [
            {
                "rows": _many(variant.rows),
                "statistics": [
                    {
                        "epsilon": _number(variant.plan.cost(step)),
                        "points": [_points(curve, chart) for curve in curves],
                    }
                    for step, curves, chart in zip(
                        variant.plan.steps, variant.curves, charts, strict=True
                    )
                ],
            }
            for variant in varied
        ],
    }


def _series(each: StepCurves, chart: Chart, cost: Fraction) -> dict[str, Any]:
    step = each.step
    own = [curve for curve in each.curves if curve.mechanism == step.mechanism]
    return {
        "weight": None if each.weight is None else _number(each.weight),
        "epsilon": _number(cost),
        "points": [point for curve in own for point in _points(curve, chart)],
    }


def _points(curve: Curve, chart: Chart) -> list[dict[str, Any]]:
    return [
        {
            "epsilon": _number(epsilon),
            "shown": rational(epsilon),
            "within": curve.words(error),
            "x": chart.x(epsilon),
            "y": chart.y(error),
        }
        for epsilon, error in curve.points
    ]


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
