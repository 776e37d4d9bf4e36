"""The table of words on PostgreSQL: short rows, of which none is read that has not the word."""

from __future__ import annotations

import pytest
from sqlalchemy.engine import Connection
from tests.contract.vector_bench import add_project
from tests.postgres_lane import PostgresLane

from memoranda.repositories.driver import rows
from memoranda.repositories.word_keys import keys_with
from memoranda.text.lexemes import TITLE, WRITTEN, any_of, vectors

ITEMS = 3_000
_SCANS = "SELECT pg_stat_get_xact_numscans('search_terms'::regclass)"


def _columns(key: int) -> list[tuple[str, str]]:
    words = " ".join(f"word{key % 50}n{n}" for n in range(60))
    return [(TITLE, f"title {key}"), (WRITTEN, f"common {words}")]


def _fill(conn: Connection) -> None:
    add_project(conn, 1)
    found = [(key, vector) for key in range(ITEMS) for vector in vectors(1, _columns(key))]
    conn.exec_driver_sql(
        "INSERT INTO search_terms (key, part, project_id, terms) VALUES ($1, 0, 1, CAST($2 AS tsvector))",
        found,
    )
    conn.exec_driver_sql("ANALYZE search_terms")


@pytest.mark.parametrize("most", [None, 10])
def test_a_word_of_every_item_is_found_by_the_index(lane: PostgresLane, most: int | None) -> None:
    with lane.writing() as conn:
        _fill(conn)
        before = rows(conn, _SCANS)
        for query in (any_of(1, ["common"]), any_of(1, ["title"], within=TITLE)):
            keys = keys_with(conn, query, most)
            assert keys.tolist() == list(range(ITEMS))[: most or ITEMS]
        assert rows(conn, _SCANS) == before


def test_tsvectors_lie_outside_of_their_rows(lane: PostgresLane) -> None:
    with lane.writing() as conn:
        _fill(conn)
        [(size, each)] = rows(
            conn,
            "SELECT pg_relation_size('search_terms'), (SELECT avg(pg_column_size(terms))::integer FROM search_terms)",
        )
    assert each > 500
    assert size / ITEMS < 150
