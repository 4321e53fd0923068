"""How large a release may become, from its plan alone: what is signed must be readable.

A value is written as texts: its cell, the value, its interval and its noisy numbers.
All but the cell are fractions. Values and intervals lie in a public range, so a
fraction is as long as its denominator lets it be:

    affine, quantile    the denominators of the plan's constants, multiplied
    mean, variance      times the noisy count, in a variance its square
    parts of one        times their noisy sum, or the grid of an interval's ends; twice
                        in what is a product or a ratio of means
    totals and groups   times the number of groups and 1, and the grid of their reach

Noise is taken to be at most 2**16 half-widths. It is more in fewer than one run in
2**1000, and then the envelope need not be too large: no text is as long as its bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, replace
from fractions import Fraction
from json.encoder import encode_basestring

from dpql.errors import PlanFault
from dpql.mechanisms import MECHANISMS
from dpql.model.limits import LARGEST_RELEASE, MOST_CELLS
from dpql.model.plan import (
    Affine,
    CentredMean,
    CentredVariance,
    Chosen,
    Part,
    PartsOfOne,
    Plan,
    Share,
    Step,
)
from dpql.model.release import cell_axes
from dpql.planner.bind import MOST_RANKED_KEYS
from dpql.statistics.totals import REACH_BITS

_NOISE_BITS = 16
_END_BITS = 2 * 64
"""An interval of parts of one ends on a grid of 2**64 steps, a variance's on two."""

_FAR = 1 << 1_000
"""A step that every outer clamp acts on."""

_FEW_VALUES = 100_000
"""The limits of texts and numbers let no so small release be too large."""

_LAYOUT = 200
"""Bytes of a value's member names, brackets, commas, line breaks and spaces."""

_LONGEST_KEY = 402
"""Bytes of the text of a key that was found: 100 characters, and quotes."""

_LINE = 20
"""Bytes of the line of one more text, apart from the text."""

_REST = 16 << 20
"""Bytes of everything but the values and the plan: approvals, words, signatures."""


def with_limits(plan: Plan) -> Plan:
    """Return the plan with the most keys that each search may show.

    No statistic releases more values than any may, rows are counted by candidate for
    few keys only, and what is signed can be read.
    """
    most = {
        step.name: _most_keys(step, plan)
        for step in plan.steps
        if step.search is not None
    }
    if not most:
        return plan
    limited = _limited(plan, most)
    while largest_envelope(limited) > LARGEST_RELEASE and max(most.values()) > 1:
        most = {name: max(1, count // 2) for name, count in most.items()}
        limited = _limited(plan, most)
    return limited


def _most_keys(search: Step, plan: Plan) -> int:
    by_these = [step for step in plan.steps if step.found_by == search.name]
    most = MOST_CELLS // max((step.values for step in by_these), default=1)
    chosen = any(step.picks for step in by_these)
    return max(1, min(most, MOST_RANKED_KEYS) if chosen else most)


def _limited(plan: Plan, most: Mapping[str, int]) -> Plan:
    return replace(
        plan,
        steps=tuple(
            step
            if step.search is None
            else replace(step, search=replace(step.search, most=most[step.name]))
            for step in plan.steps
        ),
    )


def refuse_unreadable(plan: Plan) -> None:
    """Refuse a plan whose signed release could be too large to be read (DPQL435)."""
    count = sum(step.values * _keys(step, plan) for step in plan.steps)
    if count <= _FEW_VALUES:
        return
    size = largest_envelope(plan)
    if size > LARGEST_RELEASE:
        raise PlanFault.of(
            "DPQL435",
            f"the release of {count:,} values may have {size >> 20:,} MiB, and no more "
            f"than {LARGEST_RELEASE >> 20:,} are read",
            hint="ask for fewer cells, or split the statistics into several releases",
        )


def largest_envelope(plan: Plan) -> int:
    """Return how many bytes the envelope of a release has, at most."""
    values = sum(_values(step, plan) for step in plan.steps)
    text = plan.to_json()
    payload = values + len(text) + 4 * text.count(b"\n") + _REST
    return -(-payload * 4 // 3)


def _values(step: Step, plan: Plan) -> int:
    """Return how many bytes the values of a step take."""
    axes = cell_axes(step, plan.spec.data, version=plan.version)
    count, found = step.values, len(plan.spec.data.private(step.by))
    cells = sum(
        count // len(axis) * sum(_LINE + len(_quoted(text)) for text in axis)
        for axis in axes
    )
    cells += count * found * (_LINE + _LONGEST_KEY)
    noisy = sum(_LINE + _outcome(part) for part in step.parts)
    if isinstance(step.readout, Chosen):
        noisy += _LINE + len(str(step.readout.candidates))
    if step.search is not None:
        noisy += _LINE + _digits(int(step.upper).bit_length() + _NOISE_BITS)
    each = cells + count * (_LAYOUT + noisy + 3 * _number(step))
    return each * _keys(step, plan)


def _keys(step: Step, plan: Plan) -> int:
    """Return how many keys of private columns a step may have, others included."""
    finder = step if step.found_by is None else plan.step(step.found_by)
    return 1 if finder.search is None else finder.search.most + 1


def _number(step: Step) -> int:
    """Return the length of the text of a value or of an end of its interval."""
    constants = [*_constants(astuple(step.readout)), step.lower, step.upper]
    constants += [step.quantisation, *(part.half_width for part in step.parts)]
    bits = sum((x.denominator - 1).bit_length() for x in constants)
    bits += sum(map(_fraction_bits, step.parts))
    noisy = [_bits(part) for part in step.parts]
    match step.readout:
        case CentredMean():
            bits += noisy[0]
        case CentredVariance():
            bits += 2 * noisy[0]
        case PartsOfOne(what=Share.MEAN | Share.PROPORTION):
            ends = [x for one in step.grids for x in (one.lower, one.upper)]
            bits += sum((x.denominator - 1).bit_length() for x in ends)
            bits += max(max(noisy) + 1, _END_BITS // 2)
        case PartsOfOne():
            grids = [x for one in step.grids for x in (one.lower, one.upper, one.error)]
            bits += sum(_size(x) for x in grids)
            bits += 2 * (sum(noisy) + sum(one.steps.bit_length() for one in step.grids))
            bits += _END_BITS
    farthest = max(abs(step.lower), abs(step.upper)).__ceil__()
    if isinstance(step.readout, Affine) and (step.total or step.total_of):
        # What was moved is not clamped, and is over the number of groups and 1.
        bits += MOST_CELLS.bit_length() + REACH_BITS
        farthest += step.readout.scale.__ceil__() << max(noisy) + 1
    return (
        _digits(bits + farthest.bit_length()) + 1 + (_digits(bits) + 1 if bits else 0)
    )


def _outcome(part: Part) -> int:
    """Return the length of the text of a noisy number, which may be a fraction."""
    bits = _fraction_bits(part)
    return _digits(bits + _bits(part)) + 1 + (_digits(bits) + 1 if bits else 0)


def _fraction_bits(part: Part) -> int:
    """Return how many bits the denominator of a noisy number has.

    They are those of its grid, or of the outer clamp of the mechanism.
    """
    mechanism = MECHANISMS[part.noise.mechanism]
    noise = mechanism.restore(dict(part.noise.parameters))
    outcomes = [mechanism.outcome(noise, step) for step in (0, 1, _FAR)]
    return sum((x.denominator - 1).bit_length() for x in outcomes)


def _bits(part: Part) -> int:
    """Return how many bits a noisy number has before the point."""
    most = max(abs(part.measure.lower), abs(part.measure.upper))
    reach = part.half_width.__ceil__() << _NOISE_BITS
    return (most + reach).bit_length()


def _constants(members: Iterable[object]) -> list[Fraction]:
    return [Fraction(x) for x in members if isinstance(x, int | Fraction)]


def _size(number: Fraction) -> int:
    return abs(number.numerator).bit_length() + number.denominator.bit_length()


def _digits(bits: int) -> int:
    return bits * 302 // 1000 + 1


def _quoted(text: str) -> bytes:
    return encode_basestring(text).encode()
