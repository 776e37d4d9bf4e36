"""Filters read indexes, never the rows, which hold the texts of notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event

from memoranda.model.search import MetadataCondition, MetadataOperator, SearchFilters
from memoranda.repositories.filters import allowed
from memoranda.repositories.store import Tx

OPEN = MetadataCondition("status", MetadataOperator.EQ, ("open",))


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
