"""A listener hears of a run and cannot spoil it."""

from __future__ import annotations

from typing import cast

import polars as pl
import pytest
from api.office import Office, RememberingListener

from dpql.api.listener import Ending, Fate, RunListener
from dpql.errors import RunFault, VerifyFault
from dpql.ledger import State


def test_who_watches_a_run_cannot_spoil_it(office: Office) -> None:
    """A terminal that is gone costs no epsilon; an interrupt still stops."""

    def raising(error: type[BaseException]) -> RunListener:
        def method(*_: object) -> None:
            raise error

        methods = ("reserved", "entered", "progressed", "ended")
        listens = type("Raising", (RunListener,), dict.fromkeys(methods, method))
        return cast("RunListener", listens())

    done = office.run(listener=raising(BrokenPipeError))
    assert done.fresh
    assert office.states() == [State.RELEASED]
    with pytest.raises(KeyboardInterrupt):
        office.run("two", again=True, listener=raising(KeyboardInterrupt))
    assert office.states() == [State.RELEASED, State.RESERVED]


def test_listener_hears_what_became_of_a_debit(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given back before the draw, spent after it, held back if the ledger fails."""
    heard = RememberingListener()
    with pytest.raises(RunFault):
        office.run(frames={"rows": "nowhere.parquet"}, listener=heard)
    assert heard.endings == [Ending(fate=Fate.GIVEN_BACK, entry=3)]

    def unable(*_: object, **__: object) -> None:
        raise VerifyFault.of("DPQL620", "no key")

    with monkeypatch.context() as patch:
        patch.setattr("dpql.api.execute.sign", unable)
        with pytest.raises(VerifyFault):
            office.run(listener=heard)
    assert heard.endings[1:] == [Ending(fate=Fate.SPENT, entry=6)]
    with monkeypatch.context() as patch:
        patch.setattr(type(office.ledger), "cancel", unable)
        with pytest.raises(RunFault):
            office.run(frames={"rows": pl.DataFrame({"x": [1]})}, listener=heard)
    assert heard.endings[2:] == [Ending(fate=Fate.HELD_BACK, entry=7)]
    office.run("last", again=True, listener=heard)
    assert len(heard.endings) == 3
