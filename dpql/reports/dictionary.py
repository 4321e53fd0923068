"""The dictionary of a release: what its files, columns and statistics mean.

It follows from the plan alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING

from dpql.diagnostics import WHOLE
from dpql.model.columns import OTHERS
from dpql.model.figures import plural
from dpql.model.key_text import finder, has_others
from dpql.model.notation import measure_text, number_text, plain
from dpql.model.plan import Affine, Plan, Step
from dpql.model.release_tables import headings_of, key_columns
from dpql.model.step_text import losses_text, rank_text
from dpql.reports.display import percent_text
from dpql.reports.file_names import (
    CSV_NAME,
    DICTIONARY_NAME,
    ENVELOPE_NAME,
    HTML_NAME,
    PARQUET_NAME,
    table_names,
)
from dpql.reports.render_markdown import escape
from dpql.reports.sentences import before_noise, guarantee_words, post_processing
from dpql.statistics.definition import definition

_KEYS = 12
_LONGEST = 40

_COLUMNS = """
| statistic | its name; only in the tables of all statistics |
| a column for each key | the group, bin or quantile that the value is for; empty \
where the statistic has no such key; a key called like another column has `by_` first |
| value | the released number, kept inside its public range |
| noisy | the same number before it was kept inside that range: add these up, not the \
values; empty where the value is not a single noisy number |
| lower, upper | the ends of the interval that holds the number without noise with \
probability 1 - alpha; empty for quantiles, whose promise is about ranks |
| accuracy | how far noise moves a value at most, with probability 1 - alpha; empty \
where every value has an interval of its own width |
| alpha | the probability that a value is farther off than stated |
| unit | the unit of measure of value, noisy, lower, upper and accuracy |
| note | what to know before using the value: that its interval is the whole range \
that is possible, so that it says nothing, or that its group has fewer rows than \
promised; empty for most |
""".strip()


def dictionary(plan: Plan) -> str:
    """Return the dictionary as Markdown."""
    return "\n".join([*_head(plan), *_columns(), *_statistics(plan)]) + "\n"


def _head(plan: Plan) -> Iterator[str]:
    yield f"# {escape(plan.spec.release)}: what the tables mean"
    yield ""
    yield escape(guarantee_words(plan), limit=WHOLE)
    yield "Every number below has noise added to it on purpose: that is what protects."
    yield ""
    yield "| file | holds |"
    yield "| --- | --- |"
    yield f"| {ENVELOPE_NAME} | the signed release; it names the digest of all others |"
    yield f"| {HTML_NAME} | the report, for reading |"
    yield f"| {CSV_NAME}, {PARQUET_NAME} | all values, one a row |"
    for name, file in table_names(plan).items():
        yield f"| {escape(file)} | the values of {escape(name)} |"
    yield f"| {DICTIONARY_NAME} | this page |"


def _columns() -> Iterator[str]:
    yield ""
    yield "## Columns"
    yield ""
    yield "| column | means |"
    yield "| --- | --- |"
    yield _COLUMNS
    yield ""
    yield (
        "In csv an apostrophe stands before a text that a spreadsheet might take for a "
        "formula; Parquet has the text as it is."
    )


def _statistics(plan: Plan) -> Iterator[str]:
    files = table_names(plan)
    for step in plan.steps:
        yield ""
        yield f"## {escape(step.name)}"
        yield ""
        yield f"- what: {escape(definition(step), limit=WHOLE)}"
        rows = plural(step.values, "row") if step.per_key else f"{step.values} rows"
        rows += " for each key" * step.per_key
        yield f"- file: {escape(files[step.name])}, {rows}"
        if step.unit is not None:
            yield f"- unit: {escape(measure_text(step.unit), limit=WHOLE)}"
        yield from _key_lines(plan, step)
        ends = f"{_end(step, 'lower')} to {_end(step, 'upper')}"
        if step.names_only:
            yield "- numbers: none; its keys are all that is released"
        else:
            yield f"- public range: {escape(ends, limit=WHOLE)}"
            yield f"- promise: {escape(_promise(step), limit=WHOLE)}"
        if not isinstance(step.readout, Affine):
            yield "- noisy: empty; the noisy numbers stand in the signed release"
        yield f"- before noise: {escape(before_noise(plan, step), limit=WHOLE)}"
        yield f"- after noise: {escape(post_processing(step), limit=WHOLE)}"
        if step.total is not None or step.total_of is not None:
            yield (
                "- value: may lie outside that range: groups and total were moved "
                "to add up; here values add up, and noisy ones do not"
            )
        for sentence in losses_text(plan, step):
            yield f"- left out: {escape(sentence, limit=WHOLE)}"


def _key_lines(plan: Plan, step: Step) -> Iterator[str]:
    for heading, name in zip(headings_of(step), key_columns(step), strict=True):
        words = _keys(plan, step, heading)
        origin = "" if heading == name else f", the column {heading}"
        label = escape(name + origin, limit=WHOLE)
        yield f"- key {label}: {escape(words, limit=WHOLE)}"


def _keys(plan: Plan, step: Step, heading: str) -> str:
    if heading == "at" and step.at and heading not in step.by:
        return f"the quantile, {', '.join(map(str, step.at))}"
    if heading in step.bin_columns and step.edges:
        ends = f"{number_text(step.edges[0])} to {number_text(step.edges[-1])}"
        return f"{len(step.edges) - 1} bins from {ends}, left ends included"
    if heading in plan.spec.data.private(step.by):
        return _found(plan, step)
    keys = plan.spec.data.category(heading).keys
    shown = ", ".join(keys[:_KEYS])
    hidden = len(keys) - _KEYS
    return f"{len(keys)} keys: {shown}" + (f" and {hidden} more" * (hidden > 0))


def _found(plan: Plan, step: Step) -> str:
    """Return where the keys of a private column come from."""
    search = finder(plan, step)
    assert search is not None, "the planner has seen to it"
    if search is step:
        return "found in the data, in the order of their texts"
    more = f", and {OTHERS} for all else" * has_others(plan, search)
    return f"those that {search.name} shows{more}"


def _promise(step: Step) -> str:
    sure = percent_text(step.alpha)
    if step.search is not None and step.accuracy is not None:
        off = plain(step.accuracy, 6, ROUND_CEILING)
        seldom = percent_text(1 - step.alpha)
        return (
            f"each key is shown with a count more than {off} off in at most {seldom} "
            "of the runs"
        )
    if step.accuracy is None:
        return f"each interval holds the number without noise with {sure} confidence"
    off = plain(step.accuracy, 6, ROUND_CEILING)
    if step.picks:
        return f"with {sure} confidence {rank_text(step, off)}"
    unit = "" if step.unit is None else f" {measure_text(step.unit)}"
    return f"each value is off by at most {off}{unit}, with {sure} confidence"


def _end(step: Step, which: str) -> str:
    text = number_text(getattr(step, which))
    return text if len(text) <= _LONGEST else f"about {plain(getattr(step, which))}"
