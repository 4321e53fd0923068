"""Transactions on a server: what a session is, and what it leaves behind."""

from __future__ import annotations

import psycopg
import pytest
from postgres_tables import adbc

from dpql.curator.sources.postgres_session import (
    NotOurs,
    begun,
    is_connection,
    session_at,
    session_on,
)

_ISOLATION = "SELECT current_setting('transaction_isolation')"


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_session_reads_one_state_and_ends(
    autocommit: bool,  # noqa: FBT001  a parameter of the test
    postgres_server: str,
) -> None:
    """A connection is in no transaction of ours when its session is gone."""
    address = f"{postgres_server}postgres"
    with psycopg.connect(address, autocommit=autocommit) as connection:
        session = begun(session_on(connection))
        assert [("repeatable read",)] == session.ask(_ISOLATION)
        with pytest.raises(NotOurs):
            begun(session_on(connection))
        del session
        row = connection.execute(_ISOLATION).fetchone()  # type: ignore[arg-type]
        assert ("read committed",) == row


def test_the_longest_wait_is_the_owners(postgres_server: str) -> None:
    """A limit of the role or the address stays; else there is one of ours."""
    asked = "SELECT current_setting('statement_timeout')"
    address = f"{postgres_server}postgres"
    assert [("6h",)] == begun(session_at(address)).ask(asked)
    own = f"{address}?options=-c%20statement_timeout%3D5s"
    assert [("5s",)] == begun(session_at(own)).ask(asked)


def test_texts_are_handed_over_and_not_run(postgres_server: str) -> None:
    """Both drivers bind them."""
    address = f"{postgres_server}postgres"
    with psycopg.connect(address) as one, adbc(address) as other:
        for connection in (one, other):
            assert is_connection(connection)
            session = session_on(connection)
            assert [("'; --",)] == session.ask("SELECT $1::text", "'; --")
    assert not is_connection(address)
    assert not is_connection(psycopg)
