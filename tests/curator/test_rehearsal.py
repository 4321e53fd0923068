"""A rehearsal invents rows that keep to the spec, from a seed alone."""

from __future__ import annotations

import pytest
from curator_plans import known_plan, row_plan, unit_plan
from language.flights import flights
from spec_text import ID, make_spec

from dpql.curator.rehearsal import SeededStream, _column, rehearse
from dpql.errors import RunFault
from dpql.language import load_text
from dpql.model.calendar import read_time
from dpql.model.release import Rehearsal
from dpql.planner import plan as make_plan


def test_a_rehearsal_is_a_function_of_its_seed() -> None:
    """The same values again, and others from another seed."""
    one, same, other = (rehearse(row_plan(), 50, seed) for seed in (1, 1, "1 2"))
    assert isinstance(one, Rehearsal)
    assert "seeded rehearsal" == one.coins
    assert one == same
    assert one != other
    assert "rehearsal" in str(one)
    assert "rehearsal" in one._repr_html_()


def test_units_are_rehearsed_too() -> None:
    """So are ids, and what is left out of them."""
    assert isinstance(rehearse(unit_plan(), 50, 1), Rehearsal)


def test_units_have_as_many_rows_as_any_statistic_counts() -> None:
    """A bound of a statistic's own is rehearsed, not that of the spec alone."""
    count = {"count": "rows", "by": "[g]", "spend": "{share: 1}"}
    own = count | {"contributes": "{rows: 4, groups: 3, total: 10}"}
    columns = {"p": ID, "g": "{type: category, keys: [a, b, c]}"}
    options = {"unit": "p", "contributes": "{rows: 2, groups: 1}"}
    for statistics, units in (({"one": count}, 500), ({"one": count, "own": own}, 100)):
        plan = make_plan(make_spec(columns, statistics, **options))
        ids = _column(plan.spec.data.column("p"), plan, 1000, "1")
        assert 0.8 * units < len(set(ids)) <= units


def test_a_public_number_of_rows_is_kept() -> None:
    """Another number, or none, is refused."""
    assert isinstance(rehearse(known_plan(20), 20, 1), Rehearsal)
    for plan, rows in ((known_plan(20), 21), (row_plan(), 0)):
        with pytest.raises(RunFault, match="DPQL507"):
            rehearse(plan, rows, 1)


def test_seeded_lanes_are_whole_bytes_with_no_bit_more() -> None:
    """Each request is fresh, and the bits before the first are 0."""
    stream = SeededStream("seed")
    first, second = (stream.read(range(3), 0, 11) for _ in range(2))
    assert (6, 6) == (len(first), len(second))
    assert first != second
    assert all(byte < 8 for byte in first[::2])
    assert first == SeededStream("seed").read(range(3), 0, 11)


def test_truths_dates_and_derived_columns_are_rehearsed() -> None:
    """Cells are invented of every type; some are missing."""
    plan = make_plan(
        load_text(flights(derived="month(when)", where="big"), form="yaml")
    )
    done = rehearse(plan, 300, 1)
    assert isinstance(done, Rehearsal)
    made = {
        column.name: _column(column, plan, 300, "1")
        for column in plan.spec.data.columns
    }
    for name in ("big", "when", "left"):
        assert None in made[name]
    assert {None, "false", "true"} == set(made["big"])
    days = {cell for cell in made["when"] if cell is not None}
    assert min(days) >= "2013-01-01"
    assert max(days) <= "2013-12-31"
    assert len(days) > 100
    assert all(read_time(cell) is not None for cell in made["left"] if cell)
