"""The owner learns how many private keys a run would show; nobody else does."""

from __future__ import annotations

from private_specs import frame, private_plan

from dpql.cli.commands.preflight.view import as_document, as_text
from dpql.curator.preflight import KeysFit, preflight


def test_keys_are_counted_by_how_often_they_are_shown() -> None:
    """Three keys of three hundred planes, one of one; and pairs of them."""
    plan = private_plan(shown_from=5)
    found = preflight(plan, {"rows": frame()})
    flights, routes = found.keys
    assert flights == KeysFit(name="flights", keys=4, never=1, half=3, usual=3)
    assert routes == KeysFit(name="routes", keys=4, never=0, half=3, usual=3)
    text = as_text(plan, found)
    assert (
        "4 keys: 3 shown in 95% of the runs, 0 in half of them or more, 0 seldom, "
        "1 never" in text
    )
    assert as_document(plan, found)["keys"][1]["usual"] == 3


def test_statistics_by_such_keys_lose_the_rows_of_the_others() -> None:
    """Rows of keys that are usually shown are used, or all of them with others."""
    few = preflight(private_plan(shown_from=5), {"rows": frame()})
    used = {one.name: one.used for one in few.statistics}
    assert used == {"delays": 900, "planes": 901}
    text = as_text(private_plan(shown_from=5), few)
    assert "99.8% have keys that are usually shown or bins" in text
    others = preflight(private_plan(others=True), {"rows": frame()})
    assert {one.used for one in others.statistics} == {901}


def test_data_without_a_frequent_key_are_no_fault() -> None:
    """No key is shown, so statistics by them have no row."""
    found = preflight(private_plan(shown_from=5), {"rows": frame(1)})
    assert [(one.keys, one.never, one.usual) for one in found.keys] == [
        (4, 4, 0),
        (4, 0, 0),
    ]
    assert [one.name for one in found.statistics] == ["planes"]


def test_a_plan_without_private_keys_has_none() -> None:
    """There is nothing to be found."""
    from curator.test_preflight import ROWS, plan_of

    assert preflight(plan_of(), {"t": ROWS}).keys == ()
