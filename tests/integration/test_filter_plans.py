"""Filters read indexes or short rows, never the rows that hold the texts of notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Connection
from tests.filter_world import DAY, add_projects, add_row

from memoranda.db.postgres import PostgresDatabase
from memoranda.model.search import MetadataCondition, MetadataOperator, SearchFilters
from memoranda.repositories import driver, filters_postgres
from memoranda.repositories.filters import allowed
from memoranda.repositories.note_filters import FilteredNote
from memoranda.repositories.store import Tx

OPEN = MetadataCondition("status", MetadataOperator.EQ, ("open",))


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "filters",
    [
        SearchFilters(permalink="a"),
        SearchFilters(permalink_match="a*"),
        SearchFilters(path="a/"),
        SearchFilters(title="a"),
        SearchFilters(note_types=("person",)),
        SearchFilters(tags=("a",)),
        SearchFilters(after_date=datetime(2026, 1, 5, tzinfo=UTC)),
        SearchFilters(metadata=(OPEN,)),
        SearchFilters(path="a/", title="a", note_types=("b",), tags=("c",), metadata=(OPEN,)),
    ],
)
def test_a_filter_reads_no_row(index: Any, filters: SearchFilters) -> None:
    def plan(tx: Tx) -> list[str]:
        statements: list[tuple[str, Any]] = []

        def keep(_conn: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
            statements.append((statement, values))

        event.listen(tx.conn.engine, "before_cursor_execute", keep)
        try:
            allowed(tx.conn, tx.project_id, [filters])
        finally:
            event.remove(tx.conn.engine, "before_cursor_execute", keep)
        [(statement, values)] = statements
        steps = tx.conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
        return [step[3] for step in steps]

    steps = [
        step for step in index.store.read_now(plan) if " entity" in step or " observation" in step
    ]
    assert steps
    assert [step for step in steps if "COVERING INDEX" not in step] == []


@pytest.mark.parametrize(
    "filters",
    [
        SearchFilters(note_types=("person",)),
        SearchFilters(note_types=("person", "place")),
        SearchFilters(tags=("person",)),
        SearchFilters(path="person/x"),
        SearchFilters(path="*/person/*x*"),
        SearchFilters(metadata=(OPEN,)),
        SearchFilters(metadata=(MetadataCondition("person", MetadataOperator.GT, ("1",)),)),
        SearchFilters(metadata=(MetadataCondition("a.b", MetadataOperator.EQ, ("1",)),)),
        SearchFilters(metadata=(MetadataCondition("a", MetadataOperator.EXISTS, ("true",)),)),
    ],
)  # fmt: skip
def test_a_filter_on_postgresql_looks_up_what_it_can(
    postgres: PostgresDatabase,
    monkeypatch: pytest.MonkeyPatch,
    filters: SearchFilters,
) -> None:
    plans: list[str] = []

    def explained(conn: Connection, sql: str, *values: object) -> list[Any]:
        steps = driver.rows(conn, f"EXPLAIN {sql}", *values)
        plans.append("\n".join(step for (step,) in steps))
        assert "person" not in sql
        return driver.rows(conn, sql, *values)

    def work(conn: Connection) -> None:
        add_projects(conn)
        for number in range(1, 4):
            note = FilteredNote(number, f"{number}.md", f"{number}", "A", "note", (), {})
            add_row(conn, 1, note, (), DAY.replace(tzinfo=UTC), DAY)
        conn.exec_driver_sql("SET LOCAL enable_seqscan = off")
        conn.exec_driver_sql("DROP INDEX ix_note_filter_project")  # best for so few
        allowed(conn, 1, [filters])

    monkeypatch.setattr(filters_postgres, "rows", explained)
    postgres.write(work)
    [plan] = plans
    assert "ix_note_filter_terms" in plan
