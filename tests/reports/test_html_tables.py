"""How the page shows values: bars for counts, a table where there are two keys."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reports.sample_releases import broad_plan
from reports.test_render import view_of
from spec_text import make_spec

from dpql.planner import plan
from dpql.reports.display import View, are_points, digits_of
from dpql.reports.html_tables import is_count, values_html
from dpql.reports.predicate import StatisticRecord
from dpql.reports.render_html import as_html
from dpql.reports.render_markdown import as_markdown
from dpql.reports.render_text import as_text


def crossing(first: int, second: int) -> View:
    """Return the view of counts by two columns with so many keys."""
    columns = {
        name: f"{{type: category, keys: [{', '.join(f'{name}{i}' for i in range(n))}]}}"
        for name, n in (("p", first), ("q", second))
    }
    count = {"count": "rows", "by": "[p, q]", "spend": "{share: 1}"}
    return view_of(plan(make_spec(columns, {"both": count})))


def drawn(view: View, statistic: StatisticRecord) -> str:
    """Return the values of a statistic as HTML."""
    return "\n".join(values_html(view.predicate, statistic))


def test_counts_are_bars_from_zero() -> None:
    """Counts and histograms have bars, everything else an interval with a tick."""
    view = view_of(broad_plan())
    kinds = {}
    for one in view.predicate.statistics:
        html = drawn(view, one)
        kinds[one.name] = 'class="bar"' in html
        assert kinds[one.name] is not ('class="interval"' in html)
        assert kinds[one.name] is is_count(view.predicate, one)
        assert len(one.values) == html.count('<svg class="plot"')
    assert {"headcount", "ages"} == {name for name, bars in kinds.items() if bars}


@pytest.mark.parametrize(
    ("first", "second", "across"),
    [(12, 3, "q"), (3, 12, "p"), (2, 2, "q"), (1, 5, None), (9, 9, None)],
)
def test_two_keys_make_a_table(first: int, second: int, across: str | None) -> None:
    """The keys of which there are fewer stand side by side, if they are few."""
    view = crossing(first, second)
    (one,) = view.predicate.statistics
    html = drawn(view, one)
    assert first * second == html.count('<svg class="plot"')
    assert (across is not None) is ('class="crossed"' in html)
    if across is not None:
        assert f'<span class="over"><bdi>{across}</bdi></span>' in html
        assert min(first, second) == html.count('class="over"')


def test_many_values_are_shown_in_part() -> None:
    """The page ends after the first hundreds, and names the table with all."""
    view = crossing(3, 4)
    (one,) = view.predicate.statistics
    many = replace(one, values=tuple(one.values) * 5_000)
    html = drawn(view, many)
    assert 500 == html.count('<svg class="plot"')
    assert "… and 59\u202f500 more in the table <bdi>table-both.csv</bdi>" in html
    cut = replace(view, predicate=replace(view.predicate, statistics=(many,)))
    assert len(as_html(cut)) < 400_000
    older = replace(view.predicate, plan=replace(view.predicate.plan, version=3))
    assert "in the table <bdi>release.csv</bdi>" in "\n".join(values_html(older, many))


def test_a_value_that_says_nothing_is_marked() -> None:
    """The mark stands in its cell of a table, and below its row of a list."""
    for view in (crossing(2, 2), crossing(1, 5)):
        (one,) = view.predicate.statistics
        step = view.predicate.plan.step("both")
        first, *others = one.values
        empty = replace(first, lower=step.lower, upper=step.upper)
        marked = replace(one, values=(empty, *others))
        html = drawn(view, marked)
        assert 1 == html.count("says nothing: the interval is the whole range")
        page = replace(view, predicate=replace(view.predicate, statistics=(marked,)))
        assert f"1 of {len(one.values)} values says nothing" in as_html(page)


def test_quantiles_that_stand_for_themselves_have_no_interval() -> None:
    """Neither page, terminal nor Markdown shows one as wide as nothing."""
    view = view_of(broad_plan())
    (ranks,) = (s for s in view.predicate.statistics if s.name == "wage_ranks")
    assert not are_points(view.predicate, ranks)
    points = (replace(v, lower=v.value, upper=v.value) for v in ranks.values)
    ranks = replace(ranks, values=tuple(points))
    assert are_points(view.predicate, ranks)
    values = [digits_of(value).value.replace(" ", "\u202f") for value in ranks.values]
    html = drawn(view, ranks)
    assert all(value in html for value in values)
    assert " – " not in html
    alone = replace(view, predicate=replace(view.predicate, statistics=(ranks,)))
    assert " to\n" not in as_text(alone)
    assert "| value |\n" in as_markdown(alone)
    others = [s for s in view.predicate.statistics if s.name != "wage_ranks"]
    assert not any(are_points(view.predicate, other) for other in others)
