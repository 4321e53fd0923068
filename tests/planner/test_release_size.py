"""How large a release may become: never less than it is, and refused in time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from dpql.curator import rehearse
from dpql.errors import PlanFault
from dpql.language import load, load_text
from dpql.model.codec import canonical, encode
from dpql.model.limits import LARGEST_RELEASE
from dpql.model.plan import Plan
from dpql.model.release import Value
from dpql.model.spec import MechanismName, Neighbours
from dpql.planner import plan, release_size
from dpql.planner.release_size import largest_envelope, refuse_unreadable
from dpql.reports.predicate import CellValue
from dpql.reports.predicate_builder import build
from dpql.reports.statement import write_content, write_statement

SPECS = sorted(Path(__file__).parents[2].glob("specs/*.yaml"))
"""The gallery."""

DEPTH = 12
"""Spaces that every line of a value has in a statement, apart from its own."""


def written(values: Iterable[Value]) -> int:
    """Return how many bytes values take in a statement."""
    size = 0
    for value in values:
        names = ("cell", "value", "lower", "upper", "noisy")
        cell = CellValue(**{name: getattr(value, name) for name in names})
        text = canonical(encode(CellValue, cell))
        size += len(text) + DEPTH * text.count(b"\n") + 2
    return size


def counts(keys: int, statistics: int) -> Plan:
    """Return a plan of counts by two columns of so many keys."""
    names = ", ".join(f"k{number}" for number in range(keys))
    asked = "".join(
        f"  s{number}:\n    count: rows\n    by: [a, b]\n    spend: {{share: 1}}\n"
        for number in range(statistics)
    )
    return plan(load_text(TEXT.format(names=names, asked=asked), form="yaml"))


TEXT = """
dpql: 1
release: many
purpose: Very many counts.
data:
  source: rows
  rows: {{at_most: 1_000_000}}
  columns:
    a: {{type: category, keys: [{names}]}}
    b: {{type: category, keys: [{names}]}}
privacy:
  unit: row
  neighbours: add_remove
  epsilon: 1
  delta: 0
defaults: {{alpha: 0.05, gamma: 1e-9, mechanism: geometric}}
statistics:
{asked}"""


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
@pytest.mark.parametrize("mechanism", [None, MechanismName.SNAPPING])
def test_no_value_is_longer_than_its_bound(
    path: Path, mechanism: MechanismName | None
) -> None:
    """Whatever the statistic is, and whatever its noise."""
    spec = load(path)
    if spec.privacy.neighbours is Neighbours.REPLACE_ONE:
        few = replace(spec.data.rows, count=300)
        spec = replace(spec, data=replace(spec.data, rows=few))
    if mechanism is not None:
        asked = tuple(
            x if x.kind in ("median", "quantile") else replace(x, mechanism=mechanism)
            for x in spec.statistics
        )
        spec = replace(spec, statistics=asked)
    try:
        made = plan(spec)
    except PlanFault:
        pytest.skip("the mechanism hides no such statistic, or not so few rows")
    done = rehearse(made, 300, 1)
    for result in done.results:
        bound = release_size._values(result.step, made)
        assert written(result.values) <= bound, result.name


def test_the_bound_of_counts_is_close() -> None:
    """A million counts are written with not much less than their bound."""
    made = counts(40, 1)
    done = rehearse(made, 500, 1)
    (result,) = done.results
    size = written(result.values)
    assert size <= release_size._values(result.step, made) <= 1.5 * size


def test_an_envelope_is_no_larger_than_its_bound() -> None:
    """Plan, words and layout are in the bound, too."""
    made = counts(40, 2)
    done = rehearse(made, 500, 1)
    predicate = build(
        done,
        day=date(2026, 11, 19),
        ledger=None,
        approvals=(),
        versions={"dpql": "1"},
    )
    content = write_content(
        "urn:dpql:predicate:rehearsal:v1", type(predicate), predicate
    )
    payload = write_statement(content, {})
    assert 4 * len(payload) // 3 <= largest_envelope(made)


def test_two_statistics_of_a_million_values_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What could not be read again is refused by its plan, before anything is spent."""
    monkeypatch.setattr(release_size, "_FEW_VALUES", 0)
    made = counts(40, 1)
    refuse_unreadable(made)
    monkeypatch.setattr(release_size, "LARGEST_RELEASE", largest_envelope(made) - 1)
    with pytest.raises(PlanFault, match="DPQL435"):
        refuse_unreadable(made)
    with pytest.raises(PlanFault, match="DPQL435"):
        counts(40, 1)


def test_small_releases_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the longest keys of the most columns leave so few values readable."""
    monkeypatch.setattr(release_size, "largest_envelope", None)
    refuse_unreadable(counts(10, 1))
    longest = 8 * 128 * 4 + 4 * 600
    assert release_size._FEW_VALUES * longest < LARGEST_RELEASE * 3 // 4
