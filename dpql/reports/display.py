"""A report as people see it: the texts and the digits that every rendering shows.

Values are rounded to a twentieth of the half-width of their interval or finer.
Intervals are rounded outwards, so the report never promises more than was computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.exact import exp_up, round_up_to_digits
from dpql.model.format1 import filled
from dpql.model.key_text import few_words, shown_text
from dpql.model.limits import COLUMN, KEY, PURPOSE, TextFormat
from dpql.model.many_values import ManyValues
from dpql.model.notation import (
    cell_text,
    heading_text,
    key_text,
    measure_text,
    name_text,
    plain,
    quoted,
)
from dpql.model.plan import Step
from dpql.model.promised_rows import (
    condition_words,
    contradiction,
    contradictions_words,
    noisy_rows,
)
from dpql.model.step_text import bounds_text, excess_text, fault_text, rank_text
from dpql.model.vacuous import is_vacuous, vacuous_words
from dpql.reports.envelope import peek
from dpql.reports.predicate import (
    REHEARSAL,
    RELEASE,
    CellValue,
    Guarantee,
    LedgerRecord,
    NoisePart,
    ReportPredicate,
    StatisticRecord,
)
from dpql.reports.statement import read_statement

_MOST_DECIMALS = 12
_FINENESS = 20


@dataclass(frozen=True, slots=True)
class View:
    """A report to be shown: its predicate, its kind, and their digests.

    ``content`` is the sha256 of the predicate, which the page can name before it is
    signed. ``digest`` is that of the envelope, empty before there is one.
    """

    predicate: ReportPredicate
    kind: str
    content: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Digits:
    """A value and its interval as text, in the digits that matter."""

    value: str
    lower: str
    upper: str


def unverified_view(envelope: bytes, digest: str) -> View:
    """Return the view of an unverified envelope.

    Raises:
        VerifyFault: dpql did not write it as a report (DPQL600, DPQL605, DPQL606).
    """
    kinds = RELEASE, REHEARSAL
    statement = read_statement(peek(envelope), kinds, ReportPredicate)
    assert isinstance(statement.predicate, ReportPredicate)
    word = "rehearsal" if statement.predicate_type == REHEARSAL else "release"
    return View(statement.predicate, word, statement.content, digest)


def digits_of(value: CellValue) -> Digits:
    """Return a value with its interval as text."""
    half = (value.upper - value.lower) / 2
    decimals = 0
    while (
        half > 0
        and decimals < _MOST_DECIMALS
        and Fraction(1, 10**decimals) > half / _FINENESS
    ):
        decimals += 1
    if half == 0:
        return Digits(plain(value.value), plain(value.lower), plain(value.upper))
    ends = (value.value, value.lower, value.upper)
    # A count is a whole number, however narrow its interval.
    while decimals and all((x * 10 ** (decimals - 1)).denominator == 1 for x in ends):
        decimals -= 1
    unit = Fraction(1, 10**decimals)
    return Digits(
        _fixed((value.value / unit + Fraction(1, 2)).__floor__(), decimals),
        _fixed((value.lower / unit).__floor__(), decimals),
        _fixed((value.upper / unit).__ceil__(), decimals),
    )


def error_text(x: Fraction) -> str:
    """Return an error, rounded up to five significant digits."""
    return "0" if x == 0 else grouped(plain(round_up_to_digits(x, 5)))


def percent_text(alpha: Fraction) -> str:
    """Return the confidence of an alpha, in percent."""
    return f"{plain(100 * (1 - alpha), 6)}%"


def promise_text(predicate: ReportPredicate, statistic: StatisticRecord) -> str:
    """Return the promised accuracy of a statistic in words."""
    sure = percent_text(statistic.alpha)
    unit = f" {measure_text(statistic.unit)}" if statistic.unit else ""
    step = step_of(predicate, statistic)
    if step is not None and step.search is not None:
        return _search_promise(predicate, step)
    if statistic.accuracy is None:
        return f"intervals hold the number before noise with {sure} confidence each"
    if step is not None and step.picks:
        off = error_text(statistic.accuracy)
        return f"with {sure} confidence {rank_text(step, off)}"
    condition = None if step is None else condition_words(step)
    return (
        f"noise within ± {error_text(statistic.accuracy)}{unit} with {sure} "
        "confidence each" + (f", {condition}" if condition else "")
    )


def _search_promise(predicate: ReportPredicate, step: Step) -> str:
    """Return what is promised of keys that are found, and of their counts."""
    if step.accuracy is None:
        return shown_text(predicate.plan, step)
    off, seldom = error_text(step.accuracy), percent_text(1 - step.alpha)
    return (
        f"a key is shown with a count more than {off} off in at most {seldom} of the "
        "runs; counts that are hardly shown are more often too high than too low"
    )


def few_text(predicate: ReportPredicate, statistic: StatisticRecord) -> str | None:
    """Return what is not shown of a statistic whose keys are found, or None."""
    step = step_of(predicate, statistic)
    if step is None or not step.per_key:
        return None
    return few_words(step, len(statistic.values))


def has_numbers(predicate: ReportPredicate, statistic: StatisticRecord) -> bool:
    """Tell whether a statistic has numbers, and not keys alone."""
    step = step_of(predicate, statistic)
    return step is None or not step.names_only


def interval_text(predicate: ReportPredicate, statistic: StatisticRecord) -> str:
    """Return the heading of the intervals of a statistic."""
    step = step_of(predicate, statistic)
    if step is not None and step.picks:
        return "stands for"
    return f"{percent_text(statistic.alpha)} interval"


def are_points(predicate: ReportPredicate, statistic: StatisticRecord) -> bool:
    """Tell whether values have no interval, as quantiles that stand for themselves."""
    step = step_of(predicate, statistic)
    return (
        step is not None
        and bool(step.picks)
        and all(
            kind.lower == kind.upper for kind in ManyValues.of(statistic.values).kinds
        )
    )


def step_of(predicate: ReportPredicate, statistic: StatisticRecord) -> Step | None:
    """Return the step of the plan that made a statistic.

    An unverified report may have none.
    """
    steps = (step for step in predicate.plan.steps if step.name == statistic.name)
    return next(steps, None)


def vacuous(predicate: ReportPredicate, statistic: StatisticRecord) -> tuple[bool, ...]:
    """Tell of every value whether it says nothing."""
    step = step_of(predicate, statistic)
    if step is None:
        return (False,) * len(statistic.values)
    many = ManyValues.of(statistic.values)
    return tuple(many.each(lambda value: is_vacuous(step, value)))


def vacuous_text(predicate: ReportPredicate, statistic: StatisticRecord) -> str | None:
    """Return how many values say nothing, or None."""
    found = vacuous(predicate, statistic)
    return vacuous_words(sum(found), len(found))


def marks(
    predicate: ReportPredicate, statistic: StatisticRecord
) -> tuple[str | None, ...]:
    """Return the mark of every value whose noisy count contradicts `at_least`."""
    step = step_of(predicate, statistic)
    if step is None or condition_words(step) is None or not statistic.parts:
        return (None,) * len(statistic.values)
    width = statistic.parts[0].half_width

    def mark(value: CellValue) -> str | None:
        if not value.noisy:
            return None
        rows = noisy_rows(step.readout, value.noisy, width)
        return contradiction(step.at_least, *rows)

    return tuple(ManyValues.of(statistic.values).each(mark))


def marks_text(predicate: ReportPredicate, statistic: StatisticRecord) -> str | None:
    """Return how many values are marked, or None."""
    step, found = step_of(predicate, statistic), marks(predicate, statistic)
    count = sum(mark is not None for mark in found)
    if step is None or step.at_least is None or count == 0:
        return None
    return contradictions_words(count, len(found), step.at_least)


def bound_text(predicate: ReportPredicate) -> str | None:
    """Return which rows of a unit count, unless all do."""
    guarantee, spec = predicate.guarantee, predicate.plan.spec
    if guarantee.unit == "row":
        return None
    own = any(one.contributes or one.kind == "units" for one in spec.statistics)
    if own or spec.privacy.contributes.total is not None:
        bounds = "; ".join(bounds_text(predicate.plan))
        return f"Counts {bounds}; the others are dropped: totals are of those rows."
    rows = "row" if guarantee.rows == 1 else "rows"
    groups = "group" if guarantee.groups == 1 else "groups"
    dropped = "" if filled(predicate.plan) else "the others are dropped: "
    return (
        f"Counts at most {guarantee.rows} {rows} of a {protected_text(guarantee)} in "
        f"each of at most {guarantee.groups} {groups}; {dropped}"
        f"{excess_text(predicate.plan)}."
    )


def cautions(predicate: ReportPredicate) -> tuple[str, ...]:
    """Return the warnings of a report: the signed caveats, and a known fault."""
    fault = fault_text(predicate.plan)
    return predicate.caveats if fault is None else (*predicate.caveats, fault)


def protected_text(guarantee: Guarantee) -> str:
    """Return the unit that the promise protects."""
    unit = _cut(guarantee.unit, COLUMN)
    return unit if unit == "row" else name_text(unit)


def purpose_label(purpose: str) -> str:
    """Return the purpose in quotes, because it is the author's text."""
    return quoted(_cut(purpose, PURPOSE))


def key_label(key: str) -> str:
    """Return a key of a table, cut to the longest that a spec can have."""
    return key_text(_cut(key, KEY))


def heading_label(name: str) -> str:
    """Return the heading of a column of keys."""
    return heading_text(_cut(name, COLUMN))


def cell_label(statistic: StatisticRecord, value: CellValue) -> str:
    """Return the cell of a value as one text, empty for a single number."""
    headings = [_cut(name, COLUMN) for name in statistic.headings]
    pairs = zip(headings, value.cell, strict=False)
    return ", ".join(cell_text([name], [_cut(key, KEY)]) for name, key in pairs)


def _cut(text: str, text_format: TextFormat) -> str:
    longest = text_format.longest
    return text if len(text) <= longest else text[: longest - 1] + "…"


def factor_text(epsilon: Fraction) -> str:
    """Return e to the epsilon, rounded up to three digits."""
    return plain(round_up_to_digits(exp_up(epsilon), 3))


def cost_text(record: StatisticRecord | NoisePart) -> str:
    """Return what noise spends: an epsilon where it is pure, else a rho."""
    if record.epsilon is not None:
        return f"ε {equals_text(record.epsilon)}"
    assert record.rho is not None, "noise spends one or the other"
    return f"ρ {equals_text(record.rho)}"


def chance_text(part: NoisePart) -> str:
    """Return the delta of keys that are found; empty where it is 0."""
    return f", δ {equals_text(part.delta)}" if part.delta else ""


def budget_delta(record: LedgerRecord) -> str:
    """Return the delta of a budget; empty where it is 0."""
    return f", δ {equals_text(record.delta)}" if record.delta else ""


def delta_text(guarantee: Guarantee) -> str:
    """Return the delta that belongs to an epsilon; empty where it is 0."""
    return f", δ {equals_text(guarantee.delta)}" if guarantee.delta else ""


def equals_text(x: Fraction) -> str:
    """Return "= x", or "≈ x" for a number that is too long to show."""
    text = exact_text(x)
    return text if text.startswith("≈") else f"= {text}"


def exact_text(x: Fraction) -> str:
    """Return a short fraction as it is, and a long one as a decimal rounded up."""
    text = str(x)
    return text if len(text) <= 9 else f"≈ {plain(round_up_to_digits(x, 6))}"  # noqa: PLR2004  fits into a table


def _fixed(scaled: int, decimals: int) -> str:
    sign = "-" if scaled < 0 else ""
    digits = str(abs(scaled)).rjust(decimals + 1, "0")
    whole = digits[: len(digits) - decimals]
    fraction = digits[len(digits) - decimals :]
    return sign + grouped(whole) + (f".{fraction}" if fraction else "")


def grouped(text: str) -> str:
    """Return a decimal with spaces between its thousands."""
    whole, point, fraction = text.partition(".")
    if not whole.lstrip("-").isdigit():
        return text
    return f"{int(whole):,}".replace(",", " ") + point + fraction
