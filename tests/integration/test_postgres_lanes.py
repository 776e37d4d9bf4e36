"""A transaction on PostgreSQL whose connection ends."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.engine import Connection
from sqlalchemy.util import await_only

from memoranda.db.postgres import PostgresDatabase
from memoranda.errors import DatabaseAway

_OWN = "SELECT pg_backend_pid()"
_ONE = "SELECT 1"


def test_what_waits_for_a_connection_that_has_ended_is_given_up(postgres: PostgresDatabase) -> None:
    """As a bulk statement that was cut off: the driver waits for an answer that cannot come."""

    def end(number: int) -> None:
        postgres.read(lambda conn: conn.exec_driver_sql(f"SELECT pg_terminate_backend({number})"))

    def wait(conn: Connection) -> None:
        number = conn.exec_driver_sql(_OWN).scalar_one()
        with ThreadPoolExecutor(1) as other:  # a lane does one thing at a time
            other.submit(end, number).result()
        await_only(asyncio.sleep(50))

    began = time.monotonic()
    with pytest.raises(DatabaseAway):
        postgres.write(wait)
    assert time.monotonic() - began < 20
    assert postgres.write(lambda conn: conn.exec_driver_sql(_ONE).scalar()) == 1


def test_a_connection_that_ended_between_two_transactions_costs_one_call(
    postgres: PostgresDatabase,
) -> None:
    number = postgres.write(lambda conn: conn.exec_driver_sql(_OWN).scalar())
    postgres.read(lambda conn: conn.exec_driver_sql(f"SELECT pg_terminate_backend({number})"))
    with pytest.raises(DatabaseAway):
        postgres.write(lambda conn: conn.exec_driver_sql(_ONE).scalar())
    assert postgres.write(lambda conn: conn.exec_driver_sql(_ONE).scalar()) == 1
